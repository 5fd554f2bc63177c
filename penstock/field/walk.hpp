// Loops over the points of a distribution, and the wavenumbers that its modes stand for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/fft/fft.hpp"

namespace penstock::field {

/// Calls visit(position, point) for each point of the part, in the order of the array; `point` is {x, y, z}.
template <class Visit>
void for_each_point(const fft::Distribution& part, Visit visit) {
  const auto slow = static_cast<std::size_t>(part.order[0]);
  const auto middle = static_cast<std::size_t>(part.order[1]);
  const auto fast = static_cast<std::size_t>(part.order[2]);
  const auto& [lower, extent] = part.box;
  fft::Extents point{};
  for (point[slow] = lower[slow]; point[slow] < lower[slow] + extent[slow]; ++point[slow]) {
    for (point[middle] = lower[middle]; point[middle] < lower[middle] + extent[middle]; ++point[middle]) {
      point[fast] = lower[fast];
      auto position = static_cast<std::size_t>(part.position(point[0], point[1], point[2]));
      for (; point[fast] < lower[fast] + extent[fast]; ++point[fast], ++position) {
        visit(position, std::as_const(point));
      }
    }
  }
}

/// The wavenumber nearest to 0 of those that mode `index` of `n` stands for, as a magnitude.
inline std::int64_t wavenumber(std::int64_t index, std::int64_t n) {
  return std::min(index, n - index);
}

/// Squared wavenumbers of the modes of a spectrum of a field of `size` points, looked up by direction.
class SquaredWavenumbers {
 public:
  explicit SquaredWavenumbers(const fft::Extents& size) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::int64_t i = 0; i < size[d]; ++i) {
        const auto k = static_cast<double>(wavenumber(i, size[d]));
        squares_[d].push_back(k * k);
      }
    }
  }
  double operator()(const fft::Extents& mode) const {
    return squares_[0][static_cast<std::size_t>(mode[0])] + squares_[1][static_cast<std::size_t>(mode[1])] +
           squares_[2][static_cast<std::size_t>(mode[2])];
  }

 private:
  std::array<std::vector<double>, 3> squares_;
};

/// How many modes of the whole spectrum a stored one stands for: of r2c's half, the ones that have a mirror image
/// outside of it count twice.
inline double weight(const fft::Extents& size, fft::Type type, const fft::Extents& mode) {
  const bool is_own_mirror = mode[0] == 0 || 2 * mode[0] == size[0];
  return type == fft::Type::r2c && !is_own_mirror ? 2 : 1;
}

}  // namespace penstock::field
