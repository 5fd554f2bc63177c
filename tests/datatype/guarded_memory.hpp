// Memory between pages that may not be touched, so that a byte read or written outside of it ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>

namespace penstock::datatype {

/// Pages with a forbidden page before and one after. Neither copyable nor movable.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t pages) : bytes_((pages + 2) * page_bytes) {
    void* mapped = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      throw std::runtime_error("no memory for the test");
    }
    mapped_ = static_cast<std::byte*>(mapped);
    if (mprotect(begin(), pages * page_bytes, PROT_READ | PROT_WRITE) != 0) {
      throw std::runtime_error("memory cannot be protected");
    }
  }
  ~GuardedMemory() { munmap(mapped_, bytes_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* begin() const { return mapped_ + page_bytes; }
  std::byte* end() const { return mapped_ + bytes_ - page_bytes; }

 private:
  const std::size_t page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t bytes_;
  std::byte* mapped_ = nullptr;
};

}  // namespace penstock::datatype
