#include "penstock/fft/route.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::fft {
namespace {

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

Boxes boxes_of(const std::vector<Distribution>& parts) {
  Boxes boxes;
  for (const Distribution& part : parts) {
    boxes.push_back(part.box);
  }
  return boxes;
}

bool hold_the_same(const Boxes& a, const Boxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Box& one, const Box& other) {
    return one == other || (one.count() == 0 && other.count() == 0);
  });
}

/// Data changes places: tiles walk a user's array in its own order.
Stop move_stop(const std::array<int, 3>& order, const Spread& spread) {
  return {.outer = order[0],
          .across = order[1],
          .along = order[2],
          .kind = std::nullopt,
          .before = spread,
          .after = spread};
}

/// Lets tiles of a stop that meets a user's array be wide in the direction that is contiguous there.
void face_user(Stop& stop, const std::array<int, 3>& order) {
  if (stop.outer == order[2]) {
    std::swap(stop.outer, stop.across);
  }
}

/// The transforms of the forward direction, x before y before z. The first is where real numbers become complex.
std::vector<Stop> transforms_of(const Problem& problem) {
  constexpr std::array<std::array<int, 2>, 3> walks{{{z, y}, {z, x}, {y, x}}};  // outer, across
  const Decomposition space(problem.options.size, problem.grid);
  const Decomposition spectrum(spectrum_points(problem.options), problem.grid);
  std::vector<Stop> stops;
  for (const int along : {x, y, z}) {
    const auto d = static_cast<std::size_t>(along);
    if (problem.options.along[d]) {
      const Spread after{spectrum.pencils(along), problem.spectrum_bytes()};
      const Spread before = stops.empty() ? Spread{space.pencils(along), problem.space_bytes()} : after;
      stops.push_back({.outer = walks[d][0],
                       .across = walks[d][1],
                       .along = along,
                       .kind = problem.row_kind(along),
                       .before = before,
                       .after = after});
    }
  }
  return stops;
}

/// The first two stops become one pass where planes stay in cache and both walk the same ones.
void join_planes(const Problem& problem, std::vector<Stop>& stops) {
  if (problem.is_plane_in_cache && stops.size() > 1 && stops[0].outer == stops[1].outer) {
    stops[0].joins_next = hold_the_same(stops[0].after.boxes, stops[1].before.boxes);
  }
}

/// Whether a single pass from array to array may work in place: what it writes for one outer index lies where it has
/// read what belongs to that.
bool works_in_place(const Problem& problem, const std::vector<Stop>& stops, const Spread& in, const Spread& out) {
  const bool is_one_pass = stops.size() == 1 || (stops.size() == 2 && stops[0].joins_next);
  return !is_one_pass || (in.element_bytes == out.element_bytes && hold_the_same(in.boxes, out.boxes) &&
                          problem.input.front().order == problem.output.front().order &&
                          (stops.size() == 1 || stops[0].outer == problem.input.front().order[0]));
}

std::vector<Stop> make_forward(const Problem& problem) {
  const Spread in{boxes_of(problem.input), problem.space_bytes()};
  const Spread out{boxes_of(problem.output), problem.spectrum_bytes()};
  const std::array<int, 3>& in_order = problem.input.front().order;
  const std::array<int, 3>& out_order = problem.output.front().order;
  std::vector<Stop> stops = transforms_of(problem);

  const bool takes_input = hold_the_same(in.boxes, stops.front().before.boxes);
  bool makes_output = hold_the_same(out.boxes, stops.back().after.boxes);
  if (takes_input) {
    face_user(stops.front(), in_order);
  }
  if (makes_output) {
    face_user(stops.back(), out_order);
  }
  join_planes(problem, stops);
  if (takes_input && makes_output && !works_in_place(problem, stops, in, out)) {
    // Two stages that shared a pass take one each instead; a stage alone gets one beside it.
    makes_output = stops.front().joins_next;
    stops.front().joins_next = false;
  }
  if (!makes_output) {
    stops.push_back(move_stop(out_order, out));
  }
  if (!takes_input) {
    stops.insert(stops.begin(), move_stop(in_order, in));
  }
  return stops;
}

std::vector<Stop> make_backward(const Problem& problem) {
  std::vector<Stop> stops = make_forward(problem);
  std::reverse(stops.begin(), stops.end());
  for (std::size_t i = 0; i < stops.size(); ++i) {
    Stop& stop = stops[i];
    std::swap(stop.before, stop.after);
    if (stop.kind) {
      stop.kind = facts_of(*stop.kind).inverse;
    }
    stop.joins_next = i + 1 < stops.size() && stops[i + 1].joins_next;
  }
  return stops;
}

/// To the last transform, which turns back, and from it; the user's part of the spectrum is not met.
std::vector<Stop> make_there_and_back(const Problem& problem) {
  std::vector<Stop> stops = make_forward(problem);
  std::vector<Stop> back = make_backward(problem);
  if (!stops.back().kind) {
    stops.pop_back();
    back.erase(back.begin());
  }
  stops.back().turns_back = true;
  stops.insert(stops.end(), back.begin() + 1, back.end());
  return stops;
}

}  // namespace

std::vector<Stop> make_route(const Problem& problem, Way way) {
  switch (way) {
    case Way::backward:
      return make_backward(problem);
    case Way::there_and_back:
      return make_there_and_back(problem);
    default:
      return make_forward(problem);
  }
}

}  // namespace penstock::fft
