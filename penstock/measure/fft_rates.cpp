// The rates of 1-D transforms in cache over lengths: tiles as a plan has them, by FFTW's own choice of how.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "penstock/base/base.hpp"
#include "penstock/measure/calibration.hpp"
#include "penstock/measure/fftw_names.hpp"
#include "penstock/measure/sampling.hpp"
#include "penstock/model/model.hpp"

namespace penstock::measure {
namespace {

/// Rows of one length as a plan's tile has them.
struct TileShape {
  TileShape(std::int64_t n, bool is_real_kind, std::int64_t real_bytes, std::int64_t cache_l2_bytes)
      : length(n), is_real(is_real_kind) {
    in_bytes = model::tile_pitch(n * real_bytes * (is_real ? 1 : 2));
    out_bytes = model::tile_pitch((is_real ? n / 2 + 1 : n) * 2 * real_bytes);
    rows = model::tile_rows(in_bytes + out_bytes, cache_l2_bytes, 2 * real_bytes);
  }
  double flops() const {
    const auto n = static_cast<double>(length);
    return 5 * n * std::log2(n) * static_cast<double>(rows) * (is_real ? 0.5 : 1);
  }

  std::int64_t length;
  bool is_real;
  std::int64_t rows;
  std::int64_t in_bytes;   ///< from row to row
  std::int64_t out_bytes;  ///< the same
};

template <class Real>
class Tiles {
 public:
  using Api = Fftw<Real>;
  using Complex = typename Api::Complex;

  Tiles(const TileShape& shape, int threads)
      : shape_(shape),
        in_bytes_(static_cast<std::size_t>(shape.rows * shape.in_bytes)),
        out_bytes_(static_cast<std::size_t>(shape.rows * shape.out_bytes)),
        // Half a page apart modulo a page: see the plan's own.
        out_at_((in_bytes_ + 4095) / 4096 * 4096 + 2048),
        field_at_((out_at_ + out_bytes_ + 4095) / 4096 * 4096),
        tiles_(std::max<std::size_t>(field_bytes / std::max(in_bytes_, out_bytes_), 1)) {
    for (int thread = 0; thread < threads; ++thread) {
      memory_.emplace_back(field_at_ + tiles_ * std::max(in_bytes_, out_bytes_));
    }
    const int n = static_cast<int>(shape.length);
    const int rows = static_cast<int>(shape.rows);
    const auto distance = [](std::int64_t bytes, std::size_t element) {
      return static_cast<int>(bytes / static_cast<std::int64_t>(element));
    };
    const int out_distance = distance(shape.out_bytes, sizeof(Complex));
    if (shape.is_real) {
      plan_ = Api::plan_real(1, &n, rows, reinterpret_cast<Real*>(in(0)), nullptr, 1,
                             distance(shape.in_bytes, sizeof(Real)), out(0), nullptr, 1, out_distance,
                             FFTW_MEASURE | FFTW_DESTROY_INPUT);
    } else {
      plan_ = Api::plan_complex(1, &n, rows, reinterpret_cast<Complex*>(in(0)), nullptr, 1,
                                distance(shape.in_bytes, sizeof(Complex)), out(0), nullptr, 1, out_distance,
                                FFTW_FORWARD, FFTW_MEASURE | FFTW_DESTROY_INPUT);
    }
    if (plan_ == nullptr) {
      throw Error(fmt::format("FFTW has no plan for rows of {} points", shape.length));
    }
  }
  ~Tiles() { Api::destroy(plan_); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  /// Transforms one tile so often: the seconds that this took. As in a plan, each is copied in before and out after it,
  /// from and to more memory than the first-level cache has.
  double run(int thread, std::int64_t times) const noexcept {
    std::byte* const field = in(thread) + field_at_;
    double time_s = 0;
    for (std::int64_t i = 0; i < times; ++i) {
      const std::size_t tile = static_cast<std::size_t>(i) % tiles_;
      std::memcpy(in(thread), field + tile * in_bytes_, in_bytes_);
      const double begin_s = seconds();
      if (shape_.is_real) {
        Api::run_real(plan_, reinterpret_cast<Real*>(in(thread)), out(thread));
      } else {
        Api::run_complex(plan_, reinterpret_cast<Complex*>(in(thread)), out(thread));
      }
      time_s += seconds() - begin_s;
      std::memcpy(field + tile * out_bytes_, reinterpret_cast<const std::byte*>(out(thread)), out_bytes_);
    }
    return time_s;
  }

 private:
  static constexpr std::size_t field_bytes = std::size_t{256} << 10;

  // Zeros: what is transformed does not change how long that takes.
  std::byte* in(int thread) const { return memory_[static_cast<std::size_t>(thread)].data(); }
  Complex* out(int thread) const { return reinterpret_cast<Complex*>(in(thread) + out_at_); }

  TileShape shape_;
  std::size_t in_bytes_;
  std::size_t out_bytes_;
  std::size_t out_at_;
  std::size_t field_at_;
  std::size_t tiles_;  // that the copies go round
  std::vector<Memory> memory_;
  typename Api::Plan plan_ = nullptr;
};

template <class Real>
Figure rate_of_length(std::int64_t length, bool is_real, std::int64_t cache_l2_bytes, PinnedCrew& crew,
                      const CalibrationOptions& options) {
  const TileShape shape(length, is_real, sizeof(Real), cache_l2_bytes);
  const Tiles<Real> tiles(shape, crew.size());
  std::vector<double> times_s(static_cast<std::size_t>(crew.size()));
  return rate_of(shape.flops(), sample(options, [&](std::int64_t times) {
                   crew.run([&](int thread) { times_s[static_cast<std::size_t>(thread)] = tiles.run(thread, times); });
                   return *std::ranges::max_element(times_s);
                 }));
}

constexpr std::array<std::int64_t, 39> lengths{8,   12,  16,  17,  24,  32,  37,  48,  60,   64,   67,   96,   100,
                                               101, 128, 149, 160, 192, 197, 200, 211, 240,  251,  256,  307,  320,
                                               384, 480, 499, 500, 512, 640, 768, 997, 1000, 1024, 1536, 2048, 4096};

}  // namespace

std::vector<FftFigures> measure_fft_rates(const machine::Node& node, const CalibrationOptions& options,
                                          const std::function<void(const std::string&)>& progress) {
  Fftw<double>::make_planner_thread_safe();
  Fftw<float>::make_planner_thread_safe();
  // Settings of the whole process.
  Fftw<double>::set_time_limit(options.planning_s);
  Fftw<float>::set_time_limit(options.planning_s);
  PinnedCrew crew(options.threads);
  std::vector<FftFigures> figures;
  for (const std::int64_t length : lengths) {
    progress(fmt::format("transforms of {} points", length));
    const auto rate = [&]<class Real>(Real, bool is_real) {
      return rate_of_length<Real>(length, is_real, node.cache_l2_bytes, crew, options);
    };
    figures.push_back({.length = length,
                       .complex_double = rate(double{}, false),
                       .complex_single = rate(float{}, false),
                       .real_double = rate(double{}, true),
                       .real_single = rate(float{}, true)});
  }
  Fftw<double>::set_time_limit(FFTW_NO_TIMELIMIT);
  Fftw<float>::set_time_limit(FFTW_NO_TIMELIMIT);
  return figures;
}

}  // namespace penstock::measure
