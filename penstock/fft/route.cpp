#include "penstock/fft/route.hpp"

#include <algorithm>
#include <array>
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

bool hold_the_same(const Boxes& a, const Boxes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Box& one, const Box& other) {
    return one == other || (one.count() == 0 && other.count() == 0);
  });
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

/// Boxes that are whole along a direction, with as many points there as the field has on the other side of a transform.
Boxes with_points(Boxes boxes, int along, std::int64_t points) {
  for (Box& box : boxes) {
    if (box.count() > 0) {
      box.extent[at(along)] = points;
    }
  }
  return boxes;
}

std::int64_t busiest(const Boxes& boxes) {
  return std::ranges::max(boxes | std::views::transform(&Box::count));
}

/// The boxes, in the spectrum's points, in which ranks may transform along a direction: pencils, or a part of the
/// user's where that is whole along it.
std::vector<Boxes> boxes_for(const Problem& problem, int along) {
  const Extents points = spectrum_points(problem.options);
  std::vector<Boxes> choices{Decomposition(points, problem.tuning.grid).pencils(along)};
  // Where the transform of the first direction changes the points, those of space are as many once it is done.
  const int first = first_direction(problem.options);
  Boxes input = normalised(boxes_of(problem.input));
  if (are_whole(input, first, problem.options.size)) {
    input = with_points(std::move(input), first, points[at(first)]);
    choices.push_back(std::move(input));
  } else if (problem.options.type != Type::r2c) {
    choices.push_back(std::move(input));
  }
  choices.push_back(normalised(boxes_of(problem.output)));
  std::erase_if(choices, [&](const Boxes& boxes) { return !are_whole(boxes, along, points); });
  return choices;
}

/// The boxes, in the spectrum's points, in which each direction of `directions` is transformed. Of all choices that
/// with the least work of the busiest ranks: each transform passes over its points, and each exchange, from the user's
/// input and to the output too, costs as much as a transform of evenly spread points.
std::vector<Boxes> choose_boxes(const Problem& problem, const std::vector<int>& directions) {
  struct Way {
    std::int64_t cost = 0;
    std::vector<Boxes> boxes;
  };
  const std::int64_t exchange =
      busiest(Decomposition(spectrum_points(problem.options), problem.tuning.grid).pencils(directions.front()));
  const int first = directions.front();
  std::vector<Way> ways;
  for (const int along : directions) {
    std::vector<Way> extended;
    for (Boxes& boxes : boxes_for(problem, along)) {
      const auto cost_after = [&](const Way& way) {
        return way.cost + (hold_the_same(way.boxes.back(), boxes) ? 0 : exchange) + busiest(boxes);
      };
      if (along == first) {
        const bool takes_input =
            hold_the_same(boxes_of(problem.input), with_points(boxes, first, problem.options.size[at(first)]));
        extended.push_back({.cost = (takes_input ? 0 : exchange) + busiest(boxes), .boxes = {std::move(boxes)}});
        continue;
      }
      Way way = *std::ranges::min_element(ways, {}, cost_after);
      way.cost = cost_after(way);
      way.boxes.push_back(std::move(boxes));
      extended.push_back(std::move(way));
    }
    ways = std::move(extended);
  }
  const Boxes output = boxes_of(problem.output);
  return std::ranges::min_element(
             ways, {},
             [&](const Way& way) { return way.cost + (hold_the_same(way.boxes.back(), output) ? 0 : exchange); })
      ->boxes;
}

/// The transforms of the forward direction, x before y before z. The first is where real numbers become complex.
std::vector<StageSpec> transforms_of(const Problem& problem) {
  constexpr std::array<std::array<int, 2>, 3> walks{{{z, y}, {z, x}, {y, x}}};  // outer, across
  std::vector<int> directions;
  for (const int along : {x, y, z}) {
    if (problem.options.along[at(along)]) {
      directions.push_back(along);
    }
  }
  const std::vector<Boxes> boxes = choose_boxes(problem, directions);
  std::vector<StageSpec> specs;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const int along = directions[i];
    const FieldLayout after{boxes[i], problem.spectrum_bytes()};
    const FieldLayout before =
        i > 0 ? after
              : FieldLayout{with_points(boxes[i], along, problem.options.size[at(along)]), problem.space_bytes()};
    specs.push_back({.outer = walks[at(along)][0],
                     .across = walks[at(along)][1],
                     .along = along,
                     .kind = problem.row_kind(along),
                     .before = before,
                     .after = after});
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
  const FieldLayout in{boxes_of(problem.input), problem.space_bytes()};
  const FieldLayout out{boxes_of(problem.output), problem.spectrum_bytes()};
  const std::array<int, 3>& in_order = problem.input.front().order;
  const std::array<int, 3>& out_order = problem.output.front().order;
  std::vector<StageSpec> specs = transforms_of(problem);

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
    }
    spec.joins_next = i + 1 < specs.size() && specs[i + 1].joins_next;
  }
  return specs;
}

/// To the last transform, which turns back, and from it; the user's part of the spectrum is not met.
std::vector<StageSpec> make_there_and_back(const Problem& problem) {
  std::vector<StageSpec> specs = make_forward(problem);
  std::vector<StageSpec> back = make_backward(problem);
  if (!specs.back().kind) {
    specs.pop_back();
    back.erase(back.begin());
  }
  specs.back().turns_back = true;
  specs.insert(specs.end(), back.begin() + 1, back.end());
  return specs;
}

}  // namespace

std::vector<StageSpec> make_route(const Problem& problem, Direction direction) {
  switch (direction) {
    case Direction::backward:
      return make_backward(problem);
    case Direction::there_and_back:
      return make_there_and_back(problem);
    default:
      return make_forward(problem);
  }
}

}  // namespace penstock::fft
