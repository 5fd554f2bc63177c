#include "penstock/fft/route.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <utility>

#include "penstock/fft/direction_index.hpp"

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

/// Data changes places: tiles walk a user's array in its own order.
StageSpec move_spec(const std::array<int, 3>& order, const FieldLayout& layout) {
  return {.outer = order[0],
          .across = order[1],
          .along = order[2],
          .kind = std::nullopt,
          .before = layout,
          .after = layout};
}

/// Lets tiles of a stage that meets a user's array be wide in the direction that is contiguous there.
void face_user(StageSpec& spec, const std::array<int, 3>& order) {
  if (spec.outer == order[2]) {
    std::swap(spec.outer, spec.across);
  }
}

/// The boxes, where a rank's is empty as any other empty one.
Boxes normalised(Boxes boxes) {
  for (Box& box : boxes) {
    if (box.count() == 0) {
      box = {};
    }
  }
  return boxes;
}

bool are_whole(const Boxes& boxes, int along, const Extents& points) {
  return std::ranges::all_of(
      boxes, [&](const Box& box) { return box.count() == 0 || box.extent[at(along)] == points[at(along)]; });
}

std::int64_t busiest(const Boxes& boxes) {
  return std::ranges::max(boxes | std::views::transform(&Box::count));
}

/// The boxes in which ranks transform along a direction.
struct StageBoxes {
  Boxes before;
  Boxes after;
};

/// Boxes of a field of `points` as those of one that has as many as `other`; nothing where they are not whole along the
/// direction in which the two differ.
std::optional<Boxes> with_points_of(Boxes boxes, const Extents& points, const Extents& other) {
  for (const int d : {x, y, z}) {
    if (points[at(d)] == other[at(d)]) {
      continue;
    }
    if (!are_whole(boxes, d, points)) {
      return std::nullopt;
    }
    for (Box& box : boxes) {
      if (box.count() > 0) {
        box.extent[at(d)] = other[at(d)];
      }
    }
  }
  return boxes;
}

/// The boxes in which ranks may transform along a direction: pencils, or a part of the user's where that is whole along
/// it.
std::vector<StageBoxes> choices_for(const Problem& problem, int along) {
  // Each transform makes points of space along its direction points of the spectrum.
  const Extents space = problem.options.size;
  const Extents spectrum = spectrum_points(problem.options);
  Extents before = space;
  std::copy_n(spectrum.begin(), along, before.begin());
  Extents after = before;
  after[at(along)] = spectrum[at(along)];
  std::vector<StageBoxes> choices;
  const auto add = [&](const Boxes& boxes, const Extents& points) {
    const auto boxes_before = with_points_of(boxes, points, before);
    const auto boxes_after = with_points_of(boxes, points, after);
    if (boxes_before && boxes_after && are_whole(*boxes_before, along, before)) {
      choices.push_back({.before = *boxes_before, .after = *boxes_after});
    }
  };
  add(normalised(boxes_of(problem.input)), space);
  add(normalised(boxes_of(problem.output)), spectrum);
  choices.push_back({.before = Decomposition(before, problem.tuning.grid).pencils(along),
                     .after = Decomposition(after, problem.tuning.grid).pencils(along)});
  return choices;
}

/// The boxes in which each direction of `directions` is transformed. Of all choices that with the least work of the
/// busiest ranks: each transform costs as much as it has points, each exchange as much as a transform of evenly spread
/// points. Where the user's array is not what a transform takes, its points are moved, at half the cost of a transform.
std::vector<StageBoxes> choose_boxes(const Problem& problem, const std::vector<int>& directions) {
  struct Way {
    std::int64_t cost = 0;
    std::vector<StageBoxes> boxes;
  };
  if (directions.empty()) {
    return {};
  }
  const std::int64_t exchange =
      busiest(Decomposition(spectrum_points(problem.options), problem.tuning.grid).pencils(directions.front()));
  const auto cost_between = [&](const Boxes& from, const Boxes& to) { return hold_the_same(from, to) ? 0 : exchange; };
  const Boxes input = boxes_of(problem.input);
  const Boxes output = boxes_of(problem.output);
  const auto cost_to_user = [&](const Boxes& user, const Boxes& boxes) {
    return hold_the_same(user, boxes) ? 0 : exchange + busiest(user) / 2;
  };
  std::vector<Way> ways{Way{}};
  for (const int along : directions) {
    std::vector<Way> extended;
    for (StageBoxes& boxes : choices_for(problem, along)) {
      const auto cost_after = [&](const Way& way) {
        const std::int64_t before =
            way.boxes.empty() ? cost_to_user(input, boxes.before) : cost_between(way.boxes.back().after, boxes.before);
        return way.cost + before + busiest(boxes.before);
      };
      Way way = *std::ranges::min_element(ways, {}, cost_after);
      way.cost = cost_after(way);
      way.boxes.push_back(std::move(boxes));
      extended.push_back(std::move(way));
    }
    ways = std::move(extended);
  }
  const auto cost = [&](const Way& way) { return way.cost + cost_to_user(output, way.boxes.back().after); };
  return std::ranges::min_element(ways, {}, cost)->boxes;
}

/// The transforms of the forward direction, x before y before z.
std::vector<StageSpec> transforms_of(const Problem& problem) {
  constexpr std::array<std::array<int, 2>, 3> walks{{{z, y}, {z, x}, {y, x}}};  // outer, across
  std::vector<int> directions;
  for (const int along : {x, y, z}) {
    if (problem.options.along[at(along)]) {
      directions.push_back(along);
    }
  }
  std::vector<StageBoxes> boxes = choose_boxes(problem, directions);
  std::vector<StageSpec> specs;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const int along = directions[i];
    const RowKind kind = problem.row_kind(along);
    const bool is_complex = problem.is_complex_before(along);
    const auto bytes = [&](bool is_complex_there) {
      return problem.components() * (is_complex_there ? problem.complex_bytes() : problem.real_bytes);
    };
    specs.push_back({.outer = walks[at(along)][0],
                     .across = walks[at(along)][1],
                     .along = along,
                     .kind = kind,
                     .before = {std::move(boxes[i].before), bytes(is_complex)},
                     .after = {std::move(boxes[i].after), bytes(is_complex || kind == RowKind::real_to_complex)}});
  }
  return specs;
}

/// Whether the first two stages walk the same planes.
bool walk_the_same_planes(const std::vector<StageSpec>& specs) {
  return specs.size() > 1 && specs[0].outer == specs[1].outer &&
         hold_the_same(specs[0].after.boxes, specs[1].before.boxes);
}

/// The first two stages become one pass where planes stay in cache and both walk the same ones.
void join_planes(const Problem& problem, std::vector<StageSpec>& specs) {
  if (problem.has_room_for_planes && walk_the_same_planes(specs)) {
    specs[0].joins_next = true;
  }
}

/// Whether a single pass from array to array may work in place: what it writes for one outer index lies where it has
/// read what belongs to that.
bool works_in_place(const Problem& problem, const std::vector<StageSpec>& specs, const FieldLayout& in,
                    const FieldLayout& out) {
  const bool is_one_pass = specs.size() == 1 || (specs.size() == 2 && specs[0].joins_next);
  const auto lie_alike = [](const Distribution& a, const Distribution& b) {
    return a.box.count() == 0 || a.strides() == b.strides();
  };
  return !is_one_pass || (in.element_bytes == out.element_bytes && hold_the_same(in.boxes, out.boxes) &&
                          problem.input.front().order == problem.output.front().order &&
                          std::ranges::equal(problem.input, problem.output, lie_alike) &&
                          (specs.size() == 1 || specs[0].outer == problem.input.front().order[0]));
}

std::vector<StageSpec> make_forward(const Problem& problem) {
  const FieldLayout in{boxes_of(problem.input), problem.space_bytes() * problem.components()};
  const FieldLayout out{boxes_of(problem.output), problem.spectrum_bytes() * problem.components()};
  const std::array<int, 3>& in_order = problem.input.front().order;
  const std::array<int, 3>& out_order = problem.output.front().order;
  std::vector<StageSpec> specs = transforms_of(problem);
  if (specs.empty()) {
    return {move_spec(in_order, in), move_spec(out_order, out)};
  }

  const bool takes_input = hold_the_same(in.boxes, specs.front().before.boxes);
  bool makes_output = hold_the_same(out.boxes, specs.back().after.boxes);
  if (takes_input) {
    face_user(specs.front(), in_order);
  }
  if (makes_output) {
    face_user(specs.back(), out_order);
  }
  join_planes(problem, specs);
  if (takes_input && makes_output && !works_in_place(problem, specs, in, out)) {
    // Two stages that shared a pass take one each instead; a stage alone gets one beside it.
    makes_output = specs.front().joins_next;
    specs.front().joins_next = false;
  }
  if (!makes_output) {
    specs.push_back(move_spec(out_order, out));
  }
  if (!takes_input) {
    specs.insert(specs.begin(), move_spec(in_order, in));
  }
  return specs;
}

std::vector<StageSpec> make_backward(const Problem& problem) {
  std::vector<StageSpec> specs = make_forward(problem);
  std::reverse(specs.begin(), specs.end());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    StageSpec& spec = specs[i];
    std::swap(spec.before, spec.after);
    if (spec.kind) {
      spec.kind = traits_of(*spec.kind).inverse;
      spec.is_backward = true;
    }
    spec.joins_next = i + 1 < specs.size() && specs[i + 1].joins_next;
  }
  return specs;
}

/// Where ranks write each other's arrays, what would be moved last is left there by the stage before.
void end_at_peers(const Problem& problem, std::vector<StageSpec>& specs, const std::array<int, 3>& result_order) {
  if (!problem.writes_arrays || specs.back().kind || specs.size() < 2) {
    return;
  }
  // A tile of the stage before is to have neighbours in the result, whichever walk it shares with another stage.
  StageSpec& last = specs[specs.size() - 2];
  const bool shares_pass = specs.size() > 2 && specs[specs.size() - 3].joins_next;
  if (shares_pass && last.outer == result_order[2]) {
    return;
  }
  specs.pop_back();
  last.ends_at_peers = true;
  if (last.along != result_order[2]) {
    face_user(last, result_order);
  }
}

/// To the last transform of a route, which turns back, and from it by another, which leads back; the user's part where
/// the two meet is not met.
std::vector<StageSpec> turned_back(std::vector<StageSpec> specs, std::vector<StageSpec> back) {
  if (!specs.back().kind) {
    specs.pop_back();
    back.erase(back.begin());
  }
  specs.back().turns_back = true;
  specs.back().joins_next = back.front().joins_next;
  specs.insert(specs.end(), back.begin() + 1, back.end());
  return specs;
}

}  // namespace

bool hold_the_same(const Boxes& a, const Boxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Box& one, const Box& other) {
    return one == other || (one.count() == 0 && other.count() == 0);
  });
}

std::vector<StageSpec> make_route(const Problem& problem, Direction direction) {
  switch (direction) {
    case Direction::backward: {
      std::vector<StageSpec> specs = make_backward(problem);
      end_at_peers(problem, specs, problem.input.front().order);
      return specs;
    }
    case Direction::there_and_back:
      return turned_back(make_forward(problem), make_backward(problem));
    case Direction::back_and_there:
      return turned_back(make_backward(problem), make_forward(problem));
    default: {
      std::vector<StageSpec> specs = make_forward(problem);
      end_at_peers(problem, specs, problem.output.front().order);
      return specs;
    }
  }
}

}  // namespace penstock::fft
