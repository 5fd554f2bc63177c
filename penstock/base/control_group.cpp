#include "penstock/base/control_group.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace penstock {

namespace fs = std::filesystem;

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

}  // namespace penstock
