// The Linux control groups that account for this process's memory and limit it. Not included by base.hpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#pragma GCC visibility push(default)

namespace penstock {

/// The folders of the control groups that account for this process's memory. A path is empty where there is no such
/// group; a folder that is named may be invisible, as in a container.
struct MemoryGroups {
  std::filesystem::path unified;  ///< of version 2
  std::filesystem::path memory;   ///< of version 1
};

MemoryGroups memory_groups();

/// A name of these groups: processes of one host that get the same name share them.
std::string memory_group_identity();

/// Limits this process's memory, the page cache of its files included, as long as the object lives. A benchmark of work
/// out of core needs this, so that no contender caches its files in the whole memory. The constructor moves the process
/// into a control group (version 2 or 1) of its own, the destructor moves it back. Memory that the process had before
/// is not counted. A process has one such object at a time.
class MemoryLimit {
 public:
  /// Imposes a limit of `bytes`. Where the system refuses such a group, there is no limit, and `why_not` says why.
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

#pragma GCC visibility pop
