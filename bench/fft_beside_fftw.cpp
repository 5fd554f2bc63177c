// Is our transform faster than FFTW's own? On several ranks beside FFTW's MPI transform (transposed output), on one
// beside its threaded one, each in place and from one place to another: in the same run, repetitions interleaved.
//
// usage: fft_beside_fftw [SIZE] [REPETITIONS] [THREADS] [GRAIN] [c2c|r2c] [double|single]
// for example: mpirun -n 2 fft_beside_fftw 256 15, mpirun -n 2 fft_beside_fftw 256 15 1 0 r2c single
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "bench/fftw_peer.hpp"
#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::gas::Team;
using penstock::gas::time_together;

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
  std::int64_t planes_per_message;
  bool is_real;
};

template <class Real>
void compare(const Team& team, const Case& asked) {
  using Complex = std::complex<Real>;
  const auto& [n, repetitions, threads, planes_per_message, is_real] = asked;
  using penstock::bench::Place;
  const bool is_over_mpi = team.size() > 1;
  penstock::bench::FftwPeer<Real> in_place(n, is_real, is_over_mpi, threads, Place::same);
  penstock::bench::FftwPeer<Real> elsewhere(n, is_real, is_over_mpi, threads, Place::other);
  penstock::fft::Options options;
  options.size = {n, n, n};
  options.type = is_real ? penstock::fft::Type::r2c : penstock::fft::Type::c2c;
  options.threads = threads;
  options.planes_per_message = planes_per_message;
  penstock::fft::Plan<Real> plan(team, options);
  const auto stride = static_cast<std::size_t>(plan.output_stride());
  const penstock::Memory memory(stride * sizeof(Complex));
  const std::span<Complex> field(reinterpret_cast<Complex*>(memory.data()), stride);
  const std::span<Real> real_field(reinterpret_cast<Real*>(memory.data()), 2 * stride);
  const auto transform = [&] { asked.is_real ? plan.forward(real_field, field) : plan.forward(field, field); };

  // All start from values that stay small when transformed again and again.
  const auto factor = static_cast<Real>(std::pow(static_cast<double>(n), -1.5));
  std::vector<double> ours, theirs_in_place, theirs_elsewhere;
  penstock::fft::Breakdown best;
  for (int i = -1; i < repetitions; ++i) {  // the first round warms up
    std::fill(field.begin(), field.end(), Complex(factor, factor / 2));
    in_place.fill(Complex(factor, factor / 2));
    elsewhere.fill(Complex(factor, factor / 2));
    const double in_place_s = time_together(team, [&] { in_place.run(); });
    const double elsewhere_s = time_together(team, [&] { elsewhere.run(); });
    const double ours_s = time_together(team, transform);
    if (i >= 0) {
      if (ours.empty() || ours_s < *std::min_element(ours.begin(), ours.end())) {
        best = plan.last_breakdown();
      }
      ours.push_back(ours_s);
      theirs_in_place.push_back(in_place_s);
      theirs_elsewhere.push_back(elsewhere_s);
    }
  }
  if (team.rank() == 0) {
    const Times our_times(ours);
    const auto print = [&](std::string_view name, const Times& times) {
      fmt::print("  {:<34} min {:.4f} s  median {:.4f} s   ours is {:.2f} and {:.2f} times as fast\n", name,
                 times.min_s, times.median_s, times.min_s / our_times.min_s, times.median_s / our_times.median_s);
    };
    fmt::print("{}^3 {} {}, forward, {} ranks x {} threads, {} interleaved repetitions\n", n,
               sizeof(Real) == sizeof(double) ? "double" : "single", is_real ? "real" : "complex", team.size(), threads,
               repetitions);
    fmt::print("  {:<34} min {:.4f} s  median {:.4f} s   (transform {:.4f}, move {:.4f}, wait {:.4f})\n",
               "Penstock, in place", our_times.min_s, our_times.median_s, best.transform_s(), best.move_s(),
               best.wait_s());
    print(is_over_mpi ? "FFTW MPI, transposed, in place" : "FFTW threads, in place", Times(theirs_in_place));
    print(is_over_mpi ? "FFTW MPI, transposed, elsewhere" : "FFTW threads, elsewhere", Times(theirs_elsewhere));
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
                     .planes_per_message = number(4, 0),
                     .is_real = is_second(word(5, "c2c"), "c2c", "r2c")};
    is_second(word(6, "double"), "double", "single") ? compare<float>(team, asked) : compare<double>(team, asked);
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "fft_beside_fftw: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
