#include "penstock/lab/pack/pack_cases.hpp"

#include <algorithm>
#include <numeric>

namespace penstock::lab {

std::vector<PackCase> pack_cases() {
  std::vector<PackCase> cases;
  add_lattice_cases(cases);
  add_weather_cases(cases);
  add_solver_cases(cases);
  add_listed_cases(cases);
  add_array_cases(cases);
  add_transpose_cases(cases);
  return cases;
}

HandLoop hand_nest(HandType type, std::int64_t array_offset, const std::vector<Loop>& loops, std::int64_t run) {
  HandLoop hand{.type = type, .array_offset = array_offset, .depth = static_cast<int>(loops.size()), .run = run};
  // A programmer writes no loop around nothing, and none over a single element.
  hand.shape = loops.empty() ? HandShape::run : run == 1 && loops.size() <= 2 ? HandShape::elements : HandShape::nest;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    hand.extent[i] = loops[i].extent;
    hand.stride[i] = loops[i].stride;
  }
  return hand;
}

HandLoop hand_list(HandType type, std::int64_t array_offset, std::vector<int> index, std::int64_t run) {
  return {
      .shape = HandShape::listed, .type = type, .array_offset = array_offset, .run = run, .index = std::move(index)};
}

std::int64_t packed_bytes(const HandLoop& loop) {
  const std::int64_t element_bytes = loop.type == HandType::float32 ? 4 : loop.type == HandType::float64 ? 8 : 16;
  std::int64_t elements = loop.run;
  if (loop.shape == HandShape::listed) {
    elements *= static_cast<std::int64_t>(loop.index.size());
  } else if (loop.shape == HandShape::blocks) {
    elements = std::accumulate(loop.lengths.begin(), loop.lengths.end(), std::int64_t{0});
  } else {
    for (int i = 0; i < loop.depth; ++i) {
      elements *= loop.extent[static_cast<std::size_t>(i)];
    }
  }
  return elements * element_bytes;
}

void append(std::vector<HandLoop>& loops, HandLoop loop) {
  loop.packed_offset = loops.empty() ? 0 : loops.back().packed_offset + packed_bytes(loops.back());
  loops.push_back(std::move(loop));
}

}  // namespace penstock::lab
