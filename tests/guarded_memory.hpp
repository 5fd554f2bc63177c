// Memory between pages that may not be touched, so that a byte read or written outside of it ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace penstock {

/// Pages with a forbidden page before and one after, in which buffers are placed one at a time. Neither copyable nor
/// movable.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t pages) : mapped_bytes_((pages + 2) * page_bytes_) {
    void* mapped = mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      throw std::runtime_error("no memory for the test");
    }
    mapped_ = static_cast<std::byte*>(mapped);
    if (mprotect(begin(), pages * page_bytes_, PROT_READ | PROT_WRITE) != 0) {
      throw std::runtime_error("memory cannot be protected");
    }
  }
  ~GuardedMemory() { munmap(mapped_, mapped_bytes_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// The most bytes that a buffer may have.
  std::int64_t size() const { return end() - begin(); }

  /// Places a buffer whose bytes are `lowest` to `highest` (exclusive) relative to its address: the last just before
  /// the forbidden page at the end, or the first just after the one at the start.
  void place(std::int64_t lowest, std::int64_t highest, bool is_at_end) {
    const std::int64_t slack = std::min<std::int64_t>(200, size() - (highest - lowest));
    address_ = is_at_end ? end() - highest : begin() - lowest;
    window_ = is_at_end ? std::span(address_ + lowest - slack, end()) : std::span(begin(), address_ + highest + slack);
  }
  /// The address of the buffer.
  std::byte* address() const { return address_; }
  /// The buffer's bytes with some before or after it, up to the forbidden page.
  std::span<std::byte> window() const { return window_; }
  /// Fills the window with known bytes that differ from one to the next.
  void poison() const {
    for (unsigned i = 0; std::byte & byte : window_) {
      byte = static_cast<std::byte>(0xa0 + i++ % 29);
    }
  }

 private:
  std::byte* begin() const { return mapped_ + page_bytes_; }
  std::byte* end() const { return mapped_ + mapped_bytes_ - page_bytes_; }

  const std::size_t page_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::size_t mapped_bytes_;
  std::byte* mapped_ = nullptr;
  std::byte* address_ = nullptr;
  std::span<std::byte> window_;
};

}  // namespace penstock
