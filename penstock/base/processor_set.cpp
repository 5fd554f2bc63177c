#include "penstock/base/processor_set.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <thread>

namespace penstock {
namespace {

/// The system's type of a set is an array of words as well, of which callers say how many there are.
cpu_set_t* as_system_set(unsigned long* words) {
  return reinterpret_cast<cpu_set_t*>(words);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

}  // namespace

ProcessorSet::ProcessorSet(std::initializer_list<int> processors) noexcept {
  for (const int processor : processors) {
    words_[static_cast<std::size_t>(processor / word_bits)] |= Word{1} << (processor % word_bits);
  }
}

ProcessorSet ProcessorSet::of_this_thread() noexcept {
  ProcessorSet set;
  if (sched_getaffinity(0, sizeof set.words_, as_system_set(set.words_.data())) != 0) {
    return {};
  }
  return set;
}

ProcessorSet ProcessorSet::all() noexcept {
  ProcessorSet set;
  set.words_.fill(~Word{0});
  return set;
}

void ProcessorSet::bind_this_thread() const noexcept {
  ProcessorSet copy = *this;
  sched_setaffinity(0, sizeof copy.words_, as_system_set(copy.words_.data()));
}

int ProcessorSet::count() const noexcept {
  int sum = 0;
  for (const Word word : words_) {
    sum += std::popcount(word);
  }
  return sum;
}

bool ProcessorSet::contains(int processor) const noexcept {
  return (words_[static_cast<std::size_t>(processor / word_bits)] >> (processor % word_bits) & 1) != 0;
}

void ProcessorSet::add(const ProcessorSet& others) noexcept {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    words_[i] |= others.words_[i];
  }
}

int usable_processors() noexcept {
  const int count = ProcessorSet::of_this_thread().count();
  return count > 0 ? count : std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace penstock
