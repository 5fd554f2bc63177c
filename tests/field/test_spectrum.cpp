// The low-pass filter and the radial power spectrum, on waves and noise whose answers are known.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "penstock/field/field.hpp"
#include "tests/worlds.hpp"

namespace penstock::field {
namespace {

using gas::on_worlds;
using gas::Team;

template <class Real>
Fields<Real> make_fields(const Team& team, const Extents& size, fft::Type type, fft::Output output) {
  fft::Options options;
  options.size = size;
  options.type = type;
  options.output = output;
  options.effort = fft::Effort::estimate;
  return Fields<Real>(team, options);
}

/// What is the same for both types, layouts and precisions.
template <class Body>
void for_each_kind(const Body& body) {
  on_worlds({1, 2, 3, 4}, [&](Team& team) {
    for (const Extents& size : {Extents{8, 6, 10}, Extents{9, 7, 5}, Extents{1, 12, 3}}) {
      for (const fft::Type type : {fft::Type::c2c, fft::Type::r2c}) {
        for (const fft::Output output : {fft::Output::transposed, fft::Output::as_input}) {
          body(team, size, type, make_fields<double>(team, size, type, output), 1e-12);
          body(team, size, type, make_fields<float>(team, size, type, output), 1e-5);
        }
      }
    }
  });
}

TEST(LowPass, KeepsWavesWithinTheRadiusAndNoOthers) {
  for_each_kind([](Team& team, const Extents& size, fft::Type type, auto fields, double tolerance) {
    // Of wavenumbers 0 and (-1, 0, 1) within a radius of 1.5; (2, 0, 0), (0, -2, 0) and (1, 1, 1) outside of it.
    const auto [nx, ny, nz] = size;
    const std::vector<Wave> low{{{0, 0, 0}, {2, 0}}, {{(nx - 1) % nx, 0, 1}, {0.5, 1}}};
    std::vector<Wave> all = low;
    all.push_back({{0, ny - 2, 0}, {3, -1}});
    if (nx > 4) {
      all.push_back({{2, 0, 0}, {1, 1}});
      all.push_back({{1, 1, 1}, {-1, 2}});
    }
    fields.fill(*make_waves(size, type, all));
    fields.forward(fft::Scaling::symmetric);
    const auto whole = filter_low_pass(size, type, fields.plan().output(), fields.spectrum(0), 1e9);
    const auto kept = filter_low_pass(size, type, fields.plan().output(), fields.spectrum(0), 1.5);
    fields.backward(fft::Scaling::symmetric);
    std::vector<double> expected(fields.numbers(0).size());
    make_waves(size, type, low)->fill(fields.plan().input().box, 0, std::span(expected));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(fields.numbers(0)[i], expected[i], tolerance);
    }
    double all_modes = 0;
    double all_kept = 0;
    for (const double modes : team.all_gather(whole)) {
      all_modes += modes;
    }
    for (const double modes : team.all_gather(kept)) {
      all_kept += modes;
    }
    EXPECT_EQ(all_modes, static_cast<double>(nx * ny * nz));
    // 0, 6 neighbours (4 in a plane) and 12 at a distance of sqrt(2) (4 in a plane).
    EXPECT_EQ(all_kept, nx > 1 ? 19 : 9);
  });
}

TEST(RadialSpectrum, AddsUpToTheMeanSquareAndToAllModes) {
  for_each_kind([](Team& team, const Extents& size, fft::Type type, auto fields, double tolerance) {
    fields.fill(*make_noise(size, type));
    double square = 0;
    for (const auto number : fields.numbers(0)) {
      square += static_cast<double>(number) * static_cast<double>(number);
    }
    double mean_square = 0;
    const auto points = static_cast<double>(size[0] * size[1] * size[2]);
    for (const double part : team.all_gather(square)) {
      mean_square += part / points;
    }
    for (const fft::Scaling scaling : {fft::Scaling::none, fft::Scaling::symmetric, fft::Scaling::full}) {
      fields.forward(scaling);
      const auto spectrum = fields.spectrum(0);
      using Complex = typename decltype(spectrum)::value_type;
      const RadialSpectrum sums =
          sum_shells(team, size, type, fields.plan().output(), std::span<const Complex>(spectrum), scaling);
      EXPECT_NEAR(std::accumulate(sums.power.begin(), sums.power.end(), 0.0), mean_square, tolerance);
      EXPECT_EQ(std::accumulate(sums.modes.begin(), sums.modes.end(), 0.0), points);
      fields.backward(inverse(scaling));
    }
  });
}

TEST(RadialSpectrum, HasAWaveInTheShellOfItsWavenumber) {
  on_worlds({1, 3}, [](Team& team) {
    const Extents size{12, 9, 10};
    const std::vector<Wave> waves{{{3, 7, 1}, {3, 4}}};  // (3, -2, 1): sqrt(14) rounds to 4
    for (const fft::Type type : {fft::Type::c2c, fft::Type::r2c}) {
      auto fields = make_fields<double>(team, size, type, fft::Output::transposed);
      fields.fill(*make_waves(size, type, waves));
      fields.forward(fft::Scaling::none);
      const RadialSpectrum sums =
          sum_shells(team, size, type, fields.plan().output(),
                     std::span<const std::complex<double>>(fields.spectrum(0)), fft::Scaling::none);
      ASSERT_EQ(sums.power.size(), 10U);  // sqrt(6^2 + 4^2 + 5^2) = 8.8
      for (std::size_t k = 0; k < sums.power.size(); ++k) {
        const double expected = k != 4 ? 0 : type == fft::Type::c2c ? 25 : 12.5;
        EXPECT_NEAR(sums.power[k], expected, 1e-12) << k;
      }
      EXPECT_EQ(sums.modes[0], 1);
      EXPECT_EQ(sums.modes[1], 18);  // 6 of length 1 and 12 of length sqrt(2)
    }
  });
}

}  // namespace
}  // namespace penstock::field
