#include "modes.hpp"

#include <cstdlib>

namespace navier_stokes {

Modes::Modes(std::int64_t n, const penstock::fft::Distribution& part)
    : most_((n - 1) / 3),
      kept_z_{Range{0, static_cast<std::size_t>(most_ + 1)},
              Range{static_cast<std::size_t>(n - most_), static_cast<std::size_t>(n)}} {
  for (std::int64_t z = 0; z < n; ++z) {
    kz_.push_back(static_cast<double>(penstock::fft::signed_wavenumber(z, n)));
  }
  const auto& [lower, extent] = part.box;
  for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      const auto begin = static_cast<std::size_t>(part.position(x, y, 0));
      const std::int64_t ky = penstock::fft::signed_wavenumber(y, n);
      if (x > most_ || std::abs(ky) > most_) {
        other_rows_.push_back(begin);
        continue;
      }
      kept_rows_.push_back({.begin = begin,
                            .kx = static_cast<double>(x),
                            .ky = static_cast<double>(ky),
                            .weight = x > 0 ? 2. : 1.,
                            .number = x * (2 * most_ + 1) + ky + most_});
    }
  }
}

}  // namespace navier_stokes
