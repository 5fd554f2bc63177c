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

/// The transforms of the forward direction, x before y before z. The first is where real numbers become complex.
std::vector<StageSpec> transforms_of(const Problem& problem) {
  constexpr std::array<std::array<int, 2>, 3> walks{{{z, y}, {z, x}, {y, x}}};  // outer, across
  const Decomposition space(problem.options.size, problem.tuning.grid);
  const Decomposition spectrum(spectrum_points(problem.options), problem.tuning.grid);
  std::vector<StageSpec> specs;
  for (const int along : {x, y, z}) {
    const auto d = static_cast<std::size_t>(along);
    if (problem.options.along[d]) {
      const FieldLayout after{spectrum.pencils(along), problem.spectrum_bytes()};
      const FieldLayout before = specs.empty() ? FieldLayout{space.pencils(along), problem.space_bytes()} : after;
      specs.push_back({.outer = walks[d][0],
                       .across = walks[d][1],
                       .along = along,
                       .kind = problem.row_kind(along),
                       .before = before,
                       .after = after});
    }
  }
  return specs;
}

/// The first two stages become one pass where planes stay in cache and both walk the same ones.
void join_planes(const Problem& problem, std::vector<StageSpec>& specs) {
  if (problem.is_plane_in_cache && specs.size() > 1 && specs[0].outer == specs[1].outer) {
    specs[0].joins_next = hold_the_same(specs[0].after.boxes, specs[1].before.boxes);
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
