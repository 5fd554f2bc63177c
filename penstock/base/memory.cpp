#include "penstock/base/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/control_group.hpp"
#include "penstock/base/error.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/base/units.hpp"

namespace penstock {
namespace {

/// Gives every page of the range a frame now; a machine without memory then answers with an error and not a signal.
void touch_pages(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (madvise(data, bytes, MADV_POPULATE_WRITE) == 0) {
    return;
  }
  if (errno != EINVAL) {  // EINVAL: a kernel older than 5.14, where the loop below serves
    throw_system_error(fmt::format("cannot get {} of memory", format_bytes(bytes)), errno);
  }
#endif
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < bytes; i += page) {
    static_cast<volatile std::byte*>(data)[i] = std::byte{0};
  }
}

/// What Linux tells of this process under a key of /proc/self/status; 0 where it does not.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::int64_t kibibytes = 0;
    if (word == key && status >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return 0;
}

#ifdef MADV_COLLAPSE
constexpr int collapse_advice = MADV_COLLAPSE;
#else
constexpr int collapse_advice = 25;  // Linux's number for it, which glibc 2.36 does not know
#endif

/// Asks for huge frames under the whole huge pages of the range, which nothing has touched yet. Best effort: where the
/// system has none, or does not know the call (Linux before 6.1), the range gets small pages when it is touched.
///
/// Faults give huge frames to shared memory only where /sys/kernel/mm/transparent_hugepage/shmem_enabled says so, and
/// it mostly says never; a collapse asks for them by itself. It wants one page of each to be there, and zeroes the
/// rest.
void collapse_pages(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const std::size_t huge_pages = bytes / huge_page_bytes;
  for (std::size_t i = 0; i < huge_pages; ++i) {
    if (madvise(data + i * huge_page_bytes, 1, MADV_POPULATE_WRITE) != 0) {
      return;  // what is wrong is told when all is touched
    }
  }
  if (huge_pages > 0) {
    madvise(data, huge_pages * huge_page_bytes, collapse_advice);
  }
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) {
    return value;
  }
  return std::nullopt;
}

/// The part of a control group's memory that caches files, which gives way to what else wants memory.
std::uint64_t cached_bytes(const std::filesystem::path& group) {
  std::uint64_t own = 0;
  std::uint64_t total = 0;  // with the groups below, as version 1 tells besides
  std::ifstream file(group / "memory.stat");
  std::string key;
  for (std::uint64_t value = 0; file >> key >> value;) {
    if (key == "inactive_file" || key == "active_file") {
      own += value;
    } else if (key == "total_inactive_file" || key == "total_active_file") {
      total += value;
    }
  }
  return std::max(own, total);
}

/// What the control group `own` and those above it have left; an unlimited one holds no number or a huge one.
std::uint64_t left_in_groups(const std::filesystem::path& own, const char* limit_file, const char* use_file) {
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
  for (std::filesystem::path group = own; group.string().starts_with("/sys/fs/cgroup"); group = group.parent_path()) {
    const auto limit = read_number(group / limit_file);
    const auto use = read_number(group / use_file);
    if (limit && use) {
      const std::uint64_t kept = *use - std::min(*use, cached_bytes(group));
      left = std::min(left, *limit - std::min(*limit, kept));
    }
  }
  return left;
}

void unmap(std::span<std::byte> pages) noexcept {
  if (!pages.empty()) {
    munmap(pages.data(), pages.size());
  }
}

}  // namespace

void touch(std::span<std::byte> memory) {
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % huge_page_bytes == 0) {
    collapse_pages(memory.data(), memory.size());
  }
  touch_pages(memory.data(), memory.size());
}

AddressRange::AddressRange(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - 2 * huge_page_bytes) {
    throw Error(fmt::format("cannot map {} bytes: more than an address space", bytes));
  }
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t pages_bytes = round_up(bytes, page);
  // Where pages are not enough, more than is needed, for the aligned address inside.
  const bool is_huge = bytes >= huge_page_bytes;
  const std::size_t reserved_bytes = pages_bytes + (is_huge ? huge_page_bytes : 0);
  void* const reserved = mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    throw_system_error(fmt::format("cannot map {} of memory", format_bytes(bytes)), errno);
  }
  reserved_ = {static_cast<std::byte*>(reserved), reserved_bytes};
  const auto address = reinterpret_cast<std::size_t>(reserved);
  pages_ = reserved_.subspan(is_huge ? round_up(address, huge_page_bytes) - address : 0, pages_bytes);
}

AddressRange::~AddressRange() {
  unmap(reserved_);
}

std::span<std::byte> AddressRange::release() noexcept {
  const auto before = static_cast<std::size_t>(pages_.data() - reserved_.data());
  unmap(reserved_.first(before));
  unmap(reserved_.subspan(before + pages_.size()));
  reserved_ = {};
  return std::exchange(pages_, {});
}

AddressRange::AddressRange(AddressRange&& other) noexcept
    : reserved_(std::exchange(other.reserved_, {})), pages_(std::exchange(other.pages_, {})) {}

AddressRange& AddressRange::operator=(AddressRange&& other) noexcept {
  std::swap(reserved_, other.reserved_);
  std::swap(pages_, other.pages_);
  return *this;
}

Memory::Memory(std::size_t bytes) {
  map(-1, bytes, true);
}

Memory::Memory(int fd, std::size_t bytes, bool is_mine) {
  map(fd, bytes, is_mine);
}

void Memory::map(int fd, std::size_t bytes, bool is_touched) {
  if (bytes == 0) {
    return;
  }
  AddressRange addresses(bytes);
  const std::span<std::byte> pages = addresses.pages();
  const int flags = MAP_FIXED | (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
  if (mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED) {
    throw_system_error(fmt::format("cannot map {} of memory", format_bytes(bytes)), errno);
  }
  if (bytes >= huge_page_bytes) {
    madvise(pages.data(), pages.size(), MADV_HUGEPAGE);  // advice: without it it works as well, on small pages
  }
  if (is_touched) {
    touch(pages);
  }
  addresses_ = std::move(addresses);
  bytes_ = bytes;
}

Memory::~Memory() = default;

Memory::Memory(Memory&& other) noexcept
    : addresses_(std::move(other.addresses_)), bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(addresses_, other.addresses_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::size_t bytes_in_huge_pages(const std::byte* data) {
  // Behind a block of Memory that may lie in huge pages are reserved addresses, and it alone is advised to, so that the
  // system does not join it with others: it has a paragraph of its own, which begins with its address.
  std::ifstream maps("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(data));
  std::string line;
  while (std::getline(maps, line) && !line.starts_with(begin)) {
  }
  std::size_t huge_bytes = 0;
  for (std::string key, unit; maps >> key && key != "VmFlags:";) {  // with which the paragraph ends
    std::size_t kib = 0;
    maps >> kib;
    std::getline(maps, unit);
    if (key == "AnonHugePages:" || key == "ShmemPmdMapped:") {
      huge_bytes += kib * 1024;
    }
  }
  return huge_bytes;
}

void require_address_space(std::size_t bytes) {
  void* const probe = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    throw Error(fmt::format("the address space of a process, which ulimit -v limits, has no room for {} more",
                            format_bytes(bytes)));
  }
  munmap(probe, bytes);
}

std::int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

std::uint64_t host_memory_left() {
  std::ifstream info("/proc/meminfo");
  for (std::string key, unit; info >> key;) {
    std::uint64_t kib = 0;
    info >> kib;
    std::getline(info, unit);
    if (key == "MemAvailable:") {
      return kib * 1024;
    }
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t group_memory_left() {
  const MemoryGroups groups = memory_groups();
  return std::min(left_in_groups(groups.unified, "memory.max", "memory.current"),
                  left_in_groups(groups.memory, "memory.limit_in_bytes", "memory.usage_in_bytes"));
}

std::uint64_t available_memory_bytes() {
  return std::min(host_memory_left(), group_memory_left());
}

}  // namespace penstock
