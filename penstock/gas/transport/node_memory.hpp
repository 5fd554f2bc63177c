// The memory of this node's other ranks, read where it lies: any of it, not segments alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::gas {

class Transport;

/// Reads through the system, which copies once; it may forbid that (another user, Yama's ptrace_scope, a container's
/// rules), which is found out beforehand.
class NodeMemory {
 public:
  /// Of nobody.
  NodeMemory() = default;
  /// Collective.
  explicit NodeMemory(Transport& world);

  /// Whether `peer`, which is local, can read this rank's memory.
  bool is_read_by(int peer) const noexcept;
  /// Reads from `address` of a local peer that may be read. False where the system refuses, as where the peer has died.
  bool read(int peer, std::uint64_t address, std::span<std::byte> to) const noexcept;

 private:
  std::vector<std::int64_t> processes_;      // by rank
  std::vector<unsigned char> reads_others_;  // by rank: whether it can read its local peers
};

}  // namespace penstock::gas
