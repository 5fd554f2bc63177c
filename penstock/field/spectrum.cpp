// What is done in the spectrum: the low-pass filter and the power by wavenumber.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "penstock/field/field.hpp"
#include "penstock/field/walk.hpp"

namespace penstock::field {
namespace {

/// Collective: the sums over the ranks.
void sum_over_ranks(const gas::Team& team, std::vector<double>& numbers) {
  for (std::size_t i = 0; i < numbers.size();) {
    std::array<double, 64> mine{};
    const std::size_t count = std::min(mine.size(), numbers.size() - i);
    std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(i), count, mine.begin());
    const auto all = team.all_gather(mine);
    for (std::size_t j = 0; j < count; ++j, ++i) {
      numbers[i] = 0;
      for (const auto& part : all) {
        numbers[i] += part[j];
      }
    }
  }
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
double filter_low_pass(const Extents& size, fft::Type type, const Distribution& part,
                       std::span<std::complex<Real>> spectrum, double radius) {
  const SquaredWavenumbers squared(size);
  double kept = 0;
  for_each_point(part, [&](std::size_t position, const Extents& mode) {
    if (squared(mode) > radius * radius) {
      spectrum[position] = 0;
    } else {
      kept += weight(size, type, mode);
    }
  });
  return kept;
}
#pragma GCC visibility pop

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
RadialSpectrum sum_shells(const gas::Team& team, const Extents& size, fft::Type type, const Distribution& part,
                          std::span<const std::complex<Real>> spectrum, fft::Scaling scaling) {
  team.agree(std::ssize(spectrum) < part.elements()
                 ? fmt::format("rank {} gives {} modes of its part of a spectrum, which has {}", team.rank(),
                               spectrum.size(), part.elements())
                 : "");
  team.agree_on("spectrum", fmt::format("{}x{}x{}, type {}, scaling {}", size[0], size[1], size[2],
                                        static_cast<int>(type), static_cast<int>(scaling)));
  const SquaredWavenumbers squared(size);
  const auto shell_of = [&](const Extents& mode) {
    return static_cast<std::size_t>(std::lround(std::sqrt(squared(mode))));
  };
  const std::size_t shells = shell_of({size[0] / 2, size[1] / 2, size[2] / 2}) + 1;
  RadialSpectrum sums{.power = std::vector<double>(shells), .modes = std::vector<double>(shells)};
  for_each_point(part, [&](std::size_t position, const Extents& mode) {
    const std::size_t shell = shell_of(mode);
    const double count = weight(size, type, mode);
    sums.power[shell] += count * std::norm(std::complex<double>(spectrum[position]));
    sums.modes[shell] += count;
  });
  // Parseval: the sum of |mode|^2 of an unscaled spectrum is N^2 times the mean square.
  const fft::Options options{.size = size, .type = type};
  const double norm = fft::factor_of(fft::Scaling::full, options) / fft::factor_of(scaling, options);
  for (double& power : sums.power) {
    power *= norm * norm;
  }
  sum_over_ranks(team, sums.power);
  sum_over_ranks(team, sums.modes);
  return sums;
}
#pragma GCC visibility pop

template double filter_low_pass<float>(const Extents&, fft::Type, const Distribution&, std::span<std::complex<float>>,
                                       double);
template double filter_low_pass<double>(const Extents&, fft::Type, const Distribution&, std::span<std::complex<double>>,
                                        double);
template RadialSpectrum sum_shells<float>(const gas::Team&, const Extents&, fft::Type, const Distribution&,
                                          std::span<const std::complex<float>>, fft::Scaling);
template RadialSpectrum sum_shells<double>(const gas::Team&, const Extents&, fft::Type, const Distribution&,
                                           std::span<const std::complex<double>>, fft::Scaling);

}  // namespace penstock::field
