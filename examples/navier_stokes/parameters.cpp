#include "parameters.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace navier_stokes {

std::string_view name_of(Flow flow) {
  return flow == Flow::vortex_3d ? "3d" : "2d";
}

double safe_dt(const Parameters& parameters) {
  // The method bears a growth rate g of any mode while dt |g| < 2.8 (on the imaginary axis; 2.78 on the real one). The
  // highest mode kept is carried with g = i k.u, at most k times the sum of the speeds' sizes, and decays with
  // g = 3 k^2 / Reynolds number.
  const double k = static_cast<double>(parameters.n) / 3;
  return std::min(0.7 / k, 1.4 * parameters.reynolds / (3 * k * k));
}

std::string text_of(const Parameters& parameters) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "--flow %s --size %lld --reynolds %.17g --dt %.17g",
                name_of(parameters.flow).data(), static_cast<long long>(parameters.n), parameters.reynolds,
                parameters.dt);
  return text.data();
}

}  // namespace navier_stokes
