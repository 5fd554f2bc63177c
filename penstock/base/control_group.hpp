// Where the system counts and limits this process's memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace penstock {

/// The folders of this process's control groups that count its memory: of version 2, and of version 1. Empty where
/// there is none; one that is named may be out of sight, as in a container.
struct MemoryGroups {
  std::filesystem::path unified;
  std::filesystem::path memory;
};

MemoryGroups memory_groups();

/// Names the groups: the same to all processes of a host that they count together.
std::string memory_group_identity();

/// A limit of this process's memory, the system's cache of its files included: what a benchmark of work out of core
/// needs, so that no contender has the whole memory for a cache. The process is in a control group (version 2 or 1) of
/// its own as long as this lives, and then back where it was. What it had before is not counted. One at a time.
class MemoryLimit {
 public:
  /// Where the system gives no such group, there is none, and `why_not` says why.
  explicit MemoryLimit(std::uint64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  bool is_imposed() const noexcept { return !group_.empty(); }
  const std::string& why_not() const noexcept { return why_not_; }

 private:
  bool impose(const std::filesystem::path& parent, const char* limit_file, std::uint64_t bytes);

  std::filesystem::path group_;
  std::filesystem::path before_;  // the group that the process came from
  std::string why_not_;
};

}  // namespace penstock
