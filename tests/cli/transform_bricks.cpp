// Transforms a field in bricks forward and back, then convolves it with a pulse: mpirun -n 2 ./transform_bricks rma
// Ends with 1 where the field has changed.
#include <algorithm>
#include <complex>
#include <cstdio>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"

namespace {

using penstock::fft::Box;
using Complex = std::complex<double>;

/// What a rank has where one dimension is cut into nearly equal parts.
Box brick_of(const penstock::fft::Extents& size, std::size_t dimension, int ranks, int rank) {
  Box box{{0, 0, 0}, size};
  box.lower[dimension] = size[dimension] * rank / ranks;
  box.extent[dimension] = size[dimension] * (rank + 1) / ranks - box.lower[dimension];
  return box;
}

double largest_difference(const std::vector<Complex>& one, const std::vector<Complex>& other) {
  double largest = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    largest = std::max(largest, std::abs(one[i] - other[i]));
  }
  return largest;
}

double error_of(const penstock::gas::Team& team) {
  penstock::fft::Options options{.size = {48, 50, 52}};
  options.effort = penstock::fft::Effort::estimate;
  options.convolves = true;
  options.input_part = {brick_of(options.size, 0, team.size(), team.rank()), {0, 1, 2}};
  options.output_part = {brick_of(options.size, 1, team.size(), team.rank()), {2, 1, 0}};
  penstock::fft::Plan<double> plan(team, options);
  std::vector<Complex> field(static_cast<std::size_t>(plan.input().box.count()));
  std::vector<Complex> spectrum(static_cast<std::size_t>(plan.output().box.count()));
  std::vector<Complex> back(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    field[i] = {static_cast<double>(i * 7919 % 101) / 101, static_cast<double>(i * 31 % 97) / 97};
  }
  plan.forward(field, spectrum);
  plan.backward(spectrum, back, penstock::fft::Scaling::full);
  const double error = largest_difference(field, back);
  plan.convolve(field, back, [](std::int64_t, std::int64_t, std::span<Complex>) {});
  return std::max(error, largest_difference(field, back));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double error =
      error_of(penstock::gas::world_of(MPI_COMM_WORLD, penstock::gas::reach_named(argc > 1 ? argv[1] : "auto")));
  std::printf("largest difference %.1e\n", error);
  MPI_Finalize();
  return error < 1e-13 ? 0 : 1;
}
