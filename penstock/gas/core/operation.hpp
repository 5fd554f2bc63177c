// What an event waits for. Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace penstock::gas {

/// Something that was begun and will be done.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool is_done() const noexcept = 0;
  /// Of what is done: throws Error where it has failed.
  virtual void check() const {}
  /// Of what is not done: throws Error where it is made of others and a team of theirs has been revoked.
  virtual void check_revoked() const {}
  /// With the engine's turn held: lets go of the memory that was named, which its owner takes back. Done at once, or,
  /// where a network has that memory, when the network is done with it.
  virtual void give_up() noexcept {}
};

/// That a buffer has been sent from.
class Sent final : public Operation {
 public:
  bool is_done() const noexcept override { return is_done_.load(std::memory_order_acquire); }
  void finish() noexcept { is_done_.store(true, std::memory_order_release); }

  /// For a buffer that is sent from again and again: it is not done until the next `finish`.
  void renew() noexcept { is_done_.store(false, std::memory_order_relaxed); }

  /// The buffer, where nobody else keeps it.
  std::vector<std::byte> parcel;

 private:
  std::atomic<bool> is_done_ = false;
};

}  // namespace penstock::gas
