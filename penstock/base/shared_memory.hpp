// Memory that the processes of one node map into one another, without names in a file system.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "penstock/base/memory.hpp"

#pragma GCC visibility push(default)

namespace penstock {

/// How another process of this node finds a piece of shared memory; sent between ranks as bytes.
struct SharedMemoryTicket {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;  // in that process
  std::uint64_t inode = 0;       // tells a wrong file (other process namespace, reused number) from the right one
  std::uint64_t device = 0;
  std::uint64_t bytes = 0;
};

/// Memory of this process that others can map while the object lives; the mappings themselves may live longer.
class SharedMemory {
 public:
  /// Throws Error when the system refuses.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  const SharedMemoryTicket& ticket() const noexcept { return ticket_; }
  /// Gives the mapping away; the descriptor stays open until destruction.
  Memory take_memory() noexcept { return std::move(memory_); }

 private:
  int fd_ = -1;
  Memory memory_;
  SharedMemoryTicket ticket_;
};

/// Maps another process's shared memory. Throws Error when this process may not, or when the two are not on one node.
Memory map_shared_memory(const SharedMemoryTicket& ticket);

}  // namespace penstock

#pragma GCC visibility pop
