// Reads memory of this node's other ranks where it lies, also outside of segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace penstock::gas {

class Transport;

/// Reads through the system, which copies once; it may forbid that (another user, Yama's ptrace_scope, a container's
/// rules), which is found out beforehand.
class NodeMemory {
 public:
  /// Memory of this rank that one local peer may read. When this has gone, nothing of it is read any more: where the
  /// ranks are threads, a read that is under way is waited for, and later ones are refused; where they are processes,
  /// the system answers for what is no longer there.
  class Offer {
   public:
    Offer() = default;
    Offer(Offer&& other) noexcept { swap(other); }
    Offer& operator=(Offer&& other) noexcept {
      Offer(std::move(other)).swap(*this);
      return *this;
    }
    ~Offer();

    /// By which the peer reads it.
    std::uint64_t name() const noexcept { return name_; }

   private:
    friend class NodeMemory;
    Offer(std::uint64_t name, bool is_to_thread) noexcept : name_(name), is_to_thread_(is_to_thread) {}
    void swap(Offer& other) noexcept {
      std::swap(name_, other.name_);
      std::swap(is_to_thread_, other.is_to_thread_);
    }

    std::uint64_t name_ = 0;  // an address; to a thread, a number
    bool is_to_thread_ = false;
  };

  /// Of nobody.
  NodeMemory() = default;
  /// Collective.
  explicit NodeMemory(Transport& world);

  /// Whether `peer`, which is local, can read this rank's memory.
  bool is_read_by(int peer) const noexcept;
  /// Lets `peer`, which is local and reads this rank's memory, read from `data` on, which must stay as long as the
  /// offer.
  Offer offer(int peer, const std::byte* data) const;
  /// Reads from `offset` of what a local peer has offered to this rank. False where that is offered no more, or the
  /// system refuses, as where the peer has died.
  bool read(int peer, std::uint64_t name, std::size_t offset, std::span<std::byte> to) const noexcept;

 private:
  struct Process {
    std::int64_t number;
    bool is_mine;
  };

  std::vector<Process> processes_;           // by rank
  std::vector<unsigned char> reads_others_;  // by rank: whether it can read its local peers
};

}  // namespace penstock::gas
