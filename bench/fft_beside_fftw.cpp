// Is our transform faster than FFTW's own? On several ranks beside FFTW's MPI transform (in place, transposed output),
// on one beside its threaded one (in place): in the same run, repetitions interleaved.
//
// usage: fft_beside_fftw [SIZE] [REPETITIONS] [THREADS] [GRAIN] [c2c|r2c] [double|single]
// for example: mpirun -n 2 fft_beside_fftw 256 15, mpirun -n 2 fft_beside_fftw 256 15 1 0 r2c single
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "bench/fftw_peer.hpp"
#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"

namespace {

using penstock::gas::Team;

/// The time that the slowest rank takes for `body`.
double time_of(const Team& team, const std::function<void()>& body) {
  team.barrier();
  const double begin_s = penstock::seconds();
  body();
  const auto all = team.all_gather(penstock::seconds() - begin_s);
  return *std::max_element(all.begin(), all.end());
}

struct Times {
  double min_s, median_s;
  explicit Times(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    min_s = all.front();
    median_s = all[all.size() / 2];
  }
};

struct Case {
  std::int64_t n;
  int repetitions;
  int threads;
  std::int64_t grain;
  bool is_real;
};

template <class Real>
void compare(const Team& team, const Case& asked) {
  using Complex = std::complex<Real>;
  const auto& [n, repetitions, threads, grain, is_real] = asked;
  penstock::bench::FftwPeer<Real> fftw(n, is_real, team.size() > 1, threads);
  penstock::fft::Options options;
  options.size = {n, n, n};
  options.type = is_real ? penstock::fft::Type::r2c : penstock::fft::Type::c2c;
  options.threads = threads;
  options.grain = grain;
  penstock::fft::Plan<Real> plan(team, options);
  const auto stride = static_cast<std::size_t>(plan.output_stride());
  const penstock::Memory memory(stride * sizeof(Complex));
  const std::span<Complex> field(reinterpret_cast<Complex*>(memory.data()), stride);
  const std::span<Real> real_field(reinterpret_cast<Real*>(memory.data()), 2 * stride);
  const auto transform = [&] { asked.is_real ? plan.forward(real_field, field) : plan.forward(field, field); };

  // Both start from values that stay small when transformed again and again.
  const auto factor = static_cast<Real>(std::pow(static_cast<double>(n), -1.5));
  std::vector<double> ours, theirs;
  penstock::fft::Breakdown best;
  for (int i = -1; i < repetitions; ++i) {  // the first pair warms up
    std::fill(field.begin(), field.end(), Complex(factor, factor / 2));
    fftw.fill(Complex(factor, factor / 2));
    const double theirs_s = time_of(team, [&] { fftw.run(); });
    const double ours_s = time_of(team, transform);
    if (i >= 0) {
      if (ours.empty() || ours_s < *std::min_element(ours.begin(), ours.end())) {
        best = plan.last_breakdown();
      }
      ours.push_back(ours_s);
      theirs.push_back(theirs_s);
    }
  }
  if (team.rank() == 0) {
    const Times our_times(ours), their_times(theirs);
    fmt::print("{}^3 {} {}, forward, {} ranks x {} threads, {} interleaved repetitions\n", n,
               sizeof(Real) == sizeof(double) ? "double" : "single", is_real ? "real" : "complex", team.size(), threads,
               repetitions);
    fmt::print("  {:<28} min {:.4f} s  median {:.4f} s\n",
               team.size() > 1 ? "FFTW MPI, transposed, in place" : "FFTW threads, in place", their_times.min_s,
               their_times.median_s);
    fmt::print("  {:<28} min {:.4f} s  median {:.4f} s   (transform {:.4f}, move {:.4f}, wait {:.4f})\n",
               "Penstock, in place", our_times.min_s, our_times.median_s, best.transform_s(), best.move_s(),
               best.wait_s());
    fmt::print("  {:<28} min {:.2f}      median {:.2f}\n", "times faster", their_times.min_s / our_times.min_s,
               their_times.median_s / our_times.median_s);
  }
}

/// Whether argument `name` is the second of its two choices; Error where it is neither.
bool is_second(std::string_view name, std::string_view first, std::string_view second) {
  if (name != first && name != second) {
    throw penstock::Error(fmt::format("'{}': {} or {} is wanted", name, first, second));
  }
  return name == second;
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const auto word = [&](int i, std::string_view otherwise) { return argc > i ? argv[i] : otherwise; };
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    const Team team = penstock::gas::world_of(MPI_COMM_WORLD);
    const Case asked{.n = number(1, 256),
                     .repetitions = std::max(number(2, 15), 1),
                     .threads = number(3, 1),
                     .grain = number(4, 0),
                     .is_real = is_second(word(5, "c2c"), "c2c", "r2c")};
    is_second(word(6, "double"), "double", "single") ? compare<float>(team, asked) : compare<double>(team, asked);
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "fft_beside_fftw: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
