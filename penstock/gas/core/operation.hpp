// The operation that an event waits for. Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/base/trace.hpp"

namespace penstock::gas {

/// What a timeline says of a wait for an operation.
struct Awaited {
  const char* name = "wait";
  trace::Category category = trace::Category::wait;
  int peer = -1;         ///< the rank of the world that is waited for, where one is known
  std::uint64_t id = 0;  ///< of a collective call, the same on all ranks
};

/// Something that was begun and will be done.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual bool is_done() const noexcept = 0;
  /// Of what is done: throws Error where it has failed.
  virtual void check() const {}
  /// Of what is not done: throws Error where it is made of others and a team of theirs has been revoked.
  virtual void check_revoked() const {}
  /// With the engine's progress lock held: lets go of the memory that was named, which its owner takes back. Done at
  /// once, or, where a network has that memory, when the network is done with it.
  virtual void abandon() noexcept {}
  /// Of what is not done.
  virtual Awaited awaited() const { return {}; }
};

/// Completion of a send or a put, made of one transfer or of several: its buffer may be reused.
class Completion final : public Operation {
 public:
  explicit Completion(std::size_t transfers = 1) noexcept : left_(transfers) {}

  bool is_done() const noexcept override { return left_.load(std::memory_order_acquire) == 0; }
  /// One transfer has ended. With the engine's progress lock held, so that no two threads write the count.
  void finish() noexcept { left_.store(left_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }

  /// For a buffer that is sent from again and again: it is not done until the next `finish`.
  void renew() noexcept { left_.store(1, std::memory_order_relaxed); }

  /// The buffer, where nobody else keeps it.
  std::vector<std::byte> parcel;

 private:
  std::atomic<std::size_t> left_;
};

}  // namespace penstock::gas
