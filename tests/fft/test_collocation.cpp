// A collocation is backward, the user's function of the points and forward; with fewer modes than points, products are
// those of the fields' modes, without aliases.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "tests/fails_with.hpp"
#include "tests/fft/reference.hpp"
#include "tests/worlds.hpp"

namespace penstock::fft {
namespace {

using Complex = std::complex<double>;

/// Some coefficient for each mode and field.
Complex coefficient(std::int64_t kx, std::int64_t ky, std::int64_t kz, std::size_t field) {
  const auto number = static_cast<std::uint64_t>((kx + 64) * 16384 + (ky + 64) * 128 + kz + 64);
  return {noise(2 * number + field * 1000003), noise(2 * number + 1 + field * 1000003)};
}

/// Calls `visit(position, kx, ky, kz)` for the modes of a part, with their wavenumbers.
template <class Visit>
void for_each_mode(const Extents& modes, const Distribution& part, const Visit& visit) {
  const auto& [lower, extent] = part.box;
  for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
        visit(static_cast<std::size_t>(part.position(x, y, z)), signed_wavenumber(x, modes[0]),
              signed_wavenumber(y, modes[1]), signed_wavenumber(z, modes[2]));
      }
    }
  }
}

/// The coefficient of a product: the sum over all pairs of modes, of odd numbers, whose wavenumbers add up.
Complex of_product(const Extents& modes, std::int64_t kx, std::int64_t ky, std::int64_t kz) {
  const auto [mx, my, mz] = std::array{modes[0] / 2, modes[1] / 2, modes[2] / 2};
  Complex sum = 0;
  for (std::int64_t px = std::max(-mx, kx - mx); px <= std::min(mx, kx + mx); ++px) {
    for (std::int64_t py = std::max(-my, ky - my); py <= std::min(my, ky + my); ++py) {
      for (std::int64_t pz = std::max(-mz, kz - mz); pz <= std::min(mz, kz + mz); ++pz) {
        sum += coefficient(px, py, pz, 0) * coefficient(kx - px, ky - py, kz - pz, 1);
      }
    }
  }
  return sum;
}

// The 3/2 rule: two interleaved fields become their product and a constant.
TEST(Collocation, MultipliesFieldsWithoutAliases) {
  gas::on_worlds({1, 2, 3, 4}, [](gas::Team& team) {
    const Extents modes{5, 7, 9};
    Options options = estimated({8, 11, 14});
    options.modes = modes;
    options.batch = 2;
    options.is_interleaved = true;
    options.collocates = true;
    options.threads = 2;
    Plan<double> plan(team, options);
    std::vector<Complex> spectra(static_cast<std::size_t>(plan.output().elements()));
    for_each_mode(modes, plan.output(), [&](std::size_t position, std::int64_t kx, std::int64_t ky, std::int64_t kz) {
      spectra[position] = coefficient(kx, ky, kz, 0);
      spectra[position + 1] = coefficient(kx, ky, kz, 1);
    });
    const std::vector<Complex> before = spectra;
    std::vector<Complex> products(spectra.size());
    plan.collocate(std::span<const Complex>(spectra), std::span(products),
                   [](std::int64_t, std::int64_t, std::span<Complex> row) {
                     for (std::size_t i = 0; i < row.size(); i += 2) {
                       row[i] *= row[i + 1];
                       row[i + 1] = 1;
                     }
                   });
    EXPECT_EQ(spectra, before);
    ErrorSums sums;
    for_each_mode(modes, plan.output(), [&](std::size_t position, std::int64_t kx, std::int64_t ky, std::int64_t kz) {
      const Complex expected = of_product(modes, kx, ky, kz);
      const Complex one = kx == 0 && ky == 0 && kz == 0 ? 1 : 0;
      sums.difference += std::norm(products[position] - expected) + std::norm(products[position + 1] - one);
      sums.reference += std::norm(expected);
    });
    EXPECT_LE(relative_error(team, sums), tolerance<double>(options.size));
  });
}

// Rows are told by their indices, in the sequence of the directions; in place, planes in cache on both sides or not.
TEST(Collocation, IsBackwardTheFunctionAndForward) {
  gas::on_worlds({1, 2, 3, 4, 6}, [](gas::Team& team) {
    for (const Grid& grid : {Grid{}, Grid{team.size(), 1}}) {
      for (const std::int64_t cache_bytes : {std::int64_t{1} << 25, std::int64_t{1} << 10}) {
        Options options = estimated({12, 10, 9});
        options.type = Type::r2c;
        options.sequence = {2, 0, 1};
        options.grid = grid;
        options.modes = {8, 7, 6};
        options.machine = machine::detect();
        options.machine->node.cache_bytes = cache_bytes;
        options.collocates = true;
        Plan<double> plan(team, options);
        const auto weight = [](std::int64_t x, std::int64_t y, std::int64_t z) {
          return 1 + 0.5 * static_cast<double>(x) - 0.25 * static_cast<double>(y * z);
        };
        std::vector<double> field(static_cast<std::size_t>(2 * std::max(plan.input_stride(), plan.output_stride())));
        for_each_point(options.size, plan.input(),
                       [&](std::size_t position, std::size_t number) { field[position] = noise(number); });
        std::vector<Complex> spectrum(static_cast<std::size_t>(plan.output_stride())), expected(spectrum.size());
        plan.forward(std::span<const double>(field), std::span(spectrum), Scaling::full);
        plan.backward(std::span<const Complex>(spectrum), std::span(field));
        const auto& [lower, extent] = plan.input().box;
        for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
          for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
            for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
              field[static_cast<std::size_t>(plan.input().position(x, y, z))] *= weight(x, y, z);
            }
          }
        }
        plan.forward(std::span<const double>(field), std::span(expected), Scaling::full);
        plan.collocate(std::span<const Complex>(spectrum), std::span(spectrum),
                       [&](std::int64_t x, std::int64_t y, std::span<double> row) {  // along z, which is first
                         for (std::size_t z = 0; z < row.size(); ++z) {
                           row[z] *= weight(x, y, static_cast<std::int64_t>(z));
                         }
                       });
        double worst = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(plan.output().elements()); ++i) {
          worst = std::max(worst, std::abs(spectrum[i] - expected[i]));
        }
        EXPECT_LE(worst, 1e-13) << grid.ty << " x " << grid.tz << ", cache of " << cache_bytes;
      }
    }
  });
}

TEST(Collocation, IsRefusedByPlansThatWereNotMadeForIt) {
  gas::on_worlds({1, 2}, [](gas::Team& team) {
    Plan<double> plan(team, estimated({8, 6, 4}));
    std::vector<Complex> spectrum(static_cast<std::size_t>(plan.output_stride()));
    EXPECT_TRUE(fails_with({"Options::collocates"}, [&] {
      plan.collocate(std::span<const Complex>(spectrum), std::span(spectrum),
                     [](std::int64_t, std::int64_t, std::span<Complex>) {});
    }));
  });
}

}  // namespace
}  // namespace penstock::fft
