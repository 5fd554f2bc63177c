// Page-aligned memory that asks the system for huge pages, and how much memory there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

/// The size of a huge page on the machines we know; what large allocations are aligned to.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// The size of an ordinary page on the machines we know. Where the size differs, what uses this is slower, not wrong.
inline constexpr std::int64_t small_page_bytes = 4096;

/// The size of a cache line on the machines we know.
inline constexpr std::int64_t cache_line_bytes = 64;

/// An owned range of this process's addresses, with no memory behind it until something is mapped over it. Destruction
/// unmaps what lies there. Movable, not copyable.
class AddressRange {
 public:
  AddressRange() = default;
  /// Whole pages for `bytes` bytes, at least one; aligned to `huge_page_bytes` where they are at least as long. Throws
  /// Error where the process has none.
  explicit AddressRange(std::size_t bytes);
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;

  std::byte* data() const noexcept { return pages_.data(); }
  std::span<std::byte> pages() const noexcept { return pages_; }
  /// Gives up the pages, which the caller has to unmap, once; this range is empty afterwards.
  std::span<std::byte> release() noexcept;

 private:
  std::span<std::byte> reserved_;
  std::span<std::byte> pages_;
};

/// An owned block of memory mapped from the system, zeroed, aligned to `huge_page_bytes` when it is at least that large
/// and to a page otherwise. What is touched lies in huge pages as far as the system gives them, the rest in small ones.
/// Movable, not copyable; unmapped on destruction.
class Memory {
 public:
  Memory() = default;
  /// Private memory of `bytes` bytes, every page touched, so that no later access faults. Throws Error when refused.
  explicit Memory(std::size_t bytes);
  /// Memory shared through the file descriptor `fd`, of which `bytes` bytes exist; the descriptor stays the caller's.
  /// Pages are touched only where `is_mine` says so: the owner's touch decides where a page lies.
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

/// Gives whole pages that nothing has touched yet their frames, huge ones as far as the system has them and where the
/// memory is large enough and begins as Memory does. Throws Error where there is no memory.
void touch(std::span<std::byte> memory);

/// How many bytes of the Memory that begins at `data` this process reaches through huge pages at present; 0 where the
/// system does not tell. Reads the list of all mappings of the process: not for hot paths.
std::size_t bytes_in_huge_pages(const std::byte* data);

/// Throws Error where the process's address space (`ulimit -v`) has no room for `bytes` more. For libraries that end
/// the process where they get no memory.
void require_address_space(std::size_t bytes);

/// Bytes that this host can still give out without swapping, as the system estimates it.
std::uint64_t host_memory_left();
/// Bytes that the limits of this process's control groups leave; huge where there is none.
std::uint64_t group_memory_left();
/// The lesser of the two.
std::uint64_t available_memory_bytes();

/// The memory that this process has in frames; 0 where the system does not say.
std::int64_t resident_bytes();

/// The most memory that the process has had; 0 where the system does not say.
std::int64_t peak_resident_bytes();

}  // namespace penstock
