// The rate of 1-D transforms in cache, with FFTW's own choice of how.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/measure/fftw_names.hpp"
#include "penstock/measure/measure.hpp"

namespace penstock::measure {
namespace {

// Per thread, input and output together: within the second-level cache of the processors of the last decade.
constexpr std::int64_t tile_bytes = std::int64_t{128} << 10;

/// Rows of one length, planned, with input and output for each thread.
template <class Real>
class Rows {
 public:
  using Api = Fftw<Real>;
  using Complex = typename Api::Complex;

  Rows(std::int64_t length, int threads)
      : length_(length),
        rows_(std::max<std::int64_t>(tile_bytes / (2 * length * static_cast<std::int64_t>(sizeof(Complex))), 1)),
        tile_((static_cast<std::size_t>(length * rows_) * sizeof(Complex) + 63) / 64 * 64),
        memory_(2 * tile_ * static_cast<std::size_t>(threads)) {
    if (length > std::numeric_limits<int>::max() || rows_ > std::numeric_limits<int>::max()) {
      throw Error(fmt::format("a direction of {} points is longer than FFTW can transform", length));
    }
    const int n = static_cast<int>(length);
    plan_ = Api::plan_complex(1, &n, static_cast<int>(rows_), in(0), nullptr, 1, n, out(0), nullptr, 1, n, FFTW_FORWARD,
                              FFTW_MEASURE);
    if (plan_ == nullptr) {
      throw Error(fmt::format("FFTW has no plan for rows of {} points", length));
    }
  }
  ~Rows() { Api::destroy(plan_); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void run(int thread, std::int64_t times) const {
    for (std::int64_t i = 0; i < times; ++i) {
      Api::run_complex(plan_, in(thread), out(thread));
    }
  }
  /// The operations of one run of one thread.
  double flops() const {
    const auto n = static_cast<double>(length_);
    return 5 * n * std::log2(n) * static_cast<double>(rows_);
  }

 private:
  Complex* in(int thread) const {
    return reinterpret_cast<Complex*>(memory_.data() + 2 * tile_ * static_cast<std::size_t>(thread));
  }
  Complex* out(int thread) const {
    return reinterpret_cast<Complex*>(memory_.data() + (2 * static_cast<std::size_t>(thread) + 1) * tile_);
  }

  std::int64_t length_;
  std::int64_t rows_;
  std::size_t tile_;  // bytes, in whole cache lines: FFTW's plan holds for memory aligned alike
  Memory memory_;     // zeros: what is transformed does not change how long that takes
  typename Api::Plan plan_ = nullptr;
};

/// Collective: operations per second of all threads together, the best of a few windows of some milliseconds.
template <class Real>
double rate_of(const gas::Team& team, Crew& crew, const Rows<Real>& rows) {
  constexpr int windows = 5;
  constexpr double window_s = 4e-3;
  const auto time = [&](std::int64_t times) {
    return gas::time_together(team, crew, [&](int thread) { rows.run(thread, times); });
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
  return rows.flops() * static_cast<double>(times) * crew.size() * team.size() / time_s;
}

}  // namespace

template <class Real>
double fft_rate(const gas::Team& team, int threads, const std::array<std::int64_t, 3>& lengths) {
  // A process-wide setting of FFTW's; ranks that are threads set the same. Where time runs out FFTW takes a plan that
  // it has not measured: a limit reckoned from that would flatter the transform.
  constexpr double planning_s = 3;
  std::vector<std::unique_ptr<Rows<Real>>> all;
  std::vector<double> weights;  // log2 n: each direction's share of 5 N log2 N
  std::unique_ptr<Crew> crew;
  Fftw<Real>::make_planner_thread_safe();
  Fftw<Real>::set_time_limit(planning_s);
  team.barrier();
  team.together([&] {
    crew = std::make_unique<Crew>(threads);
    for (const std::int64_t length : lengths) {
      if (length > 1) {
        all.push_back(std::make_unique<Rows<Real>>(length, threads));
        weights.push_back(std::log2(static_cast<double>(length)));
      }
    }
  });
  Fftw<Real>::set_time_limit(FFTW_NO_TIMELIMIT);
  double flops = 0;
  double time_s = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    flops += weights[i];
    time_s += weights[i] / rate_of(team, *crew, *all[i]);
  }
  return time_s > 0 ? flops / time_s : 0;
}

template double fft_rate<float>(const gas::Team&, int, const std::array<std::int64_t, 3>&);
template double fft_rate<double>(const gas::Team&, int, const std::array<std::int64_t, 3>&);

}  // namespace penstock::measure
