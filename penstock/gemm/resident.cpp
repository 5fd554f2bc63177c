// Linux tells of a process's memory in /proc/self/status.
#include "penstock/gemm/resident.hpp"

#include <fstream>
#include <string>

namespace penstock::gemm {
namespace {

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

}  // namespace

std::int64_t resident_bytes() {
  return status_bytes("VmRSS:");
}

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace penstock::gemm
