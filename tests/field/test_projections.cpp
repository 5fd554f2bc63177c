// Random projections of fields are those of their spectra by the definition, and tell how large an error is.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <optional>
#include <random>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/field/projections.hpp"
#include "tests/definition.hpp"

namespace penstock::field {
namespace {

using Numbers = std::vector<double>;

/// A field of noise as [z][y][x], and its stored spectrum by the definition.
struct Example {
  explicit Example(const fft::Options& the_options)
      : options(the_options), points(options.size), modes(fft::spectrum_points(options)) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    std::vector<std::complex<double>> values;
    for (std::int64_t i = 0; i < points[0] * points[1] * points[2]; ++i) {
      field.push_back(normal(generator));
      values.emplace_back(field.back());
      if (options.type == fft::Type::c2c) {
        field.push_back(normal(generator));
        values.back().imag(field.back());
      }
    }
    std::array<std::optional<transform::Kind>, 3> kinds;
    for (std::size_t d = 0; d < 3; ++d) {
      if (options.along[d]) {
        const auto kind = fft::real_kind(options, static_cast<int>(d));
        kinds[d] = kind ? static_cast<transform::Kind>(fft::row_kind_of(*kind)) : transform::Kind::forward;
      }
    }
    values = transform::by_definition(points, kinds, values);
    for (std::int64_t z = 0; z < modes[2]; ++z) {
      for (std::int64_t y = 0; y < modes[1]; ++y) {
        for (std::int64_t x = 0; x < modes[0]; ++x) {
          const auto value = values[static_cast<std::size_t>((z * points[1] + y) * points[0] + x)];
          spectrum.push_back(value.real());
          if (options.type != fft::Type::r2r) {
            spectrum.push_back(value.imag());
          }
        }
      }
    }
  }

  /// The root mean square of what projections differ by.
  double difference(const Numbers& found) const {
    const Projector projector(options);
    const auto of_field = projector.of_field<double>({{{0, 0, 0}, points}, {2, 1, 0}}, field);
    const auto of_spectrum = projector.of_spectrum<double>({{{0, 0, 0}, modes}, {2, 1, 0}}, found);
    double sum = 0;
    for (std::size_t p = 0; p < projections; ++p) {
      sum += static_cast<double>(std::norm(of_field[p] - of_spectrum[p])) / projections;
    }
    return std::sqrt(sum);
  }

  fft::Options options;
  Extents points;
  Extents modes;
  Numbers field;
  Numbers spectrum;
};

double norm(const Numbers& numbers) {
  double sum = 0;
  for (const double number : numbers) {
    sum += number * number;
  }
  return std::sqrt(sum);
}

double distance(Numbers a, const Numbers& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= b[i];
  }
  return norm(a);
}

fft::Options options_of(const Extents& size, fft::Type type, std::array<bool, 3> along = {true, true, true}) {
  fft::Options options;
  options.size = size;
  options.type = type;
  options.along = along;
  return options;
}

std::vector<fft::Options> all_options() {
  std::vector<fft::Options> all;
  for (const Extents& size : {Extents{12, 9, 10}, Extents{7, 1, 16}, Extents{1, 2, 1}, Extents{64, 3, 5}}) {
    for (const fft::Type type : {fft::Type::c2c, fft::Type::r2c}) {
      all.push_back(options_of(size, type));
      all.push_back(options_of(size, type, {false, true, false}));
      all.push_back(options_of(size, type, {false, true, true}));
    }
  }
  for (int kind = 0; kind < 8; ++kind) {
    fft::Options options = options_of({9, 6, 11}, fft::Type::r2r, {true, true, kind % 2 == 0});
    options.kinds = {static_cast<fft::RealKind>(kind), static_cast<fft::RealKind>((kind + 1) % 8),
                     static_cast<fft::RealKind>((kind + 5) % 8)};
    all.push_back(options);
  }
  return all;
}

TEST(Projections, OfAFieldAreThoseOfItsSpectrum) {
  for (const fft::Options& options : all_options()) {
    const Example example(options);
    EXPECT_LT(example.difference(example.spectrum), 1e-15 * norm(example.spectrum))
        << options.size[0] << " " << options.size[1] << " " << options.size[2] << " " << static_cast<int>(options.type);
  }
}

TEST(Projections, TellHowWrongASpectrumIs) {
  for (const fft::Options& options : all_options()) {
    const Example example(options);
    const Numbers& right = example.spectrum;
    if (right.size() < 8) {
      continue;
    }
    std::vector<Numbers> wrong(6, right);
    wrong[0][right.size() / 3] += 1e-3;
    std::swap(wrong[1][2], wrong[1][right.size() - 4]);
    for (double& number : wrong[2]) {
      number *= 1 + 1e-6;
    }
    std::rotate(wrong[3].begin(), wrong[3].begin() + 2, wrong[3].end());
    for (std::size_t i = 1; i < right.size(); i += 2) {
      wrong[4][i] = -wrong[4][i];
    }
    std::mt19937 generator(3);
    std::normal_distribution<double> normal(0, 1e-9);
    for (double& number : wrong[5]) {
      number += normal(generator);
    }
    for (const Numbers& found : wrong) {
      const double error = distance(found, right);
      EXPECT_GE(example.difference(found), error / 8);
      EXPECT_LE(example.difference(found), error * 4);
    }
  }
}

// A field cut into parts, in whatever order, has the sum of their projections.
TEST(Projections, OfPartsAddUp) {
  const fft::Options options = options_of({6, 5, 4}, fft::Type::c2c);
  const Example example(options);
  const Projector projector(options);
  const auto whole = projector.of_field<double>({{{0, 0, 0}, {6, 5, 4}}, {2, 1, 0}}, example.field);
  Projections sum;
  for (const auto& [lower, extent] : {fft::Box{{0, 0, 0}, {6, 2, 4}}, fft::Box{{0, 2, 0}, {6, 3, 4}}}) {
    const Distribution part{{lower, extent}, {0, 2, 1}};
    Numbers numbers(static_cast<std::size_t>(2 * part.box.count()));
    for (std::int64_t z = 0; z < extent[2]; ++z) {
      for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
        for (std::int64_t x = 0; x < extent[0]; ++x) {
          for (std::int64_t c = 0; c < 2; ++c) {
            numbers[static_cast<std::size_t>(2 * part.position(x, y, z) + c)] =
                example.field[static_cast<std::size_t>(2 * ((z * 5 + y) * 6 + x) + c)];
          }
        }
      }
    }
    const Projections of_part = projector.of_field<double>(part, numbers);
    for (std::size_t p = 0; p < projections; ++p) {
      sum[p] += of_part[p];
    }
  }
  for (std::size_t p = 0; p < projections; ++p) {
    EXPECT_LT(std::abs(sum[p] - whole[p]), 1e-16L);
  }
}

}  // namespace
}  // namespace penstock::field
