// Page-aligned memory, in huge pages where the system has them, and how much memory is in use and available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace penstock {

/// The size of a huge page on the machines we know. Large allocations are aligned to it.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// The size of an ordinary page on the machines we know. Where pages differ, code that uses this is slower, not wrong.
inline constexpr std::int64_t small_page_bytes = 4096;

/// The size of a cache line on the machines we know.
inline constexpr std::int64_t cache_line_bytes = 64;

/// An owned range of reserved addresses of this process, without memory until the owner maps memory there. The
/// destructor unmaps the range and what is mapped there. Movable, not copyable.
class AddressRange {
 public:
  AddressRange() = default;
  /// Reserves whole pages for `bytes` bytes (at least 1), aligned to `huge_page_bytes` if `bytes` is at least that.
  /// Throws Error where the process has no addresses left.
  explicit AddressRange(std::size_t bytes);
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;

  std::byte* data() const noexcept { return pages_.data(); }
  std::span<std::byte> pages() const noexcept { return pages_; }
  /// Hands the range over to the caller, who has to unmap it once; this object is empty afterwards.
  std::span<std::byte> release() noexcept;

 private:
  std::span<std::byte> reserved_;
  std::span<std::byte> pages_;
};

/// An owned block of memory mapped from the system, aligned to `huge_page_bytes` if it is at least that large, else to
/// a page. Touched pages are huge as far as the system has huge ones, the others are small. Movable, not copyable;
/// unmapped on destruction.
class Memory {
 public:
  Memory() = default;
  /// Maps private memory of `bytes` bytes, zeroed, and touches every page, so that no later access faults. Throws Error
  /// when the system refuses the memory.
  explicit Memory(std::size_t bytes);
  /// Maps the first `bytes` bytes of `fd` as shared memory; the file descriptor stays the caller's. Touches the pages
  /// only if `is_mine`: the first touch decides on which NUMA node a page lies. Throws Error when the system refuses.
  Memory(int fd, std::size_t bytes, bool is_mine);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;

  std::byte* data() const noexcept { return addresses_.data(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  void map(int fd, std::size_t bytes, bool is_touched);

  AddressRange addresses_;
  std::size_t bytes_ = 0;
};

/// Touches whole pages that nothing has touched yet, so that the system gives them frames. The frames are huge as far
/// as the system has huge ones, where `memory` is aligned to `huge_page_bytes` and at least as long. Throws Error where
/// no memory is left.
void touch(std::span<std::byte> memory);

/// How many bytes of the Memory that begins at `data` this process maps through huge pages now; 0 where the system does
/// not say. Reads the list of all mappings of the process: not for hot paths.
std::size_t bytes_in_huge_pages(const std::byte* data);

/// Throws Error where the process's address space (`ulimit -v`) has no room for `bytes` more. To be called before a
/// library that ends the process when it gets no memory.
void require_address_space(std::size_t bytes);

/// The bytes that this host can still give out without swapping, by the system's estimate; huge where it gives none.
std::uint64_t host_memory_left();
/// The bytes that the limits of this process's control groups leave, page cache counted as free; huge without a limit.
std::uint64_t group_memory_left();
/// The smaller of `host_memory_left` and `group_memory_left`.
std::uint64_t available_memory_bytes();

/// The physical memory that this process has now; 0 where the system does not say.
std::int64_t resident_bytes();

/// The maximum of the physical memory that this process has had so far; 0 where the system does not say.
std::int64_t peak_resident_bytes();

}  // namespace penstock

#pragma GCC visibility pop
