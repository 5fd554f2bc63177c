// Random choices that are the same on every rank, and boxes that are cut at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "penstock/fft/fft.hpp"

namespace penstock::fft {

/// The same draws on every rank.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}

  /// From `least` to `most`.
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool coin() { return number(0, 1) == 1; }
  template <class T>
  T one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(number(0, std::ssize(choices) - 1))];
  }
  template <class Items>
  void shuffle(Items& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

/// Cuts a box into `count` ones, some of which may be empty: slabs, pencils or bricks.
inline void cut(Draws& draws, const Box& box, int count, const std::vector<std::size_t>& directions,
                std::vector<Box>& boxes) {
  if (count == 1) {
    boxes.push_back(box);
    return;
  }
  const std::size_t d = draws.one_of(directions);
  const int below_count = static_cast<int>(draws.number(1, count - 1));
  Box below = box, above = box;
  below.extent[d] = draws.coin() ? box.extent[d] * below_count / count : draws.number(0, box.extent[d]);
  above.lower[d] += below.extent[d];
  above.extent[d] -= below.extent[d];
  cut(draws, below, below_count, directions, boxes);
  cut(draws, above, count - below_count, directions, boxes);
}

/// This rank's part of `points`, of parts that have random boxes, orders and padding.
inline Distribution draw_part(Draws& draws, const gas::Team& team, const Extents& points, std::int64_t components = 1) {
  std::vector<std::size_t> directions{0, 1, 2};
  draws.shuffle(directions);
  directions.resize(static_cast<std::size_t>(draws.number(1, 3)));
  std::vector<Box> boxes;
  cut(draws, {{}, points}, team.size(), directions, boxes);
  draws.shuffle(boxes);
  Distribution part{.box = boxes[static_cast<std::size_t>(team.rank())], .components = components};
  draws.shuffle(part.order);
  const std::int64_t row = draws.number(-3, 4);
  const std::int64_t plane = draws.number(-3, 9);
  if (row > 0) {
    part.row_pitch = part.strides()[static_cast<std::size_t>(part.order[1])] + row + team.rank() % 2;
  }
  if (plane > 0) {
    part.plane_pitch = part.strides()[static_cast<std::size_t>(part.order[0])] + plane;
  }
  return part;
}

}  // namespace penstock::fft
