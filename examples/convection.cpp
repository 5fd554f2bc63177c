// Convection between two plates without friction, heated below: mpirun -n 2 ./convection [PICTURE.png]
//
// Rayleigh and Benard's layer at infinite Prandtl number. With temperature 1 - z + theta, the flow is Stokes', and
//   d theta/dt + u . grad theta = w + laplacian theta,   laplacian^2 w = -Ra (d^2/dx^2 + d^2/dy^2) theta.
// Each direction has its own kind of transform: Fourier along x and y; along z sines for w and theta, cosines for u, v
// and d theta/dz, at centres of cells. Products are taken on a grid of 3/2 of the modes. Time goes by exponential
// steps of order 2 (Cox and Matthews, J. Comput. Phys. 176, 2002, eqs. 20 and 22), which keep what stands still.
//
// Just above the critical Rayleigh number, 27 pi^4 / 4 (Rayleigh 1916), rolls carry heat: the Nusselt number is 1 +
// 2 (1 - Ra_c / Ra), up to the square of that (Malkus and Veronis 1958). When they stand still, as much heat passes the
// plate as is carried across the layer.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
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

using Complex = std::complex<double>;
using penstock::fft::Distribution;
using penstock::fft::Extents;
using penstock::fft::Plan;
using penstock::fft::RealKind;
using penstock::gas::Team;
using std::numbers::pi;

constexpr double critical = 27 * pi * pi * pi * pi / 4;
const double critical_wave = pi / std::sqrt(2.0);

struct Layer {
  Extents modes{};  ///< along z: sines of 1 to so many half waves
  double length_x = 0;
  double length_y = 0;
  double rayleigh = 0;
  double dt = 0;

  /// Points in a direction: 3/2 of the modes.
  Extents points() const {
    Extents n{};
    for (std::size_t d = 0; d < 3; ++d) {
      n[d] = (3 * modes[d] + 3) / 2;
    }
    return n;
  }
};

class Convection {
 public:
  Convection(const Team& team, const Layer& layer)
      : team_(&team),
        layer_(layer),
        sines_(team, options(RealKind::rodft10, 3)),
        cosines_(team, options_of_cosines()),
        one_(team, options_of_one()),
        theta_(static_cast<std::size_t>(sines_.output().box.count())) {
    for (std::size_t d = 0; d < 3; ++d) {
      scale_ *= static_cast<double>(layer_.points()[d]);
    }
  }

  /// Begins with temperatures theta(x, y, z); each direction runs from 0 to its length, z to 1.
  template <class Theta>
  void begin(const Theta& theta) {
    std::vector<double> field(static_cast<std::size_t>(one_.input_stride()));
    const auto& [lower, extent] = one_.input().box;
    const Extents n = layer_.points();
    for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
      for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
        for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
          field[static_cast<std::size_t>(one_.input().position(x, y, z))] =
              theta(layer_.length_x * static_cast<double>(x) / static_cast<double>(n[0]),
                    layer_.length_y * static_cast<double>(y) / static_cast<double>(n[1]),
                    (static_cast<double>(z) + 0.5) / static_cast<double>(n[2]));
        }
      }
    }
    one_.forward(std::span<const double>(field), std::span(theta_));
  }

  void step() {
    const std::vector<Complex> begin = rate(theta_);
    for_each_mode([&](std::size_t i, double kx, double ky, double kz, double) {
      const double x = growth(kx * kx + ky * ky, kz) * layer_.dt;
      theta_[i] = std::exp(x) * theta_[i] + layer_.dt * first(x) * begin[i];
    });
    const std::vector<Complex> end = rate(theta_);
    for_each_mode([&](std::size_t i, double kx, double ky, double kz, double) {
      const double x = growth(kx * kx + ky * ky, kz) * layer_.dt;
      theta_[i] += layer_.dt * second(x) * (end[i] - begin[i]);
    });
  }

  /// The heat that passes the lower plate, and that is carried and conducted across the layer.
  std::array<double, 2> nusselt() const {
    double plate = 0;
    double carried = 0;
    for_each_mode([&](std::size_t i, double kx, double ky, double kz, double weight) {
      const double kh2 = kx * kx + ky * ky;
      if (kh2 == 0) {
        plate -= kz * theta_[i].real() / scale_;
      }
      carried += weight / 2 * vertical(kh2, kz) * std::norm(theta_[i]) / (scale_ * scale_);
    });
    std::array<double, 2> sums{1, 1};
    for (const auto& part : team_->all_gather(std::array{plate, carried})) {
      sums[0] += part[0];
      sums[1] += part[1];
    }
    return sums;
  }

  /// The temperature in the plane y = 0, on every rank.
  picture::Panel plane(const std::string& title) {
    std::vector<double> field(static_cast<std::size_t>(one_.input_stride()));
    std::vector<Complex> spectrum = theta_;
    one_.backward(std::span<const Complex>(spectrum), std::span(field), penstock::fft::Scaling::full);
    const Extents n = layer_.points();
    std::vector<double> values(static_cast<std::size_t>(n[0] * n[2]), -1e300);
    const auto& [lower, extent] = one_.input().box;
    for (std::int64_t z = lower[2]; lower[1] == 0 && extent[1] > 0 && z < lower[2] + extent[2]; ++z) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        values[static_cast<std::size_t>(z * n[0] + x)] =
            1 - (static_cast<double>(z) + 0.5) / static_cast<double>(n[2]) +
            field[static_cast<std::size_t>(one_.input().position(x, 0, z))];
      }
    }
    picture::gather(*team_, values);
    return {title, std::move(values), static_cast<std::size_t>(n[0])};
  }

 private:
  penstock::fft::Options options(RealKind along_z, int fields) const {
    return {.size = layer_.points(),
            .modes = layer_.modes,
            .type = penstock::fft::Type::r2c,
            .kinds = {std::nullopt, std::nullopt, along_z},
            .batch = fields};
  }
  /// In the same parts as the sines, with one mode more along z: the mean comes first.
  penstock::fft::Options options_of_cosines() const {
    penstock::fft::Options cosines = options(RealKind::redft10, 3);
    cosines.modes[2] += 1;
    cosines.input_part = sines_.input();
    cosines.output_part = sines_.output();
    cosines.output_part->box.extent[2] += 1;
    return cosines;
  }
  penstock::fft::Options options_of_one() const {
    penstock::fft::Options one = options(RealKind::rodft10, 1);
    one.input_part = sines_.input();
    one.output_part = sines_.output();
    return one;
  }

  /// w of a mode of theta, as a factor.
  double vertical(double kh2, double kz) const {
    const double k2 = kh2 + kz * kz;
    return layer_.rayleigh * kh2 / (k2 * k2);
  }

  /// Calls visit(position among the sines, kx, ky, kz, weight) for each mode of this rank; kz is that of a sine.
  template <class Visit>
  void for_each_mode(const Visit& visit) const {
    const auto& [lower, extent] = sines_.output().box;
    for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
      const double kx = 2 * pi / layer_.length_x * static_cast<double>(x);
      for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
        const double ky =
            2 * pi / layer_.length_y * static_cast<double>(penstock::fft::signed_wavenumber(y, layer_.modes[1]));
        for (std::int64_t z = 0; z < extent[2]; ++z) {
          visit(static_cast<std::size_t>(sines_.output().position(x, y, z)), kx, ky, pi * static_cast<double>(z + 1),
                x > 0 ? 2.0 : 1.0);
        }
      }
    }
  }

  /// How fast a mode of theta grows by itself.
  double growth(double kh2, double kz) const { return vertical(kh2, kz) - kh2 - kz * kz; }

  /// (exp(x) - 1) / x and (exp(x) - 1 - x) / x^2.
  static double first(double x) { return x == 0 ? 1 : std::expm1(x) / x; }
  static double second(double x) {
    return std::abs(x) < 1e-3 ? 0.5 + x / 6 + x * x / 24 : (std::expm1(x) - x) / (x * x);
  }

  /// -u . grad theta of some temperatures.
  std::vector<Complex> rate(const std::vector<Complex>& theta) {
    constexpr Complex imaginary{0, 1};
    const auto sine_stride = static_cast<std::size_t>(sines_.output_stride());
    const auto cosine_stride = static_cast<std::size_t>(cosines_.output_stride());
    std::vector<Complex> of_sines(3 * sine_stride);      // w, d theta/dx, d theta/dy
    std::vector<Complex> of_cosines(3 * cosine_stride);  // u, v, d theta/dz
    const auto half_waves = static_cast<std::size_t>(sines_.output().box.extent[2]);
    for_each_mode([&](std::size_t i, double kx, double ky, double kz, double) {
      const double kh2 = kx * kx + ky * ky;
      const Complex w = vertical(kh2, kz) * theta[i];
      of_sines[i] = w;
      of_sines[sine_stride + i] = imaginary * kx * theta[i];
      of_sines[2 * sine_stride + i] = imaginary * ky * theta[i];
      // Rows of cosines are longer by the mean, which is first.
      const std::size_t j = i / half_waves * (half_waves + 1) + i % half_waves + 1;
      const Complex across = kh2 == 0 ? 0 : imaginary * kz * w / kh2;
      of_cosines[j] = kx * across;
      of_cosines[cosine_stride + j] = ky * across;
      of_cosines[2 * cosine_stride + j] = kz * theta[i];
    });
    const auto stride = static_cast<std::size_t>(sines_.input_stride());
    const auto stride_of_cosines = static_cast<std::size_t>(cosines_.input_stride());
    std::vector<double> odd(3 * stride);
    std::vector<double> even(3 * stride_of_cosines);
    sines_.backward(std::span<const Complex>(of_sines), std::span(odd), penstock::fft::Scaling::full);
    cosines_.backward(std::span<const Complex>(of_cosines), std::span(even), penstock::fft::Scaling::full);
    std::vector<double> product(static_cast<std::size_t>(one_.input_stride()));
    for (std::size_t i = 0; i < static_cast<std::size_t>(one_.input().box.count()); ++i) {
      product[i] = -(even[i] * odd[stride + i] + even[stride_of_cosines + i] * odd[2 * stride + i] +
                     odd[i] * even[2 * stride_of_cosines + i]);
    }
    std::vector<Complex> rates(theta.size());
    one_.forward(std::span<const double>(product), std::span(rates));
    return rates;
  }

  const Team* team_;
  Layer layer_;
  Plan<double> sines_;
  Plan<double> cosines_;
  Plan<double> one_;
  std::vector<Complex> theta_;
  double scale_ = 1;  // the coefficient of a wave of amplitude 1, but for the halves of cosines
};

bool check(const Team& team) {
  constexpr double above = 1.01;
  const double wave = 2 * pi / critical_wave;
  Convection flow(team,
                  {.modes = {7, 1, 7}, .length_x = wave, .length_y = wave, .rayleigh = above * critical, .dt = 0.1});
  flow.begin([](double x, double, double z) { return 0.03 * std::cos(critical_wave * x) * std::sin(pi * z); });
  for (int step = 0; step < 1200; ++step) {
    flow.step();
  }
  const std::array<double, 2> nusselt = flow.nusselt();
  const double expected = 2 * (1 - 1 / above);
  const double error = std::abs((nusselt[1] - 1) / expected - 1);
  const double imbalance = std::abs(nusselt[0] - nusselt[1]);
  if (team.rank() == 0) {
    std::printf(
        "1 %% above the critical Rayleigh number: Nusselt number %.6f, by theory %.6f; plate and layer differ by "
        "%.1e\n",
        nusselt[1], 1 + expected, imbalance);
  }
  return error < 2 * (above - 1) && imbalance < 1e-10;
}

/// Plumes at 30 times the critical Rayleigh number.
void draw(const Team& team, const std::string& path) {
  const double wave = 2 * pi / critical_wave;
  const double dt = 4e-5;
  const int steps = 1800;
  Convection flow(
      team, {.modes = {85, 5, 41}, .length_x = 2 * wave, .length_y = wave / 2, .rayleigh = 30 * critical, .dt = dt});
  flow.begin([](double x, double y, double z) {
    return 0.02 * std::sin(pi * z) *
           (std::cos(critical_wave * x) + 0.5 * std::cos(1.5 * critical_wave * x + 1) +
            0.3 * std::sin(2 * critical_wave * y));
  });
  std::vector<picture::Panel> panels;
  for (int step = 0; step <= steps; ++step) {
    if (step == steps / 3 || step == steps) {
      std::array<char, 40> title{};
      std::snprintf(title.data(), title.size(), "temperature, time %.3f", dt * step);
      panels.push_back(flow.plane(title.data()));
    }
    flow.step();
  }
  const std::array<double, 2> nusselt = flow.nusselt();
  if (team.rank() == 0) {
    std::printf("30 times the critical Rayleigh number: Nusselt number %.2f at the plate, %.2f across\n", nusselt[0],
                nusselt[1]);
    picture::draw(path, panels);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool is_right = false;
  try {
    const Team world = penstock::gas::world_of(MPI_COMM_WORLD);
    is_right = check(world);
    if (argc > 1) {
      draw(world, argv[1]);
    }
  } catch (const penstock::Error& error) {
    std::fprintf(stderr, "convection: %s\n", error.what());
  }
  MPI_Finalize();
  return is_right ? 0 : 1;
}
