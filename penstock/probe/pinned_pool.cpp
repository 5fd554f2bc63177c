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
std::vector<int> processors_of(const ProcessorSet& set) {
  std::vector<int> processors;
  for (int i = 0; i < ProcessorSet::max_processors; ++i) {
    if (set.contains(i)) {
      processors.push_back(i);
    }
  }
  std::stable_partition(processors.begin(), processors.end(), is_first_of_core);
  return processors;
}

}  // namespace

PinnedPool::PinnedPool(int threads) : pool_(threads) {
  const std::vector<int> processors = processors_of(before_);
  if (processors.empty()) {
    return;
  }
  pool_.run([&](int thread) {
    ProcessorSet{processors[static_cast<std::size_t>(thread) % processors.size()]}.bind_this_thread();
  });
}

}  // namespace penstock::probe
