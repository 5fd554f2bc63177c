// The rate of 1-D transforms in cache.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/probe/probe.hpp"
#include "penstock/shape/shape.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::probe {
namespace {

// Per thread, input and output together: within the second-level cache of the processors of the last decade.
constexpr std::int64_t tile_bytes = std::int64_t{128} << 10;

/// A tile of adjacent pencils of one length, planned, with memory for each thread.
template <class Real>
class TileInCache {
 public:
  TileInCache(std::int64_t length, int threads)
      : length_(length),
        pencils_(std::clamp<std::int64_t>(tile_bytes / (2 * length * number_bytes), 1, max_pencils)),
        transform_({.length = length, .pencils = pencils_}),
        tile_(round_up(static_cast<std::size_t>(length * pencils_ * number_bytes), 64)),
        memory_((2 * tile_ + round_up(transform_.scratch_bytes(), 64)) * static_cast<std::size_t>(threads)) {
    for (std::int64_t k = 0; k < length; ++k) {
      offsets_.push_back(k * pencils_ * number_bytes);
    }
  }

  void run(int thread, std::int64_t times) const {
    std::byte* const in =
        memory_.data() + (2 * tile_ + round_up(transform_.scratch_bytes(), 64)) * static_cast<std::size_t>(thread);
    std::byte* const out = in + tile_;
    for (std::int64_t i = 0; i < times; ++i) {
      transform_.run({in, offsets_.data(), number_bytes}, {out, offsets_.data(), number_bytes}, pencils_,
                     {out + tile_, transform_.scratch_bytes()});
    }
  }
  /// The operations of one run of one thread.
  double flops() const {
    const auto n = static_cast<double>(length_);
    return 5 * n * std::log2(n) * static_cast<double>(pencils_);
  }

 private:
  static constexpr std::int64_t number_bytes = 2 * sizeof(Real);
  static constexpr std::int64_t max_pencils = shape::tile_chunk_bytes / number_bytes;

  std::int64_t length_;
  std::int64_t pencils_;
  transform::Transform<Real> transform_;
  std::size_t tile_;
  Memory memory_;  // zeros: what is transformed does not change how long that takes
  std::vector<std::int64_t> offsets_;
};

/// Collective: operations per second of all threads together, the best of a few windows of some milliseconds.
template <class Real>
double rate_together(const gas::Team& team, ThreadPool& pool, const TileInCache<Real>& tile) {
  constexpr int windows = 5;
  constexpr double window_s = 4e-3;
  const auto time = [&](std::int64_t times) {
    return gas::time_together(team, pool, [&](int thread) { tile.run(thread, times); });
  };
  std::int64_t times = 1;
  double time_s = time(times);
  while (time_s < window_s && times < (std::int64_t{1} << 30)) {
    const double wanted = window_s / std::max(time_s, 1e-9) * 1.2 * static_cast<double>(times);
    times = std::max(2 * times, static_cast<std::int64_t>(std::min(wanted, 64 * static_cast<double>(times))));
    time_s = time(times);
  }
  for (int i = 1; i < windows; ++i) {
    time_s = std::min(time_s, time(times));
  }
  return tile.flops() * static_cast<double>(times) * pool.size() * team.size() / time_s;
}

}  // namespace

template <class Real>
double fft_rate(const gas::Team& team, int threads, const std::array<std::int64_t, 3>& lengths) {
  std::vector<std::unique_ptr<TileInCache<Real>>> all;
  std::vector<double> weights;  // log2 n: each direction's share of 5 N log2 N
  std::unique_ptr<ThreadPool> pool;
  team.together([&] {
    pool = std::make_unique<ThreadPool>(threads);
    for (const std::int64_t length : lengths) {
      if (length > 1) {
        all.push_back(std::make_unique<TileInCache<Real>>(length, threads));
        weights.push_back(std::log2(static_cast<double>(length)));
      }
    }
  });
  double flops = 0;
  double time_s = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    flops += weights[i];
    time_s += weights[i] / rate_together(team, *pool, *all[i]);
  }
  return time_s > 0 ? flops / time_s : 0;
}

template double fft_rate<float>(const gas::Team&, int, const std::array<std::int64_t, 3>&);
template double fft_rate<double>(const gas::Team&, int, const std::array<std::int64_t, 3>&);

}  // namespace penstock::probe
