#include "penstock/fft/decomposition.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {

std::int64_t Distribution::position(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
  const auto [of_x, of_y, of_z] = strides();
  return (x - box.lower[0]) * of_x + (y - box.lower[1]) * of_y + (z - box.lower[2]) * of_z;
}

Extents Distribution::strides() const noexcept {
  const std::int64_t row = row_pitch != 0 ? row_pitch : box.extent[at(order[2])] * components;
  Extents strides{};
  strides[at(order[2])] = components;
  strides[at(order[1])] = row;
  strides[at(order[0])] = plane_pitch != 0 ? plane_pitch : box.extent[at(order[1])] * row;
  return strides;
}

std::int64_t Distribution::elements() const noexcept {
  if (box.count() == 0) {
    return 0;
  }
  return components +
         position(box.lower[0] + box.extent[0] - 1, box.lower[1] + box.extent[1] - 1, box.lower[2] + box.extent[2] - 1);
}

Box Decomposition::pencil(int along, int rank) const noexcept {
  // Along x: y is cut by the row, z by the plane group. Each exchange swaps the whole direction with one that is cut.
  const int row = rank % grid_.ty;
  const int group = rank / grid_.ty;
  const Range whole{0, points_[static_cast<std::size_t>(along)]};
  Range x = shape::part_of(points_[0], grid_.ty, row);
  Range y = along == 0 ? shape::part_of(points_[1], grid_.ty, row) : shape::part_of(points_[1], grid_.tz, group);
  Range z = shape::part_of(points_[2], grid_.tz, group);
  (along == 0 ? x : along == 1 ? y : z) = whole;
  return {.lower = {x.lower, y.lower, z.lower}, .extent = {x.extent, y.extent, z.extent}};
}

Boxes Decomposition::pencils(int along) const {
  Boxes boxes;
  for (int rank = 0; rank < grid_.ty * grid_.tz; ++rank) {
    boxes.push_back(pencil(along, rank));
  }
  return boxes;
}

Grid choose_grid(const Extents& points, int ranks, const std::array<bool, 3>& along) noexcept {
  // Work is lost where a rank owns nothing in one of the stages.
  const auto busy_ranks = [&](int ty, int tz) {
    const auto busy = [](std::int64_t n, int parts) { return std::min<std::int64_t>(n, parts); };
    const std::array in_stage{busy(points[1], ty) * busy(points[2], tz), busy(points[0], ty) * busy(points[2], tz),
                              busy(points[0], ty) * busy(points[1], tz)};
    std::int64_t fewest = ranks;
    for (std::size_t d = 0; d < 3; ++d) {
      fewest = along[d] ? std::min(fewest, in_stage[d]) : fewest;
    }
    return fewest;
  };
  if (busy_ranks(1, ranks) == ranks) {
    return {.ty = 1, .tz = ranks};
  }
  const auto cost = [&](int ty, int tz) { return std::tuple(ranks - busy_ranks(ty, tz), std::abs(ty - tz), ty); };
  Grid best{.ty = 1, .tz = ranks};
  for (int ty = 2; ty <= ranks; ++ty) {
    if (ranks % ty == 0 && cost(ty, ranks / ty) < cost(best.ty, best.tz)) {
      best = {.ty = ty, .tz = ranks / ty};
    }
  }
  return best;
}

}  // namespace penstock::fft
