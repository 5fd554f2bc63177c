// A limit of this process's memory, the system's cache of its files included: what a benchmark of work out of core
// needs, so that no contender has the whole memory for a cache.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace penstock::cli {

/// The process is in a control group (version 2 or 1) of its own as long as this lives, and then back where it was.
/// What it had before is not counted. One at a time.
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

}  // namespace penstock::cli
