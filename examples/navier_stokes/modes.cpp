#include "modes.hpp"

namespace navier_stokes {

Modes::Modes(std::int64_t n, const penstock::fft::Distribution& part) : most_(most_of(n)) {
  for (std::int64_t z = 0; z < count(); ++z) {
    kz_.push_back(static_cast<double>(penstock::fft::signed_wavenumber(z, count())));
  }
  const auto& [lower, extent] = part.box;
  for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      const std::int64_t ky = penstock::fft::signed_wavenumber(y, count());
      rows_.push_back({.begin = static_cast<std::size_t>(part.position(x, y, 0)),
                       .kx = static_cast<double>(x),
                       .ky = static_cast<double>(ky),
                       .weight = x > 0 ? 2. : 1.,
                       .number = x * count() + ky + most_});
    }
  }
}

}  // namespace navier_stokes
