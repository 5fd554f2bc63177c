#include "penstock/probe/pinned_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

namespace penstock::probe {
namespace {

/// Whether the processor is the first of the threads of its core.
bool is_first_of_core(int processor) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", processor));
  std::string siblings;
  file >> siblings;
  return siblings.empty() || std::atoi(siblings.c_str()) == processor;
}

/// The processors of the set, one of each core before the others.
std::vector<int> processors_of(const cpu_set_t& set) {
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) {
      processors.push_back(i);
    }
  }
  std::stable_partition(processors.begin(), processors.end(), is_first_of_core);
  return processors;
}

}  // namespace

PinnedPool::PinnedPool(int threads) : pool_(threads) {
  sched_getaffinity(0, sizeof before_, &before_);
  const std::vector<int> processors = processors_of(before_);
  if (processors.empty()) {
    return;
  }
  pool_.run([&](int thread) {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    CPU_SET(processors[static_cast<std::size_t>(thread) % processors.size()], &mine);
    sched_setaffinity(0, sizeof mine, &mine);  // where it is refused, the system places the thread
  });
}

}  // namespace penstock::probe
