// The rates of 1-D transforms in cache: tiles as a plan has them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"
#include "penstock/probe/probe.hpp"
#include "penstock/shape/shape.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::probe {
namespace {

/// Tiles of pencils of one length as plans have them: real ones contiguous, as they lie in the first direction,
/// complex ones adjacent.
template <class Real>
class FieldOfTiles {
 public:
  FieldOfTiles(std::int64_t length, bool is_real, std::int64_t cache_l2_bytes, int threads)
      : length_(length),
        is_real_(is_real),
        pencils_(shape::tile_rows(2 * shape::tile_pitch(length * complex_bytes), cache_l2_bytes, complex_bytes)),
        transform_({.length = length,
                    .kind = is_real ? transform::Kind::real_to_complex : transform::Kind::forward,
                    .source = is_real ? transform::Spacing::contiguous : transform::Spacing::adjacent,
                    .destination = is_real ? transform::Spacing::contiguous : transform::Spacing::adjacent,
                    .pencils = pencils_}),
        in_(places(transform_.source_points(), transform_.source_number_bytes())),
        out_(places(transform_.destination_points(), transform_.destination_number_bytes())),
        tiles_(std::max<std::int64_t>(field_bytes / std::max(in_.bytes, out_.bytes), 1)) {
    for (int thread = 0; thread < threads; ++thread) {
      memory_.emplace_back(static_cast<std::size_t>(lent_at() + lent_bytes()));
    }
  }

  /// Transforms one tile after the other, so often: the seconds that this took. They come from and go to more memory
  /// than the first-level cache has.
  double run(int thread, std::int64_t times) const noexcept {
    std::byte* const memory = memory_[static_cast<std::size_t>(thread)].data();
    const double begin_s = seconds();
    for (std::int64_t i = 0; i < times; ++i) {
      const std::int64_t tile = i % tiles_;
      transform_.run({memory + tile * in_.bytes, in_.offsets.data(), in_.pencil_stride},
                     {memory + out_at() + tile * out_.bytes, out_.offsets.data(), out_.pencil_stride}, pencils_,
                     {memory + lent_at(), static_cast<std::size_t>(lent_bytes())});
    }
    return seconds() - begin_s;
  }

  double flops() const {
    const auto n = static_cast<double>(length_);
    return 5 * n * std::log2(n) * static_cast<double>(pencils_) * (is_real_ ? 0.5 : 1);
  }

 private:
  static constexpr std::int64_t complex_bytes = 2 * sizeof(Real);
  static constexpr std::int64_t field_bytes = std::int64_t{256} << 10;

  struct Places {
    std::vector<std::int64_t> offsets;
    std::int64_t pencil_stride;
    std::int64_t bytes;  // of a tile
  };
  Places places(std::int64_t points, std::int64_t number_bytes) const {
    Places places;
    const std::int64_t pitch = shape::tile_pitch(points * number_bytes);
    for (std::int64_t k = 0; k < points; ++k) {
      places.offsets.push_back(k * number_bytes * (is_real_ ? 1 : pencils_));
    }
    places.pencil_stride = is_real_ ? pitch : number_bytes;
    places.bytes = is_real_ ? pencils_ * pitch : points * pencils_ * number_bytes;
    return places;
  }
  // Half a page apart modulo a page: see the plan's own.
  std::int64_t out_at() const { return (tiles_ * in_.bytes + 4095) / 4096 * 4096 + 2048; }
  std::int64_t lent_at() const { return (out_at() + tiles_ * out_.bytes + 4095) / 4096 * 4096; }
  std::int64_t lent_bytes() const { return static_cast<std::int64_t>(transform_.scratch_bytes()); }

  std::int64_t length_;
  bool is_real_;
  std::int64_t pencils_;
  transform::Transform<Real> transform_;
  Places in_;
  Places out_;
  std::int64_t tiles_;          // that are gone round
  std::vector<Memory> memory_;  // by thread; zeros: what is transformed does not change how long that takes
};

template <class Real>
Figure rate_of_length(std::int64_t length, bool is_real, std::int64_t cache_l2_bytes, PinnedPool& pool,
                      const CalibrationOptions& options) {
  const FieldOfTiles<Real> tiles(length, is_real, cache_l2_bytes, pool.size());
  std::vector<double> times_s(static_cast<std::size_t>(pool.size()));
  return rate_of(tiles.flops(), sample(options, [&](std::int64_t times) {
                   pool.run([&](int thread) { times_s[static_cast<std::size_t>(thread)] = tiles.run(thread, times); });
                   return *std::ranges::max_element(times_s);
                 }));
}

/// Collective: complex transforms of one length, operations per second of all threads of all ranks together.
template <class Real>
double rate_together(const gas::Team& team, ThreadPool& pool, std::int64_t length, std::int64_t cache_l2_bytes) {
  constexpr CalibrationOptions options{.samples = 5, .sample_s = 4e-3};
  std::optional<FieldOfTiles<Real>> tiles;
  team.together([&] { tiles.emplace(length, false, cache_l2_bytes, pool.size()); });
  double flops = 0;  // ranks on other processors may have other tiles
  for (const double one : team.all_gather(tiles->flops() * pool.size())) {
    flops += one;
  }
  const auto times_s = sample(options, [&](std::int64_t times) {
    return gas::time_together(team, pool, [&](int thread) { tiles->run(thread, times); });
  });
  return flops / std::ranges::min(times_s);
}

constexpr std::array<std::int64_t, 39> measured_lengths{
    8,   12,  16,  17,  24,  32,  37,  48,  60,  64,  67,  96,  100, 101, 128,  149,  160,  192,  197, 200,
    211, 240, 251, 256, 307, 320, 384, 480, 499, 500, 512, 640, 768, 997, 1000, 1024, 1536, 2048, 4096};

}  // namespace

std::vector<FftRates> measure_fft_rates(const machine::Node& node, const CalibrationOptions& options,
                                        const std::function<void(const std::string&)>& progress) {
  PinnedPool pool(options.threads);
  std::vector<FftRates> figures;
  for (const std::int64_t length : measured_lengths) {
    progress(fmt::format("transforms of {} points", length));
    const auto rate = [&]<class Real>(Real, bool is_real) {
      return rate_of_length<Real>(length, is_real, node.cache_l2_bytes, pool, options);
    };
    figures.push_back({.length = length,
                       .complex_double = rate(double{}, false),
                       .complex_single = rate(float{}, false),
                       .real_double = rate(double{}, true),
                       .real_single = rate(float{}, true)});
  }
  return figures;
}

template <class Real>
double fft_rate(const gas::Team& team, int threads, const machine::Node& node,
                const std::array<std::int64_t, 3>& lengths) {
  std::unique_ptr<ThreadPool> pool;
  team.together([&] { pool = std::make_unique<ThreadPool>(threads); });
  double weights = 0;
  double time_s = 0;
  for (const std::int64_t length : lengths) {
    if (length > 1) {
      const double weight = std::log2(static_cast<double>(length));  // the direction's share of 5 N log2 N
      weights += weight;
      time_s += weight / rate_together<Real>(team, *pool, length, node.cache_l2_bytes);
    }
  }
  return time_s > 0 ? weights / time_s : 0;
}

template double fft_rate<float>(const gas::Team&, int, const machine::Node&, const std::array<std::int64_t, 3>&);
template double fft_rate<double>(const gas::Team&, int, const machine::Node&, const std::array<std::int64_t, 3>&);

}  // namespace penstock::probe
