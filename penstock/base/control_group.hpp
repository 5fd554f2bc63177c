// Where the system counts and limits this process's memory.
#pragma once

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

}  // namespace penstock
