// A real field transformed in one process by several threads, without MPI: the spectrum of a wave is one number.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>

namespace fft = penstock::fft;

int main() {
  // cos(2 pi (5 x / nx + 2 z / nz)): the mode kx = 5, kz = 2 with half the number of points, and nothing else.
  constexpr std::int64_t nx = 128;
  constexpr std::int64_t ny = 90;
  constexpr std::int64_t nz = 75;
  fft::Plan<double> plan(penstock::gas::world_alone(), {.size = {nx, ny, nz}, .type = fft::Type::r2c, .threads = 2});

  std::vector<double> field(plan.input().box.count());
  for (std::int64_t z = 0; z < nz; ++z) {
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        const double turns = 5.0 * static_cast<double>(x) / nx + 2.0 * static_cast<double>(z) / nz;
        field[plan.input().position(x, y, z)] = std::cos(2 * std::numbers::pi * turns);
      }
    }
  }
  std::vector<std::complex<double>> spectrum(plan.output().box.count());
  plan.forward(field, spectrum);

  constexpr double points = nx * ny * nz;
  spectrum[plan.output().position(5, 0, 2)] -= points / 2;
  double error = 0;
  for (const std::complex<double> mode : spectrum) {
    error = std::fmax(error, std::abs(mode) / points);
  }
  const fft::Breakdown& spent = plan.last_breakdown();
  std::printf("%.2f ms, of which transforming %.2f and moving %.2f; error %.1e\n", spent.total_s * 1e3,
              spent.transform_s() * 1e3, spent.move_s() * 1e3, error);
  return error < 1e-15 ? 0 : 1;
}
