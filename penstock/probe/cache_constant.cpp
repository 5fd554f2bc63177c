// The constant A of the exascale paper's memory time, by hardware counters or by time.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/samples.hpp"
#include "penstock/transform/transform.hpp"

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace penstock::probe {
namespace {

constexpr std::int64_t log2_length = 22;
constexpr std::int64_t length = std::int64_t{1} << log2_length;
constexpr double word_bytes = 16;

/// Counts the misses of the last cache by this thread, where the system lets it.
class MissCounter {
 public:
  MissCounter() {
#if defined(__linux__)
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_CACHE_MISSES;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    descriptor_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
#endif
  }
  ~MissCounter() {
#if defined(__linux__)
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
#endif
  }
  MissCounter(const MissCounter&) = delete;
  MissCounter& operator=(const MissCounter&) = delete;

  bool exists() const noexcept {
    return descriptor_ >= 0;
  }
  std::uint64_t count() const noexcept {
    std::uint64_t misses = 0;
#if defined(__linux__)
    if (read(descriptor_, &misses, sizeof misses) != static_cast<ssize_t>(sizeof misses)) {
      return 0;
    }
#endif
    return misses;
  }

 private:
  int descriptor_ = -1;
};

/// A transform in place of `n` complex numbers that follow one another.
class OnePencil {
 public:
  explicit OnePencil(std::int64_t n)
      : transform_({.length = n,
                    .source = transform::Spacing::contiguous,
                    .destination = transform::Spacing::contiguous,
                    .pencils = 1}),
        memory_(static_cast<std::size_t>(n * number_bytes)),
        scratch_(transform_.scratch_bytes()) {
    for (std::int64_t k = 0; k < n; ++k) {
      offsets_.push_back(k * number_bytes);
    }
  }

  double run_s(std::int64_t times) const {
    const double begin_s = seconds();
    for (std::int64_t i = 0; i < times; ++i) {
      transform_.run({memory_.data(), offsets_.data(), 0}, {memory_.data(), offsets_.data(), 0}, 1,
                     {scratch_.data(), scratch_.size()});
    }
    return seconds() - begin_s;
  }

 private:
  static constexpr std::int64_t number_bytes = 16;
  transform::Transform<double> transform_;
  Memory memory_;  // zeros: what is transformed does not change how long that takes
  Memory scratch_;
  std::vector<std::int64_t> offsets_;
};

}  // namespace

CacheConstant measure_cache_constant(const machine::Node& node, const CalibrationOptions& options) {
  const double cache_words = static_cast<double>(node.cache_bytes) / word_bytes;
  // n max(log_Z n, 1) words: what eq. 2 multiplies by A.
  const double min_words = static_cast<double>(length) * std::max(log2_length / std::log2(cache_words), 1.0);
  const OnePencil transform(length);
  const MissCounter counter;
  transform.run_s(1);
  if (counter.exists()) {
    std::vector<double> constants;
    for (int i = 0; i < options.samples; ++i) {
      const std::uint64_t before = counter.count();
      transform.run_s(1);
      const auto misses = static_cast<double>(counter.count() - before);
      constants.push_back(misses * static_cast<double>(node.line_bytes) / word_bytes / min_words);
    }
    if (const Figure figure = time_of(constants); figure.best > 0) {
      return {.value = figure, .way = "misses of the last cache, counted by the processor"};
    }
  }
  // A transform that stays in the second-level cache tells what the arithmetic takes.
  constexpr std::int64_t small_log2 = 12;
  const OnePencil in_cache(std::int64_t{1} << small_log2);
  const Figure small = time_of(sample(options, [&](std::int64_t times) { return in_cache.run_s(times); }));
  const double arithmetic_s =
      small.best * static_cast<double>(log2_length << log2_length) / static_cast<double>(small_log2 << small_log2);
  std::vector<double> constants;
  for (const double time_s : sample(options, [&](std::int64_t times) { return transform.run_s(times); })) {
    const double memory_s = std::max(time_s - arithmetic_s, 0.0);
    constants.push_back(memory_s * node.memory_bandwidth_bytes_per_s / word_bytes / min_words);
  }
  return {.value = time_of(std::move(constants)),
          .way = "time beyond the arithmetic in cache, by the bandwidth of one core's copies; no counters here"};
}

}  // namespace penstock::probe
