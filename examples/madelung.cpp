// The energy of a crystal of rock salt by smooth particle-mesh Ewald sums: mpirun -n 2 ./madelung [PICTURE.png]
//
// After Essmann and others, J. Chem. Phys. 103 (1995): charges are spread over a mesh by cardinal B-splines, and one
// convolution, whose spectrum is never stored, gives the potential of the smooth part of all of them, eq. 4.7. What is
// near is summed directly. The energy of an ion beside its nearest neighbour's gives Madelung's constant.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>
#include <string>
#include <vector>

#include "picture.hpp"

namespace {

using penstock::fft::Plan;
using penstock::gas::Team;
using std::numbers::pi;

constexpr double madelung = 1.7475645946331821906;  // of rock salt: OEIS A085469
constexpr std::int64_t mesh = 48;                   // points in each direction
constexpr double box = 4;                           // its length, in distances of nearest neighbours
constexpr double alpha = 0.9;                       // what splits the near from the smooth part
constexpr double near = 6.5;                        // the reach of the near part: erfc(alpha near) is 1e-16
constexpr std::size_t order = 12;                   // of the B-splines

struct Ion {
  std::array<double, 3> at;
  double charge;
};

/// Ions of both charges by turns at the corners of unit cubes, off the mesh's points.
std::vector<Ion> crystal() {
  std::vector<Ion> ions;
  constexpr int count = static_cast<int>(box);
  for (int z = 0; z < count; ++z) {
    for (int y = 0; y < count; ++y) {
      for (int x = 0; x < count; ++x) {
        ions.push_back({{x + 0.137, y + 0.271, z + 0.389}, (x + y + z) % 2 == 0 ? 1.0 : -1.0});
      }
    }
  }
  return ions;
}

/// The cardinal B-spline of `order` at u + j, for all j where it is not 0; u is in [0, 1). Eq. 4.1.
std::array<double, order> splines(double u) {
  std::array<double, order> values{};
  values[0] = u;
  values[1] = 1 - u;
  for (std::size_t n = 3; n <= order; ++n) {
    for (std::size_t j = n; j-- > 0;) {
      const double at = u + static_cast<double>(j);
      const double below = j > 0 ? values[j - 1] : 0;
      const double here = j < n - 1 ? values[j] : 0;
      values[j] = (at * here + (static_cast<double>(n) - at) * below) / static_cast<double>(n - 1);
    }
  }
  return values;
}

/// |b(m)|^2 of eq. 4.4: what spreading by splines has done to mode m, undone.
double unspread(std::int64_t m) {
  const std::array<double, order> at_points = splines(0);
  std::complex<double> sum = 0;
  for (std::size_t j = 1; j < order; ++j) {
    sum += at_points[j] *
           std::polar(1.0, 2 * pi * static_cast<double>(m) * static_cast<double>(j - 1) / static_cast<double>(mesh));
  }
  return 1 / std::norm(sum);
}

/// The charges on this rank's points of the mesh. Every rank looks at all ions: they are few.
std::vector<double> spread(const penstock::fft::Distribution& part, const std::vector<Ion>& ions) {
  std::vector<double> charges(static_cast<std::size_t>(part.box.count()));
  const auto& [lower, extent] = part.box;
  for (const Ion& ion : ions) {
    std::array<std::array<double, order>, 3> weights;
    std::array<std::int64_t, 3> first{};
    for (std::size_t d = 0; d < 3; ++d) {
      const double at = ion.at[d] / box * static_cast<double>(mesh);
      first[d] = static_cast<std::int64_t>(std::floor(at));
      weights[d] = splines(at - std::floor(at));
    }
    // Point `first - j` has the spline's value at u + j.
    const auto index = [&](std::size_t d, std::size_t j) {
      return (first[d] - static_cast<std::int64_t>(j) + 2 * mesh) % mesh;
    };
    const auto is_mine = [&, &low = lower, &count = extent](std::size_t d, std::int64_t i) {
      return low[d] <= i && i < low[d] + count[d];
    };
    for (std::size_t k = 0; k < order; ++k) {
      for (std::size_t j = 0; j < order && is_mine(2, index(2, k)); ++j) {
        for (std::size_t i = 0; i < order && is_mine(1, index(1, j)); ++i) {
          if (is_mine(0, index(0, i))) {
            charges[static_cast<std::size_t>(part.position(index(0, i), index(1, j), index(2, k)))] +=
                ion.charge * weights[0][i] * weights[1][j] * weights[2][k];
          }
        }
      }
    }
  }
  return charges;
}

/// The energy of pairs nearer than `near`, of all periods of the box.
double near_energy(const std::vector<Ion>& ions) {
  double energy = 0;
  const int periods = static_cast<int>(std::ceil(near / box)) + 1;
  for (const Ion& one : ions) {
    for (const Ion& other : ions) {
      for (int z = -periods; z <= periods; ++z) {
        for (int y = -periods; y <= periods; ++y) {
          for (int x = -periods; x <= periods; ++x) {
            const double r = std::hypot(other.at[0] - one.at[0] + x * box, other.at[1] - one.at[1] + y * box,
                                        other.at[2] - one.at[2] + z * box);
            if (r > 0 && r < near) {
              energy += one.charge * other.charge * std::erfc(alpha * r) / r / 2;
            }
          }
        }
      }
    }
  }
  return energy;
}

bool run(const Team& team, const std::string& picture_path) {
  const std::vector<Ion> ions = crystal();
  Plan<double> plan(team, {.size = {mesh, mesh, mesh}, .type = penstock::fft::Type::r2c, .convolves = true});
  const std::vector<double> charges = spread(plan.input(), ions);
  std::vector<double> potential(charges.size());
  std::vector<double> factors;
  for (std::int64_t m = 0; m < mesh; ++m) {
    factors.push_back(unspread(m));
  }
  const auto square = [](std::int64_t m) {
    const double wave = static_cast<double>(penstock::fft::signed_wavenumber(m, mesh)) / box;
    return wave * wave;
  };
  plan.convolve(
      std::span<const double>(charges), std::span(potential),
      [&](std::int64_t mx, std::int64_t my, std::span<std::complex<double>> row) {
        for (std::size_t mz = 0; mz < row.size(); ++mz) {
          const double m2 = square(mx) + square(my) + square(static_cast<std::int64_t>(mz));
          const double factor = factors[static_cast<std::size_t>(mx)] * factors[static_cast<std::size_t>(my)] *
                                factors[mz] / (pi * box * box * box);
          row[mz] *= m2 > 0 ? factor * std::exp(-pi * pi * m2 / (alpha * alpha)) / m2 : 0;
        }
      },
      penstock::fft::Scaling::none);
  double smooth = 0;
  for (std::size_t i = 0; i < charges.size(); ++i) {
    smooth += charges[i] * potential[i] / 2;
  }
  double energy = near_energy(ions) - alpha / std::sqrt(pi) * static_cast<double>(ions.size());
  for (const double part : team.all_gather(smooth)) {
    energy += part;
  }
  // Each pair of ions is counted once, and each ion has the energy -madelung beside its nearest neighbours.
  const double found = -2 * energy / static_cast<double>(ions.size());
  const double error = std::abs(found / madelung - 1);

  std::vector<double> plane(static_cast<std::size_t>(mesh * mesh), -1e300);
  const auto& [lower, extent] = plan.input().box;
  if (!picture_path.empty()) {
    for (std::int64_t y = lower[1]; lower[2] == 0 && extent[2] > 0 && y < lower[1] + extent[1]; ++y) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        plane[static_cast<std::size_t>(y * mesh + x)] =
            potential[static_cast<std::size_t>(plan.input().position(x, y, 0))];
      }
    }
    picture::gather(team, plane);
  }
  if (team.rank() == 0) {
    std::printf("Madelung's constant of rock salt: %.13f, relative error %.1e\n", found, error);
    if (!picture_path.empty()) {
      const picture::Panel panel{"smooth potential of rock salt", plane, static_cast<std::size_t>(mesh)};
      picture::draw(picture_path, {&panel, 1});
    }
  }
  return error < 1e-10;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    is_right = run(penstock::gas::world_of(MPI_COMM_WORLD), argc > 1 ? argv[1] : "");
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "madelung: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
