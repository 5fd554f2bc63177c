// Files of a fuzzer's bytes.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/target.hpp"

namespace penstock {

/// A file without a name in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(memfd_create("fuzzed", MFD_CLOEXEC)) {
    require(write(descriptor_, content.data(), content.size()) == std::ssize(content), "the memory file is whole");
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Zeros follow the content, which take no memory.
  void extend() const { require(ftruncate(descriptor_, large_bytes) == 0, "the memory file grows"); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  static constexpr std::int64_t large_bytes = std::int64_t{1} << 42;
  int descriptor_;
};

}  // namespace penstock
