// Fields that are computed: the same on any part, and what their formulas say.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "penstock/field/field.hpp"

namespace penstock::field {
namespace {

constexpr Extents size{5, 4, 3};
constexpr fft::Box whole{{0, 0, 0}, size};

std::vector<double> values(const Source& source, const fft::Box& box, int index, int components) {
  std::vector<double> numbers(static_cast<std::size_t>(box.count() * components));
  source.fill(box, index, std::span(numbers));
  return numbers;
}

TEST(Noise, IsTheSameOnAnyPartOfTheField) {
  const auto source = make_noise(size, fft::Type::c2c);
  const auto all = values(*source, whole, 1, 2);
  const fft::Box part{{1, 2, 1}, {3, 2, 2}};
  const auto some = values(*source, part, 1, 2);
  std::size_t i = 0;
  for (std::int64_t z = 1; z < 3; ++z) {
    for (std::int64_t y = 2; y < 4; ++y) {
      for (std::int64_t x = 1; x < 4; ++x) {
        const auto point = static_cast<std::size_t>(2 * ((z * 4 + y) * 5 + x));
        EXPECT_EQ(some[i++], all[point]);
        EXPECT_EQ(some[i++], all[point + 1]);
      }
    }
  }
}

TEST(Noise, RepeatsNoValueAndDiffersBetweenTheFieldsOfABatch) {
  const auto source = make_noise(size, fft::Type::c2c);
  std::set<double> seen;
  for (const int index : {0, 1}) {
    for (const double value : values(*source, whole, index, 2)) {
      EXPECT_GE(value, -1);
      EXPECT_LT(value, 1);
      EXPECT_TRUE(seen.insert(value).second);
    }
  }
}

TEST(Waves, HaveTheValuesOfTheirFormula) {
  const std::vector<Wave> waves{{{1, 2, 0}, {1.5, -0.5}}, {{4, 0, 2}, {0, 1}}};
  const auto complex_values = values(*make_waves(size, fft::Type::c2c, waves), whole, 0, 2);
  const auto real_values = values(*make_waves(size, fft::Type::r2c, waves), whole, 0, 1);
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        const auto turn = [](std::size_t k, std::size_t i, double n) { return static_cast<double>(k * i) / n; };
        const auto wave = [](double turns) { return std::polar(1.0, 2 * std::numbers::pi * turns); };
        const auto expected = std::complex<double>(1.5, -0.5) * wave(turn(1, x, 5) + turn(2, y, 4)) +
                              std::complex<double>(0, 1) * wave(turn(4, x, 5) + turn(2, z, 3));
        const std::size_t point = (z * 4 + y) * 5 + x;
        EXPECT_NEAR(complex_values[2 * point], expected.real(), 1e-14);
        EXPECT_NEAR(complex_values[2 * point + 1], expected.imag(), 1e-14);
        EXPECT_NEAR(real_values[point], expected.real(), 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace penstock::field
