// How near is a redistribution to a copy? 256^3 complex numbers from pencils along x, [z][y][x], to pencils along z,
// [x][y][z]: into the plan's own arrays, into the user's, and, beside these, each rank's copy of as many bytes from one
// of its arrays to another with the same pattern. In the same run, repetitions interleaved.
//
// usage: redistribution [SIZE] [REPETITIONS]
// for example: mpirun -n 2 redistribution 256 31
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"

namespace {

using penstock::fft::Box;
using penstock::fft::Distribution;
using Complex = std::complex<double>;

/// The bytes of a box as they lie in an array of its own, in the order x, y, z.
penstock::layout::Layout layout_of(const Distribution& part) {
  const auto strides = part.strides();
  std::vector<penstock::layout::Level> levels;
  for (std::size_t d = 0; d < 3; ++d) {
    levels.push_back({part.box.extent[d], strides[d] * static_cast<std::int64_t>(sizeof(Complex))});
  }
  return penstock::layout::Layout::nest(0, levels, sizeof(Complex));
}

void print(std::string_view name, std::vector<double>& times, double copy_s) {
  std::ranges::sort(times);
  const double median_s = times[times.size() / 2];
  fmt::print("  {:<26} min {:7.3f} ms  median {:7.3f} ms  {:.2f} of the copy's rate\n", name, 1e3 * times.front(),
             1e3 * median_s, copy_s / times.front());
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const auto team = penstock::gas::world_of(MPI_COMM_WORLD);
    const std::int64_t n = number(1, 256);
    const int repetitions = std::max(number(2, 31), 1);
    const auto part = penstock::shape::part_of(n, team.size(), team.rank());
    penstock::fft::Options options{.size = {n, n, n}, .along = {false, false, false}};
    options.input_part = Distribution{.box = {{0, 0, part.lower}, {n, n, part.extent}}};
    options.output_part = Distribution{.box = {{part.lower, 0, 0}, {part.extent, n, n}}, .order = {0, 1, 2}};
    options.has_arrays = true;
    penstock::fft::Plan<double> direct(team, options);
    options.has_arrays = false;
    penstock::fft::Plan<double> plain(team, options);

    const auto elements = static_cast<std::size_t>(std::max(direct.input().elements(), direct.output().elements()));
    const std::span<Complex> in = direct.input_array<Complex>();
    const std::span<Complex> out = direct.output_array<Complex>();
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = {static_cast<double>(i), static_cast<double>(team.rank())};
    }
    penstock::Memory other(elements * sizeof(Complex));
    const std::span<Complex> out_of_user(reinterpret_cast<Complex*>(other.data()), elements);
    // A copy of this rank's part alone, turned as the redistribution turns it.
    Distribution turned = direct.input();
    turned.order = {0, 1, 2};
    const auto copy =
        penstock::mover::Mover::compile(layout_of(direct.input()), layout_of(turned), penstock::mover::Hint::streaming);
    direct.forward(std::span<const Complex>(in), out);
    plain.forward(std::span<const Complex>(in), out_of_user);
    team.agree(std::ranges::equal(out, out_of_user.first(out.size())) ? "" : "the results differ");
    std::vector<double> direct_s, plain_s, copy_s;
    for (int i = 0; i < repetitions; ++i) {
      const auto time = [&](std::vector<double>& times, const auto& run) {
        times.push_back(penstock::gas::time_together(team, run));
      };
      time(direct_s, [&] { direct.forward(std::span<const Complex>(in), out); });
      time(plain_s, [&] { plain.forward(std::span<const Complex>(in), out_of_user); });
      time(copy_s, [&] {
        copy(reinterpret_cast<const std::byte*>(in.data()), other.data());
        penstock::mover::finish_streaming();
      });
    }
    if (team.rank() == 0) {
      const double fastest_s = *std::ranges::min_element(copy_s);
      fmt::print("{}^3 complex numbers, {} ranks, {} interleaved repetitions\n", n, team.size(), repetitions);
      print("copy", copy_s, fastest_s);
      print("into the plan's arrays", direct_s, fastest_s);
      print("into the user's arrays", plain_s, fastest_s);
    }
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
