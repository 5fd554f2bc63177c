// Bandwidths by copies and triads: of memory by threads, of each level of cache by one core.
#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"

namespace penstock::probe {
namespace {

/// a = b + s c over `count` numbers, whole lines each.
void triad(double* a, const double* b, const double* c, double s, std::int64_t count) noexcept {
#if defined(__SSE2__)
  const __m128d factor = _mm_set1_pd(s);
  for (std::int64_t i = 0; i < count; i += 2) {
    _mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(factor, _mm_load_pd(c + i))));
  }
#else
  for (std::int64_t i = 0; i < count; ++i) {
    a[i] = b[i] + s * c[i];
  }
#endif
}

}  // namespace

std::vector<StreamRates> measure_streams(std::int64_t cache_bytes, const CalibrationOptions& options) {
  const std::int64_t bytes = std::max<std::int64_t>(2 * cache_bytes, std::int64_t{32} << 20) / 4096 * 4096;
  const Memory memory(static_cast<std::size_t>(3 * bytes));
  std::byte* const a = memory.data();
  std::byte* const b = a + bytes;
  std::byte* const c = b + bytes;
  std::vector<StreamRates> figures;
  for (const int threads : thread_counts(options.threads)) {
    PinnedPool pool(threads);
    const std::int64_t part = bytes / threads / cache_line_bytes * cache_line_bytes;
    const auto contiguous = layout::Layout::contiguous(part);
    const auto copy = mover::Mover::compile(contiguous, contiguous, mover::Hint::streaming);
    const auto copies_s = sample(options, pool, [&](int thread, std::int64_t times) {
      for (std::int64_t i = 0; i < times; ++i) {
        copy(b + thread * part, a + thread * part);
      }
      mover::finish_streaming();
    });
    const auto triads_s = sample(options, pool, [&](int thread, std::int64_t times) {
      const std::int64_t first = thread * part;
      for (std::int64_t i = 0; i < times; ++i) {
        triad(reinterpret_cast<double*>(a + first), reinterpret_cast<const double*>(b + first),
              reinterpret_cast<const double*>(c + first), 3, part / static_cast<std::int64_t>(sizeof(double)));
      }
      mover::finish_streaming();
    });
    const auto all = static_cast<double>(part * threads);
    figures.push_back({.threads = threads,
                       .copy_bytes_per_s = rate_of(2 * all, copies_s),
                       .triad_bytes_per_s = rate_of(3 * all, triads_s)});
  }
  return figures;
}

std::vector<Figure> measure_caches(const std::vector<machine::CacheLevel>& levels, const CalibrationOptions& options) {
  std::vector<Figure> figures;
  for (const machine::CacheLevel& level : levels) {
    // Source and destination together take half of it.
    const std::int64_t bytes =
        std::max(level.capacity_bytes / 4 / cache_line_bytes, std::int64_t{1}) * cache_line_bytes;
    const Memory memory(static_cast<std::size_t>(2 * bytes));
    const auto contiguous = layout::Layout::contiguous(bytes);
    const auto copy = mover::Mover::compile(contiguous, contiguous, mover::Hint::reuse, mover::Code::at_once);
    figures.push_back(rate_of(2 * static_cast<double>(bytes), sample(options, [&](std::int64_t times) {
                                const double begin_s = seconds();
                                for (std::int64_t i = 0; i < times; ++i) {
                                  copy(memory.data(), memory.data() + bytes);
                                }
                                return seconds() - begin_s;
                              })));
  }
  return figures;
}

}  // namespace penstock::probe
