// Is our transform faster than FFTW's own? On several ranks beside FFTW's MPI transform (in place, transposed output),
// on one beside its threaded one (in place): in the same run, repetitions interleaved.
//
// usage: fft_beside_fftw [SIZE] [REPETITIONS] [THREADS] [GRAIN], for example: mpirun -n 2 fft_beside_fftw 256 15
#include <fftw3-mpi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"

namespace {

using Complex = std::complex<double>;
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

/// FFTW's own parallel transform, in place, planned with FFTW_MEASURE.
class Fftw {
 public:
  Fftw(const Team& team, std::ptrdiff_t n, int threads) : has_peers_(team.size() > 1) {
    fftw_init_threads();
    fftw_mpi_init();
    fftw_plan_with_nthreads(threads);
    std::ptrdiff_t planes = n, first = 0, rows = 0, first_row = 0;
    const std::ptrdiff_t count =
        has_peers_ ? fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &planes, &first, &rows, &first_row)
                   : n * n * n;
    data_ = fftw_alloc_complex(static_cast<std::size_t>(count));
    const int size = static_cast<int>(n);
    plan_ = has_peers_ ? fftw_mpi_plan_dft_3d(n, n, n, data_, data_, MPI_COMM_WORLD, FFTW_FORWARD,
                                              FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT)
                       : fftw_plan_dft_3d(size, size, size, data_, data_, FFTW_FORWARD, FFTW_MEASURE);
    std::fill_n(reinterpret_cast<Complex*>(data_), planes * n * n, Complex(0.5, -0.25));
    count_ = static_cast<std::size_t>(planes * n * n);
  }
  ~Fftw() {
    fftw_destroy_plan(plan_);
    fftw_free(data_);
  }
  Fftw(const Fftw&) = delete;
  Fftw& operator=(const Fftw&) = delete;

  std::complex<double>* data() { return reinterpret_cast<Complex*>(data_); }
  std::size_t count() const { return count_; }
  void run() { fftw_execute(plan_); }

 private:
  bool has_peers_;
  fftw_complex* data_;
  std::size_t count_;
  fftw_plan plan_;
};

void compare(const Team& team, std::int64_t n, int repetitions, int threads, std::int64_t grain) {
  Fftw fftw(team, n, threads);
  penstock::fft::Options options;
  options.size = {n, n, n};
  options.threads = threads;
  options.grain = grain;
  penstock::fft::Plan<double> plan(team, options);
  const penstock::Memory memory(static_cast<std::size_t>(plan.output_stride()) * sizeof(Complex));
  const std::span<Complex> field(reinterpret_cast<Complex*>(memory.data()),
                                 static_cast<std::size_t>(plan.output_stride()));

  // Both start from values that stay small when transformed again and again.
  const double factor = 1 / std::sqrt(static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n));
  std::vector<double> ours, theirs;
  penstock::fft::Breakdown best;
  for (int i = -1; i < repetitions; ++i) {  // the first pair warms up
    std::fill(field.begin(), field.end(), Complex(factor, factor / 2));
    std::fill_n(fftw.data(), fftw.count(), Complex(factor, factor / 2));
    const double theirs_s = time_of(team, [&] { fftw.run(); });
    const double ours_s = time_of(team, [&] { plan.forward(field, field); });
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
    fmt::print("{}^3 double complex, forward, {} ranks x {} threads, {} interleaved repetitions\n", n, team.size(),
               threads, repetitions);
    fmt::print("  {:<28} min {:.4f} s  median {:.4f} s\n",
               team.size() > 1 ? "FFTW MPI, transposed, in place" : "FFTW threads, in place", their_times.min_s,
               their_times.median_s);
    fmt::print("  {:<28} min {:.4f} s  median {:.4f} s   (transform {:.4f}, move {:.4f}, wait {:.4f})\n",
               "Penstock, in place", our_times.min_s, our_times.median_s, best.transform_s(), best.move_s(), best.wait_s());
    fmt::print("  {:<28} min {:.2f}      median {:.2f}\n", "times faster", their_times.min_s / our_times.min_s,
               their_times.median_s / our_times.median_s);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    const Team team = penstock::gas::world_of(MPI_COMM_WORLD);
    compare(team, argument(1, 256), std::max(argument(2, 15), 1), argument(3, 1), argument(4, 0));
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "fft_beside_fftw: {}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
