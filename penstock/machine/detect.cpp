#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/machine.hpp"

namespace penstock::machine {
namespace {

/// The first word of a file of the system's, empty where there is none.
std::string read_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// The cores of the node, each counted once however many threads it runs. Not the affinity of this process: under
/// mpirun that is one rank's share.
std::int64_t count_cores() {
  const std::int64_t threads = sysconf(_SC_NPROCESSORS_ONLN);
  std::set<std::string> cores;
  for (std::int64_t i = 0; i < threads; ++i) {
    const std::string siblings =
        read_word(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", i));
    cores.insert(siblings.empty() ? fmt::format("{}", i) : siblings);
  }
  return std::max<std::int64_t>(std::ssize(cores), 1);
}

/// What the kernel tells of a cache of the first core. Preferred to sysconf, which under a hypervisor has answered with
/// the third level of the whole host (384 MiB where 32 were ours).
struct KernelCache {
  std::int64_t level = 0;
  std::int64_t capacity_bytes = 0;
  std::int64_t line_bytes = 0;
};

/// Those that hold data, from the nearest.
std::vector<KernelCache> caches_from_kernel() {
  std::vector<KernelCache> caches;
  for (int i = 0;; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string type = read_word(folder + "type");
    if (type.empty()) {
      break;
    }
    if (type != "Instruction") {
      caches.push_back({.level = std::atoll(read_word(folder + "level").c_str()),
                        .capacity_bytes = std::atoll(read_word(folder + "size").c_str()) * 1024,  // as "32768K"
                        .line_bytes = std::atoll(read_word(folder + "coherency_line_size").c_str())});
    }
  }
  std::ranges::stable_sort(caches, {}, &KernelCache::level);
  return caches;
}

/// The first of the two that the system knows, or else the figure assumed.
std::int64_t first_known(std::int64_t from_kernel, int sysconf_name, std::int64_t assumed) {
  if (from_kernel > 0) {
    return from_kernel;
  }
  const std::int64_t from_library = sysconf(sysconf_name);
  return from_library > 0 ? from_library : assumed;
}

}  // namespace

std::vector<CacheLevel> detect_caches() {
  std::vector<CacheLevel> levels;
  for (const KernelCache& cache : caches_from_kernel()) {
    if (cache.capacity_bytes > 0) {
      levels.push_back({.level = cache.level, .capacity_bytes = cache.capacity_bytes});
    }
  }
  return levels;
}

Machine detect() {
  Machine machine = built_in();
  machine.name = "this machine, its rates assumed";
  Node& node = machine.node;
  const std::int64_t cores = count_cores();
  node.peak_flops = node.peak_flops / static_cast<double>(node.cores) * static_cast<double>(cores);
  node.cores = cores;
  const std::vector<KernelCache> caches = caches_from_kernel();
  const auto second = std::ranges::find(caches, 2, &KernelCache::level);
  const KernelCache last = caches.empty() ? KernelCache{} : caches.back();
  const std::int64_t second_bytes = second == caches.end() ? 0 : second->capacity_bytes;
  // Where the kernel says nothing, as under many hypervisors, the C library may add up the caches of a whole package
  // (AMD: CPUID 8000'0006h), of which a core has one.
  node.cache_bytes = last.capacity_bytes > 0
                         ? last.capacity_bytes
                         : std::min(first_known(0, _SC_LEVEL3_CACHE_SIZE, node.cache_bytes), node.cache_bytes);
  node.cache_l2_bytes = first_known(second_bytes, _SC_LEVEL2_CACHE_SIZE, node.cache_l2_bytes);
  node.line_bytes = first_known(last.line_bytes, _SC_LEVEL1_DCACHE_LINESIZE, node.line_bytes);
  return machine;
}

}  // namespace penstock::machine
