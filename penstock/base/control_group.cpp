#include "penstock/base/control_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace penstock {

namespace fs = std::filesystem;

namespace {

/// 0, or the system's number of what went wrong: control groups answer a write with it.
int write_word(const fs::path& path, const std::string& word) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  const int code = write(file, word.data(), word.size()) < 0 ? errno : 0;
  close(file);
  return code;
}

}  // namespace

MemoryGroups memory_groups() {
  MemoryGroups groups;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    std::istringstream fields(line);
    std::string number;
    std::string controllers;
    std::string path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (controllers.empty() && fs::exists("/sys/fs/cgroup/cgroup.controllers")) {
      groups.unified = fs::path("/sys/fs/cgroup" + path);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      groups.memory = fs::path("/sys/fs/cgroup/memory" + path);
    }
  }
  return groups;
}

std::string memory_group_identity() {
  // Containers may see a group of the same name each, in name spaces of their own.
  std::error_code none;
  const MemoryGroups groups = memory_groups();
  return fs::read_symlink("/proc/self/ns/cgroup", none).string() + ' ' + groups.unified.string() + ' ' +
         groups.memory.string();
}

MemoryLimit::MemoryLimit(std::uint64_t bytes) {
  const auto [unified, memory] = memory_groups();
  if (!memory.empty()) {
    before_ = memory;
    impose(memory, "memory.limit_in_bytes", bytes);
  } else if (!unified.empty()) {
    before_ = unified;
    // A group with processes, but for the root, has no groups with limits below it: then one beside it.
    if (!impose(unified, "memory.max", bytes) && unified != fs::path("/sys/fs/cgroup/")) {
      impose(unified.parent_path(), "memory.max", bytes);
    }
  } else {
    why_not_ = "this system has no control groups for memory";
  }
}

bool MemoryLimit::impose(const fs::path& parent, const char* limit_file, std::uint64_t bytes) {
  const fs::path group = parent / fmt::format("penstock-{}", getpid());
  std::error_code error;
  if (!fs::create_directory(group, error)) {
    why_not_ = fmt::format("no control group below {}: {}", parent.string(),
                           error ? error.message() : "there is one of this name");
    return false;
  }
  if (!fs::exists(group / limit_file)) {
    write_word(parent / "cgroup.subtree_control", "+memory");
  }
  int code = write_word(group / limit_file, fmt::format("{}", bytes));
  if (code == 0) {
    code = write_word(group / "cgroup.procs", fmt::format("{}", getpid()));
  }
  if (code != 0) {
    why_not_ = fmt::format("no limit of the control group {}: {}", group.string(), std::strerror(code));
    fs::remove(group, error);
    return false;
  }
  group_ = group;
  return true;
}

MemoryLimit::~MemoryLimit() {
  if (is_imposed()) {
    write_word(before_ / "cgroup.procs", fmt::format("{}", getpid()));
    std::error_code ignored;
    fs::remove(group_, ignored);
  }
}

}  // namespace penstock
