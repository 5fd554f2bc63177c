// Solves Poisson's equation, -laplacian(u) = f, with known solutions: mpirun -n 2 ./poisson [N [PICTURE.png]]
//
// On a periodic box by Fourier modes: a convolution divides each mode by k^2 while it is in cache. With u = 0 on the
// walls of the unit cube by finite differences, which sine transforms solve exactly. And with a kind of side for each
// direction: u = 0 at both ends of x, no slope at those of y, periodic in z.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>
#include <string>
#include <vector>

#include "picture.hpp"

namespace {

using penstock::fft::Distribution;
using penstock::fft::Plan;
using penstock::gas::Team;
using std::numbers::pi;

/// Calls `visit(x, y, z, position)` for each point of this rank's part.
template <class Visit>
void for_each_point(const Distribution& part, const Visit& visit) {
  const auto& [lower, extent] = part.box;
  for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        visit(x, y, z, static_cast<std::size_t>(part.position(x, y, z)));
      }
    }
  }
}

/// u = sin(x) cos(2y) sin(3z) on [0, 2 pi)^3, so that f = 14 u. Returns the largest error.
double solve_periodic(const Team& team, std::int64_t n) {
  Plan<double> plan(team, {.size = {n, n, n}, .type = penstock::fft::Type::r2c, .convolves = true});
  const double h = 2 * pi / static_cast<double>(n);
  const auto solution = [h](std::int64_t x, std::int64_t y, std::int64_t z) {
    return std::sin(h * static_cast<double>(x)) * std::cos(2 * h * static_cast<double>(y)) *
           std::sin(3 * h * static_cast<double>(z));
  };
  std::vector<double> field(static_cast<std::size_t>(plan.input().box.count()));
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) { field[i] = 14 * solution(x, y, z); });
  plan.convolve(std::span<const double>(field), std::span(field),
                [n](std::int64_t kx, std::int64_t ky, std::span<std::complex<double>> row) {
                  const auto square = [n](std::int64_t k) {
                    const auto wave = static_cast<double>(penstock::fft::signed_wavenumber(k, n));
                    return wave * wave;
                  };
                  for (std::int64_t kz = 0; kz < n; ++kz) {
                    const double k2 = square(kx) + square(ky) + square(kz);
                    row[static_cast<std::size_t>(kz)] *= k2 > 0 ? 1 / k2 : 0;  // the mean of u is free: 0
                  }
                });
  double error = 0;
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
    error = std::max(error, std::abs(field[i] - solution(x, y, z)));
  });
  return team.largest(error);
}

/// u = x(1-x) y(1-y) z(1-z) on the n^3 inner points of the unit cube: second differences of parabolas are exact, so
/// that the error is that of rounding alone. Returns the largest.
double solve_between_walls(const Team& team, std::int64_t n) {
  using penstock::fft::RealKind;
  Plan<double> plan(team, {.size = {n, n, n},
                           .type = penstock::fft::Type::r2r,
                           .kinds = {RealKind::rodft00, RealKind::rodft00, RealKind::rodft00}});
  const double h = 1 / static_cast<double>(n + 1);
  const auto parabola = [h](std::int64_t i) {
    const double at = h * static_cast<double>(i + 1);
    return at * (1 - at);
  };
  std::vector<double> field(static_cast<std::size_t>(plan.input_stride()));
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
    const std::array p{parabola(x), parabola(y), parabola(z)};
    field[i] = 2 * (p[0] * p[1] + p[1] * p[2] + p[2] * p[0]);
  });
  plan.forward(std::span<const double>(field), std::span(field));
  // The sine of wavenumber k + 1 is an eigenvector of the second difference.
  const auto eigenvalue = [&](std::int64_t k) {
    const double sine = std::sin(pi * h * static_cast<double>(k + 1) / 2) / h;
    return 4 * sine * sine;
  };
  for_each_point(plan.output(),
                 [&](auto x, auto y, auto z, auto i) { field[i] /= eigenvalue(x) + eigenvalue(y) + eigenvalue(z); });
  plan.backward(std::span<const double>(field), std::span(field), penstock::fft::Scaling::full);
  double error = 0;
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
    error = std::max(error, std::abs(field[i] - parabola(x) * parabola(y) * parabola(z)));
  });
  return team.largest(error);
}

/// Second differences on the unit cube: n - 1 inner points in x, n centres of cells in y, n points of a period in z.
/// u = x(1-x) cos(pi y) sin(4 pi z), of which the last two factors are eigenvectors. Returns the largest error; draws
/// the plane z = 1/8 into `picture_path`, unless that is empty.
double solve_between_mixed_sides(const Team& team, std::int64_t n, const std::string& picture_path) {
  using penstock::fft::RealKind;
  using penstock::fft::Type;
  const std::array<std::optional<RealKind>, 3> kinds{RealKind::rodft00, RealKind::redft10, std::nullopt};
  Plan<double> plan(team, {.size = {n - 1, n, n}, .type = Type::r2c, .kinds = kinds});
  const double h = 1 / static_cast<double>(n);
  // Of the wave that is k half turns long: a sine, a cosine or, with k even, one of Fourier's.
  const auto eigenvalue = [&](std::int64_t k) {
    const double sine = std::sin(pi * h * static_cast<double>(k) / 2) / h;
    return 4 * sine * sine;
  };
  const auto parabola = [h](std::int64_t i) {
    const double at = h * static_cast<double>(i + 1);
    return at * (1 - at);
  };
  const auto wave = [h](std::int64_t y, std::int64_t z) {
    return std::cos(pi * h * (static_cast<double>(y) + 0.5)) * std::sin(4 * pi * h * static_cast<double>(z));
  };
  std::vector<double> field(static_cast<std::size_t>(plan.input_stride()));
  std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(plan.output_stride()));
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
    field[i] = (2 + parabola(x) * (eigenvalue(1) + eigenvalue(4))) * wave(y, z);
  });
  plan.forward(std::span<const double>(field), std::span(spectrum));
  for_each_point(plan.output(), [&](auto kx, auto ky, auto kz, auto i) {
    spectrum[i] /= eigenvalue(kx + 1) + eigenvalue(ky) + eigenvalue(2 * kz);
  });
  plan.backward(std::span<const std::complex<double>>(spectrum), std::span(field), penstock::fft::Scaling::full);
  double error = 0;
  for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
    error = std::max(error, std::abs(field[i] - parabola(x) * wave(y, z)));
  });
  if (!picture_path.empty()) {
    picture::Panel plane{"u = 0 at both ends of x, no slope at those of y",
                         std::vector<double>(static_cast<std::size_t>((n - 1) * n), -1e300),
                         static_cast<std::size_t>(n - 1)};
    for_each_point(plan.input(), [&](auto x, auto y, auto z, auto i) {
      if (z == n / 8) {
        plane.numbers[static_cast<std::size_t>(y * (n - 1) + x)] = field[i];
      }
    });
    picture::gather(team, plane.numbers);
    if (team.rank() == 0) {
      picture::draw(picture_path, {&plane, 1});
    }
  }
  return team.largest(error);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t n = argc > 1 ? std::atoi(argv[1]) : 48;
  bool is_right = false;
  try {
    const Team world = penstock::gas::world_of(MPI_COMM_WORLD);
    const double periodic = solve_periodic(world, n);
    const double walls = solve_between_walls(world, n - 1);
    const double mixed = solve_between_mixed_sides(world, n, argc > 2 ? argv[2] : "");
    if (world.rank() == 0) {
      std::printf("periodic, %lld^3: error %.1e; between walls: error %.1e; a kind of side for each direction: %.1e\n",
                  static_cast<long long>(n), periodic, walls, mixed);
    }
    is_right = periodic < 1e-13 && walls < 1e-13 && mixed < 1e-13;
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "poisson: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
