// Linux tells of a process's memory in /proc/self/status.
#include "penstock/gemm/resident.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "penstock/gemm/blas.hpp"

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

std::int64_t process_bytes(int threads) {
  // Stacks, and the parcels of a window.
  constexpr std::int64_t besides = std::int64_t{1} << 20;
  // In coarse steps, so that a command finds the same whenever it runs: tilings follow from it, and roundings from
  // these.
  constexpr std::int64_t step = std::int64_t{8} << 20;
  const std::int64_t steps = std::max<std::int64_t>((status_bytes("VmRSS:") + step - 1) / step, 2);
  return steps * step + besides + (threads + 1) * blas_bytes_per_thread;
}

std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace penstock::gemm
