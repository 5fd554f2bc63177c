// Plain vectors of doubles, 32 KiB of data each, and parts of an array of three dimensions with a halo.
#include <fmt/format.h>

#include <array>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

void add_vectors(std::vector<PackCase>& cases) {
  for (const int block : {1, 2, 4, 8, 32}) {
    for (const int stride : {2 * block, 8 * block, 1025}) {
      const int count = 4096 / block;
      cases.push_back({.name = fmt::format("vec_bl{}_st{}", block, stride),
                       .make_type = [=] { return vector(count, block, stride, Type(MPI_DOUBLE)); },
                       .array_bytes = std::int64_t{8} * count * stride,
                       .hand = {hand_nest(HandType::float64, 0, {{count, stride}}, block)}});
    }
  }
}

/// A box of double[130][130][130].
PackCase box_case(const char* name, const std::array<int, 3>& start, const std::array<int, 3>& size) {
  constexpr std::int64_t n = 130;
  const std::int64_t offset = 8 * ((start[0] * n + start[1]) * n + start[2]);
  // Written without a loop over a single plane or row.
  std::vector<Loop> loops;
  if (size[0] > 1) {
    loops.push_back({size[0], n * n});
  }
  if (size[1] > 1) {
    loops.push_back({size[1], n});
  }
  return {.name = name,
          .make_type =
              [=] {
                return subarray({n, n, n}, {size.begin(), size.end()}, {start.begin(), start.end()}, Type(MPI_DOUBLE));
              },
          .array_bytes = 8 * n * n * n,
          .hand = {hand_nest(HandType::float64, offset, loops, size[2])}};
}

}  // namespace

void add_array_cases(std::vector<PackCase>& cases) {
  add_vectors(cases);
  cases.push_back(box_case("face_x", {1, 1, 1}, {128, 128, 1}));
  cases.push_back(box_case("face_y", {1, 128, 1}, {128, 1, 128}));
  cases.push_back(box_case("face_z", {128, 1, 1}, {1, 128, 128}));
  cases.push_back(box_case("face_x_h3", {1, 1, 126}, {128, 128, 3}));
  cases.push_back(box_case("block64", {33, 33, 33}, {64, 64, 64}));
}

}  // namespace penstock::lab
