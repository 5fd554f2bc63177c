// A wave packet in a harmonic trap, by split steps: mpirun -n 2 ./schroedinger [PICTURE.png]
//
// i du/dt = (-laplacian / 2 + V) u, V = (w_x^2 x^2 + w_y^2 y^2 + w_z^2 z^2) / 2. Both parts of the operator are solved
// exactly: V at each point, the laplacian for each mode, in one call of `convolve`. Their composition is Blanes and
// Moan's of order 4 with six stages (J. Comput. Appl. Math. 142, 2002, table 2). A displaced ground state keeps its
// shape, its centre swings as a pendulum, and after the trap's period it is what it was.
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

using Complex = std::complex<double>;
using penstock::fft::Distribution;
using penstock::fft::Plan;
using penstock::gas::Team;
using std::numbers::pi;

constexpr penstock::fft::Extents size{64, 60, 64};
constexpr std::array<double, 3> length{20, 14, 11};
constexpr std::array<double, 3> frequency{1, 2, 3};
constexpr std::array<double, 3> start{2, 1.5, 1};
constexpr int steps_of_period = 120;

/// The coordinate of a point in direction d; the trap's centre is 0.
double coordinate(std::size_t d, std::int64_t index) {
  return length[d] * (static_cast<double>(index) / static_cast<double>(size[d]) - 0.5);
}

/// Calls visit(position, x) for each point of this rank, with its coordinates.
template <class Visit>
void for_each_point(const Distribution& part, const Visit& visit) {
  const auto& [lower, extent] = part.box;
  for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        visit(static_cast<std::size_t>(part.position(x, y, z)),
              std::array{coordinate(0, x), coordinate(1, y), coordinate(2, z)});
      }
    }
  }
}

// Of a step, the parts of it for which V and the laplacian act by turns: V first and last.
constexpr std::array a{0.0792036964311957, 0.353172906049774, -0.0420650803577195};
constexpr std::array b{0.209515106613362, -0.143851773179818};
constexpr std::array at_points{a[0], a[1], a[2], 1 - 2 * (a[0] + a[1] + a[2])};
constexpr std::array in_modes{b[0], b[1], 0.5 - (b[0] + b[1])};

class Packet {
 public:
  /// In steps of `dt`.
  Packet(const Team& team, double dt)
      : team_(&team), dt_(dt), plan_(team, {.size = size, .type = penstock::fft::Type::c2c, .convolves = true}) {
    u_.resize(static_cast<std::size_t>(plan_.input().box.count()));
    for (std::vector<Complex>& turns : turns_) {
      turns.resize(u_.size());
    }
    for_each_point(plan_.input(), [&](std::size_t i, const std::array<double, 3>& x) {
      double exponent = 0;
      double potential = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        exponent += frequency[d] * (x[d] - start[d]) * (x[d] - start[d]) / 2;
        potential += frequency[d] * frequency[d] * x[d] * x[d] / 2;
      }
      u_[i] = std::exp(-exponent);
      for (std::size_t part = 0; part < turns_.size(); ++part) {
        turns_[part][i] = std::polar(1.0, -at_points[part] * dt * potential);
      }
    });
  }

  const std::vector<Complex>& values() const { return u_; }

  void step() {
    for (const std::size_t part : std::array<std::size_t, 3>{0, 1, 2}) {
      turn_at_points(part);
      turn_modes(part);
    }
    turn_at_points(3);
    for (const std::size_t part : std::array<std::size_t, 3>{2, 1, 0}) {
      turn_modes(part);
      turn_at_points(part);
    }
  }

  /// The mean of each coordinate, weighted by |u|^2.
  std::array<double, 3> centre() const {
    std::array<double, 4> sums{};
    for_each_point(plan_.input(), [&](std::size_t i, const std::array<double, 3>& x) {
      const double weight = std::norm(u_[i]);
      for (std::size_t d = 0; d < 3; ++d) {
        sums[d] += weight * x[d];
      }
      sums[3] += weight;
    });
    std::array<double, 4> all{};
    for (const auto& part : team_->all_gather(sums)) {
      for (std::size_t i = 0; i < 4; ++i) {
        all[i] += part[i];
      }
    }
    return {all[0] / all[3], all[1] / all[3], all[2] / all[3]};
  }

  /// |u| in the plane z = 0, on every rank.
  picture::Panel middle_plane(const std::string& title) const {
    std::vector<double> mine(static_cast<std::size_t>(size[0] * size[1]));
    const Distribution& part = plan_.input();
    const auto& [lower, extent] = part.box;
    const std::int64_t z = size[2] / 2;
    const bool has_plane = lower[2] <= z && z < lower[2] + extent[2];
    for (std::int64_t y = lower[1]; has_plane && y < lower[1] + extent[1]; ++y) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        mine[static_cast<std::size_t>(y * size[0] + x)] =
            std::abs(u_[static_cast<std::size_t>(part.position(x, y, z))]);
      }
    }
    picture::gather(*team_, mine);
    return {title, std::move(mine), static_cast<std::size_t>(size[0])};
  }

 private:
  void turn_at_points(std::size_t part) {
    for (std::size_t i = 0; i < u_.size(); ++i) {
      u_[i] *= turns_[part][i];
    }
  }

  void turn_modes(std::size_t part) {
    // exp(-i dt k^2 / 2) is a product of its directions.
    std::array<std::vector<Complex>, 3> turns;
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::int64_t index = 0; index < size[d]; ++index) {
        const double k = 2 * pi / length[d] * static_cast<double>(penstock::fft::signed_wavenumber(index, size[d]));
        turns[d].push_back(std::polar(1.0, -in_modes[part] * dt_ * k * k / 2));
      }
    }
    plan_.convolve(
        std::span<const Complex>(u_), std::span(u_), [&](std::int64_t kx, std::int64_t ky, std::span<Complex> row) {
          const Complex turn = turns[0][static_cast<std::size_t>(kx)] * turns[1][static_cast<std::size_t>(ky)];
          for (std::size_t kz = 0; kz < row.size(); ++kz) {
            row[kz] *= turn * turns[2][kz];
          }
        });
  }

  const Team* team_;
  double dt_;
  Plan<double> plan_;
  std::vector<Complex> u_;
  std::array<std::vector<Complex>, at_points.size()> turns_;  // by V, in each part of a step
};

bool run(const Team& team, const std::string& picture_path) {
  Packet packet(team, 2 * pi / steps_of_period);
  const std::vector<Complex> first = packet.values();
  std::vector<picture::Panel> panels;
  double drift = 0;
  for (int step = 0; step < steps_of_period; ++step) {
    const double time = 2 * pi * step / steps_of_period;
    const std::array<double, 3> centre = packet.centre();
    for (std::size_t d = 0; d < 3; ++d) {
      drift = std::max(drift, std::abs(centre[d] - start[d] * std::cos(frequency[d] * time)));
    }
    if (!picture_path.empty() && step % (steps_of_period / 8) == 0 && step < steps_of_period / 2) {
      std::array<char, 40> title{};
      std::snprintf(title.data(), title.size(), "|u| at z = 0, time %.2f", time);
      panels.push_back(packet.middle_plane(title.data()));
    }
    packet.step();
  }
  // The phases of the ground state, (1 + 2 + 3) / 2 turns, are whole ones after the period.
  double error = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    error = std::max(error, std::abs(packet.values()[i] - first[i]));
  }
  error = team.largest(error);
  if (team.rank() == 0) {
    std::printf("after one period in %d steps: error %.1e, centre off its path by %.1e at most\n", steps_of_period,
                error, drift);
    if (!picture_path.empty()) {
      picture::draw(picture_path, panels);
    }
  }
  return error < 1e-6 && drift < 3e-7;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    is_right = run(penstock::gas::world_of(MPI_COMM_WORLD), argc > 1 ? argv[1] : "");
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "schroedinger: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
