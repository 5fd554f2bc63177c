// Flow between two walls, Fourier x Fourier x Chebyshev: mpirun -n 2 ./channel [PICTURE.png]
//
// The velocity (u, v, w) is along x, along y, and off the walls at z = -1 and 1. As Kim, Moin and Moser (J. Fluid Mech.
// 177, 1987, sec. 2) unknowns are g = dv/dx - du/dy and phi = laplacian(w) for each pair of wavenumbers, and the mean
// flow:
//   dg/dt = dHy/dx - dHx/dy + laplacian(g) / Re,             H = u x vorticity,
//   dphi/dt = (d^2/dx^2 + d^2/dy^2) Hz - d/dz (dHx/dx + dHy/dy) + laplacian(phi) / Re.
// Products are taken at points, on 3/2 of the modes along x and y; along z at Chebyshev's points cos(pi j / N), where a
// cosine transform (redft00) gives the polynomials. Time goes by Crank and Nicolson for what is viscous, by Adams and
// Bashforth for the rest. Each step solves equations u'' - lambda u = f along z, on the rank that has all of z: by
// Chebyshev's tau method, a tridiagonal system (Canuto et al., Spectral Methods in Fluid Dynamics, 1988, eq. 5.1.24).
//
// A small wave on the parabola 1 - z^2 at Re = 7500 becomes Tollmien and Schlichting's, which grows as exp(-i omega t)
// with omega = 0.24989154 + 0.00223498 i (Malik, Zang and Hussaini, J. Comput. Phys. 61, 1985).
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <optional>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>
#include <span>
#include <string>
#include <vector>

#include "picture.hpp"

namespace {

using Complex = std::complex<double>;
using penstock::fft::Distribution;
using penstock::fft::Extents;
using penstock::fft::Options;
using penstock::fft::Plan;
using penstock::fft::Scaling;
using penstock::gas::Team;
using std::numbers::pi;

constexpr Complex imaginary{0, 1};

/// Coefficients of Chebyshev's polynomials, of a function of z.
using Row = std::vector<Complex>;

/// The derivative of a row.
Row derivative(const Row& row) {
  const std::size_t n = row.size();
  Row result(n);
  for (std::size_t k = n - 1; k-- > 0;) {
    result[k] = (k + 2 < n ? result[k + 2] : 0) + 2 * static_cast<double>(k + 1) * row[k + 1];
  }
  result[0] /= 2;
  return result;
}

/// The values of a row at z = 1 and at z = -1.
std::array<Complex, 2> at_walls(const Row& row) {
  std::array<Complex, 2> values{};
  for (std::size_t k = 0; k < row.size(); ++k) {
    values[0] += row[k];
    values[1] += k % 2 == 0 ? row[k] : -row[k];
  }
  return values;
}

/// u with u'' - lambda u = f, and the values `walls` at z = 1 and -1.
Row solve(double lambda, const Row& f, const std::array<Complex, 2>& walls) {
  const std::size_t n = f.size();
  Row u(n), sum(n);
  std::vector<double> ratio(n), power(n);
  for (const std::size_t parity : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t last = (n - 1 - parity) / 2 * 2 + parity;
    // From the top: u_k = sum_k + ratio_k u_{k-2}.
    for (std::size_t k = last; k >= 2; k -= 2) {
      const auto d = static_cast<double>(k);
      const double low = (k == 2 ? 2 : 1) / (4 * d * (d - 1));
      const double middle = k + 2 < n ? 1 / (2 * (d * d - 1)) : 0;
      const double high = k + 4 < n ? 1 / (4 * d * (d + 1)) : 0;
      Complex right = low * f[k - 2] - middle * f[k];
      double pivot = 1 + lambda * middle;
      if (k + 2 < n) {
        right += high * f[k + 2] + lambda * high * sum[k + 2];
        pivot -= lambda * high * ratio[k + 2];
      }
      sum[k] = right / pivot;
      ratio[k] = lambda * low / pivot;
    }
    // From the bottom: u_k = sum_k + power_k u_0 (or u_1), which the walls give.
    Complex rest = (walls[0] + (parity == 0 ? walls[1] : -walls[1])) / 2.0;
    double total = 1;
    sum[parity] = 0;
    power[parity] = 1;
    for (std::size_t k = parity + 2; k < n; k += 2) {
      sum[k] += ratio[k] * sum[k - 2];
      power[k] = ratio[k] * power[k - 2];
      rest -= sum[k];
      total += power[k];
    }
    for (std::size_t k = parity; k < n; k += 2) {
      u[k] = sum[k] + power[k] * (rest / total);
    }
  }
  return u;
}

struct Problem {
  Extents modes{};  ///< along z: polynomials
  double length_x = 0;
  double length_y = 0;
  double reynolds = 0;
  double dt = 0;

  /// 3/2 of the modes, but for the polynomials.
  Extents points() const { return {(3 * modes[0] + 3) / 2, (3 * modes[1] + 3) / 2, modes[2]}; }
};

class Channel {
 public:
  Channel(const Team& team, const Problem& problem)
      : team_(&team),
        problem_(problem),
        flow_(team, options(6)),
        forces_(team, options_of_forces()),
        size_(static_cast<std::size_t>(problem.modes[2])) {
    for_each_pair([&](const Pair& pair) {
      State state{.w = Row(size_),
                  .phi = Row(size_),
                  .g = Row(size_),
                  .before_w = {},
                  .before_g = {},
                  .wall_phi = {},
                  .wall_w = {}};
      if (pair.k2 > 0) {
        // The solution that has 1 at one wall in phi, without slip in w but for its slope.
        state.wall_phi = solve(lambda(pair), Row(size_), {1, 0});
        state.wall_w = solve(pair.k2, state.wall_phi, {0, 0});
      } else {
        state.g[0] = 0.5;  // of the mean flow g and w have u and v: the parabola 1 - z^2
        state.g[2] = -0.5;
      }
      states_.push_back(std::move(state));
    });
  }

  /// Adds w(x, z) = size (1 - z^2)^2 cos(2 pi x / length_x).
  void disturb(double size) {
    for_each_pair([&](const Pair& pair) {
      if (pair.x == 1 && pair.y == 0) {
        Row& w = states_[pair.index].w;
        w[0] += size / 2 * 3 / 8;
        w[2] -= size / 2 / 2;
        w[4] += size / 2 / 8;
        states_[pair.index].phi = laplacian(pair, w);
      }
    });
  }

  void step() {
    std::vector<Complex> spectrum(6 * static_cast<std::size_t>(flow_.output_stride()));
    for_each_pair([&](const Pair& pair) {
      const std::array<Row, 3> u = velocity(pair);
      const Row du = derivative(u[0]);
      const Row dv = derivative(u[1]);
      std::array<Row, 3> vorticity{Row(size_), Row(size_), Row(size_)};
      for (std::size_t k = 0; k < size_; ++k) {
        vorticity[0][k] = imaginary * pair.ky * u[2][k] - dv[k];
        vorticity[1][k] = du[k] - imaginary * pair.kx * u[2][k];
        vorticity[2][k] = imaginary * (pair.kx * u[1][k] - pair.ky * u[0][k]);
      }
      for (std::size_t i = 0; i < 3; ++i) {
        put(u[i], pair, i, spectrum);
        put(vorticity[i], pair, i + 3, spectrum);
      }
    });
    const auto stride = static_cast<std::size_t>(flow_.input_stride());
    std::vector<double> at(6 * stride);
    flow_.backward(std::span<const Complex>(spectrum), std::span(at));
    const auto stride_of_forces = static_cast<std::size_t>(forces_.input_stride());
    std::vector<double> force(3 * stride_of_forces);
    for (std::size_t p = 0; p < static_cast<std::size_t>(flow_.input().box.count()); ++p) {
      const auto field = [&](std::size_t i) { return at[i * stride + p]; };
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t j = (i + 1) % 3;
        const std::size_t l = (i + 2) % 3;
        force[i * stride_of_forces + p] = field(j) * field(l + 3) - field(l) * field(j + 3);
      }
    }
    std::vector<Complex> forces(3 * static_cast<std::size_t>(forces_.output_stride()));
    forces_.forward(std::span<const double>(force), std::span(forces), Scaling::full);
    for_each_pair([&](const Pair& pair) {
      advance(pair, {get(forces, pair, 0), get(forces, pair, 1), get(forces, pair, 2)});
    });
  }

  /// Of the wave that is as long as the channel the velocity off the walls, in the middle: its amplitude and phase.
  Complex wave() const {
    std::array<double, 2> mine{};
    for_each_pair([&](const Pair& pair) {
      if (pair.x == 1 && pair.y == 0) {
        const Complex middle = value(states_[pair.index].w, 0);
        mine = {middle.real(), middle.imag()};
      }
    });
    Complex sum = 0;
    for (const auto& [re, im] : team_->all_gather(mine)) {
      sum += Complex(re, im);
    }
    return sum;
  }

  /// Velocity `component` without the mean flow, in the plane y = 0, on every rank.
  picture::Panel plane(const std::string& title, std::size_t component) const {
    constexpr std::size_t columns = 192;
    constexpr std::size_t rows = 62;
    std::vector<double> values(columns * rows);
    for_each_pair([&](const Pair& pair) {
      const Row row = pair.k2 > 0 ? velocity(pair)[component] : Row(size_);
      for (std::size_t j = 0; j < rows; ++j) {
        const Complex at_z = value(row, (static_cast<double>(j) + 0.5) / rows * 2 - 1);
        for (std::size_t i = 0; i < columns; ++i) {
          const double x = problem_.length_x * static_cast<double>(i) / columns;
          values[j * columns + i] += (pair.x > 0 ? 2 : 1) * (at_z * std::exp(imaginary * pair.kx * x)).real();
        }
      }
    });
    penstock::gas::all_reduce<double>(*team_, values, std::span(values), penstock::gas::Sum{});
    return {title, std::move(values), columns};
  }

 private:
  /// A pair of wavenumbers of this rank.
  struct Pair {
    std::size_t index;  // among those of this rank
    std::int64_t x;
    std::int64_t y;
    double kx;
    double ky;
    double k2;
  };
  /// What is known for one: of the mean flow u and v in place of g and w.
  struct State {
    Row w, phi, g;
    Row before_w, before_g;  // the forces of the step before
    Row wall_phi, wall_w;
  };

  Options options(int fields) const {
    return {.size = problem_.points(),
            .modes = problem_.modes,
            .type = penstock::fft::Type::r2c,
            .kinds = {std::nullopt, std::nullopt, penstock::fft::RealKind::redft00},
            .batch = fields};
  }
  /// In the parts of the flow.
  Options options_of_forces() const {
    Options forces = options(3);
    forces.input_part = flow_.input();
    forces.output_part = flow_.output();
    return forces;
  }

  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    const auto& [lower, extent] = flow_.output().box;
    std::size_t index = 0;
    for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
      for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
        const double kx = 2 * pi / problem_.length_x * static_cast<double>(x);
        const double ky =
            2 * pi / problem_.length_y * static_cast<double>(penstock::fft::signed_wavenumber(y, problem_.modes[1]));
        visit(Pair{index++, x, y, kx, ky, kx * kx + ky * ky});
      }
    }
  }

  /// A row's place in a spectrum; its transform by cosines has the inner polynomials twice.
  std::size_t begin_of(const Plan<double>& plan, const Pair& pair, std::size_t field) const {
    return field * static_cast<std::size_t>(plan.output_stride()) +
           static_cast<std::size_t>(plan.output().position(pair.x, pair.y, 0));
  }
  void put(const Row& row, const Pair& pair, std::size_t field, std::vector<Complex>& spectrum) const {
    const auto begin = spectrum.begin() + static_cast<std::ptrdiff_t>(begin_of(flow_, pair, field));
    std::ranges::transform(row, begin, [](Complex c) { return c / 2.0; });
    *begin = row.front();
    *(begin + std::ssize(row) - 1) = row.back();
  }
  Row get(const std::vector<Complex>& spectrum, const Pair& pair, std::size_t field) const {
    const auto begin = spectrum.begin() + static_cast<std::ptrdiff_t>(begin_of(forces_, pair, field));
    Row row(begin, begin + static_cast<std::ptrdiff_t>(size_));
    std::for_each(row.begin() + 1, row.end() - 1, [](Complex& c) { c *= 2; });
    return row;
  }

  static Complex value(const Row& row, double z) {
    Complex sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      sum += row[k] * std::cos(static_cast<double>(k) * std::acos(z));
    }
    return sum;
  }

  Row laplacian(const Pair& pair, const Row& row) const {
    Row result = derivative(derivative(row));
    for (std::size_t k = 0; k < size_; ++k) {
      result[k] -= pair.k2 * row[k];
    }
    return result;
  }

  double lambda(const Pair& pair) const { return pair.k2 + 2 * problem_.reynolds / problem_.dt; }

  std::array<Row, 3> velocity(const Pair& pair) const {
    const State& state = states_[pair.index];
    if (pair.k2 == 0) {
      return {state.g, state.w, Row(size_)};
    }
    const Row dw = derivative(state.w);
    std::array<Row, 3> u{Row(size_), Row(size_), state.w};
    for (std::size_t k = 0; k < size_; ++k) {
      u[0][k] = imaginary * (pair.kx * dw[k] + pair.ky * state.g[k]) / pair.k2;
      u[1][k] = imaginary * (pair.ky * dw[k] - pair.kx * state.g[k]) / pair.k2;
    }
    return u;
  }

  /// The row a step later, with the values `walls` there, under the forces of this step and the one before, which are
  /// exchanged.
  Row advanced(const Pair& pair, const Row& row, Row force, Row& before) const {
    if (before.empty()) {
      before = force;
    }
    Row right = laplacian(pair, row);
    for (std::size_t k = 0; k < size_; ++k) {
      right[k] = -2 * problem_.reynolds / problem_.dt * row[k] - right[k] -
                 2 * problem_.reynolds * (1.5 * force[k] - 0.5 * before[k]);
    }
    before = std::move(force);
    return solve(lambda(pair), right, {0, 0});
  }

  void advance(const Pair& pair, const std::array<Row, 3>& force) {
    State& state = states_[pair.index];
    if (pair.k2 == 0) {
      Row driven = force[0];
      driven[0] += 2 / problem_.reynolds;  // the pressure that keeps 1 - z^2
      state.g = advanced(pair, state.g, std::move(driven), state.before_g);
      state.w = advanced(pair, state.w, force[1], state.before_w);
      return;
    }
    Row of_g(size_), along(size_);
    for (std::size_t k = 0; k < size_; ++k) {
      of_g[k] = imaginary * (pair.kx * force[1][k] - pair.ky * force[0][k]);
      along[k] = imaginary * (pair.kx * force[0][k] + pair.ky * force[1][k]);
    }
    Row of_phi = derivative(along);
    for (std::size_t k = 0; k < size_; ++k) {
      of_phi[k] = -of_phi[k] - pair.k2 * force[2][k];
    }
    state.g = advanced(pair, state.g, std::move(of_g), state.before_g);
    state.phi = advanced(pair, state.phi, std::move(of_phi), state.before_w);
    state.w = solve(pair.k2, state.phi, {0, 0});
    // No slip: w has no slope at the walls. What has 1 at the other wall is the mirror image of the first.
    const auto [at_upper, at_lower] = at_walls(derivative(state.w));
    const auto [upper, lower] = at_walls(derivative(state.wall_w));
    const Complex determinant = lower * lower - upper * upper;
    const std::array<Complex, 2> share{(at_upper * upper - at_lower * lower) / determinant,
                                       (at_upper * lower - at_lower * upper) / determinant};
    for (std::size_t k = 0; k < size_; ++k) {
      const Complex both = share[0] + (k % 2 == 0 ? share[1] : -share[1]);
      state.w[k] += both * state.wall_w[k];
      state.phi[k] += both * state.wall_phi[k];
    }
  }

  const Team* team_;
  Problem problem_;
  Plan<double> flow_;    // u, v, w and the vorticity
  Plan<double> forces_;  // H
  std::size_t size_;     // polynomials
  std::vector<State> states_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    const Team world = penstock::gas::world_of(MPI_COMM_WORLD);
    constexpr double dt = 0.05;
    Channel channel(world, {.modes = {5, 1, 65}, .length_x = 2 * pi, .length_y = 2 * pi, .reynolds = 7500, .dt = dt});
    channel.disturb(1e-6);
    const auto run = [&](int steps) {
      for (int i = 0; i < steps; ++i) {
        channel.step();
      }
    };
    run(3000);  // until other waves have died out
    Complex rate = 0;
    constexpr int spans = 20;
    for (int span = 0; span < spans; ++span) {
      const Complex before = channel.wave();
      run(40);
      rate += std::log(channel.wave() / before) / (spans * 40 * dt);
    }
    const Complex omega = imaginary * rate;
    const Complex expected{0.24989154, 0.00223498};
    is_right = std::abs(omega - expected) < 2e-5;
    if (world.rank() == 0) {
      std::printf("a wave at Reynolds number 7500: omega = %.7f + %.7f i, expected %.7f + %.7f i\n", omega.real(),
                  omega.imag(), expected.real(), expected.imag());
    }
    if (argc > 1) {
      const std::vector<picture::Panel> panels{channel.plane("velocity of the wave along the channel", 0),
                                               channel.plane("velocity off the walls", 2)};
      if (world.rank() == 0) {
        picture::draw(argv[1], panels);
      }
    }
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "channel: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
