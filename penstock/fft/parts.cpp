#include "penstock/fft/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "penstock/fft/sequence.hpp"

namespace penstock::fft {
namespace {

constexpr std::array<int, 3> x_contiguous{2, 1, 0};

std::string text_of(const Extents& point) {
  return fmt::format("({}, {}, {})", point[0], point[1], point[2]);
}

/// A point of `box` that none of the boxes from number `first` on holds, or nothing.
std::optional<Extents> find_hole(const Boxes& boxes, std::size_t first, Box box) {
  for (std::size_t i = first; i < boxes.size() && box.count() > 0; ++i) {
    const Box common = intersect(boxes[i], box);
    if (common.count() == 0) {
      continue;
    }
    // What is left on both sides in each direction is looked through; what is between them goes on to the next one.
    for (std::size_t d = 0; d < 3; ++d) {
      Box below = box, above = box;
      below.extent[d] = common.lower[d] - box.lower[d];
      above.lower[d] = common.lower[d] + common.extent[d];
      above.extent[d] = box.lower[d] + box.extent[d] - above.lower[d];
      for (const Box& side : {below, above}) {
        if (const auto hole = find_hole(boxes, i + 1, side)) {
          return hole;
        }
      }
      box.lower[d] = common.lower[d];
      box.extent[d] = common.extent[d];
    }
    return std::nullopt;
  }
  return box.count() > 0 ? std::optional(box.lower) : std::nullopt;
}

bool is_permutation(const std::array<int, 3>& order) {
  return std::is_permutation(order.begin(), order.end(), x_contiguous.begin());
}

/// What is wrong with the padding of a part, whose box lies within the field's points; or nothing.
std::string find_padding_mistake(const Distribution& part, std::int64_t components) {
  constexpr std::int64_t max_pitch = std::int64_t{1} << 56;  // no memory is as large, and its bytes can be counted
  const Extents& extent = part.box.extent;
  const std::int64_t points = extent[static_cast<std::size_t>(part.order[2])] * components;
  const std::int64_t rows = extent[static_cast<std::size_t>(part.order[1])];
  const std::int64_t planes = extent[static_cast<std::size_t>(part.order[0])];
  if (part.row_pitch != 0 &&
      (part.row_pitch < points || part.row_pitch > max_pitch / std::max<std::int64_t>(rows, 1))) {
    return fmt::format("has rows of {} elements and a pitch of {} from row to row", points, part.row_pitch);
  }
  const std::int64_t row = part.row_pitch != 0 ? part.row_pitch : points;
  if (part.plane_pitch != 0 && (part.plane_pitch < rows * row || part.plane_pitch > max_pitch)) {
    return fmt::format("has planes of {} rows, {} elements apart, and a pitch of {} from plane to plane", rows, row,
                       part.plane_pitch);
  }
  const std::int64_t plane = part.plane_pitch != 0 ? part.plane_pitch : rows * row;
  if (planes > 0 && plane > max_pitch / planes) {
    return fmt::format("has {} planes that are {} elements apart: no memory holds them", planes, plane);
  }
  return {};
}

/// What is wrong with a user's parts of `points`, or nothing.
std::string find_mistake(const std::vector<std::optional<Distribution>>& given, const Extents& points,
                         std::int64_t components, std::string_view what) {
  for (std::size_t rank = 0; rank < given.size(); ++rank) {
    if (given[rank].has_value() != given.front().has_value()) {
      return fmt::format("rank {} has {} part and rank 0 has {}: give it on every rank or on none", rank,
                         given[rank] ? fmt::format("an {}", what) : fmt::format("no {}", what),
                         given[rank] ? "none" : "one");
    }
  }
  Boxes boxes;
  for (std::size_t rank = 0; rank < given.size(); ++rank) {
    const std::array<int, 3>& order = given[rank]->order;
    if (!is_permutation(order)) {
      return fmt::format("the {} part of rank {} has the order {}, {}, {}: each of 0 (x), 1 (y) and 2 (z) once", what,
                         rank, order[0], order[1], order[2]);
    }
    if (order != given.front()->order) {
      return fmt::format("the {} part of rank {} is stored in another order than that of rank 0: all must be alike",
                         what, rank);
    }
    boxes.push_back(given[rank]->box);
  }
  if (std::string mistake = find_tiling_mistake(boxes, points, what); !mistake.empty()) {
    return mistake;
  }
  for (std::size_t rank = 0; rank < given.size(); ++rank) {
    if (std::string mistake = find_padding_mistake(*given[rank], components); !mistake.empty()) {
      return fmt::format("the {} part of rank {} {}", what, rank, mistake);
    }
  }
  return {};
}

/// The user's parts, or nothing where no rank has any.
std::optional<std::vector<Distribution>> given_parts(const gas::Team& team, const std::optional<Distribution>& mine,
                                                     const Extents& points, std::int64_t components,
                                                     std::string_view what) {
  if (team.all_of(!mine.has_value())) {
    return std::nullopt;
  }
  // Not as an optional: its bytes are not all set where it is empty.
  struct Given {
    Distribution part;
    std::int64_t is_given;
  };
  std::vector<std::optional<Distribution>> given;
  for (const Given& each : team.all_gather(Given{mine.value_or(Distribution{}), mine.has_value() ? 1 : 0})) {
    given.push_back(each.is_given != 0 ? std::optional(each.part) : std::nullopt);
  }
  team.agree(find_mistake(given, points, components, what));
  std::vector<Distribution> parts;
  for (const auto& part : given) {
    parts.push_back(*part);
  }
  return parts;
}

std::vector<Distribution> pencils_of(const Extents& points, const Grid& grid, int along,
                                     const std::array<int, 3>& order) {
  std::vector<Distribution> parts;
  parts.reserve(static_cast<std::size_t>(grid.ty * grid.tz));
  for (const Box& box : Decomposition(points, grid).pencils(along)) {
    parts.push_back({box, order});
  }
  return parts;
}

/// The spectrum where the user leaves it to Options::output.
std::vector<Distribution> predefined_output(const Problem& problem) {
  const Options& options = problem.options;
  const Extents points = spectrum_points(options);
  if (options.output == Output::as_input) {
    std::vector<Distribution> parts = problem.input;
    for (Distribution& part : parts) {
      part.box = intersect(part.box, {{}, points});
      if (points != options.size) {
        part.row_pitch = part.plane_pitch = 0;
      }
    }
    return parts;
  }
  // The last direction is contiguous, as its tiles have it; where it is the only one, the field keeps its order.
  constexpr std::array<std::array<int, 3>, 3> orders{{{2, 1, 0}, {2, 0, 1}, {0, 1, 2}}};
  const int last = last_direction(options);
  const bool is_only = last == first_direction(options);
  return pencils_of(points, problem.tuning.grid, last,
                    is_only ? problem.input.front().order : orders[static_cast<std::size_t>(last)]);
}

}  // namespace

std::string find_tiling_mistake(const Boxes& boxes, const Extents& points, std::string_view what) {
  const Box whole{{}, points};
  std::int64_t held = 0;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const Box& box = boxes[rank];
    for (std::size_t d = 0; d < 3; ++d) {
      if (box.extent[d] < 0 || box.lower[d] < 0 || box.lower[d] > points[d] ||
          box.extent[d] > points[d] - box.lower[d]) {
        return fmt::format(
            "the {} part of rank {}, {}x{}x{} points from {} on, does not lie within the {}x{}x{} points", what, rank,
            box.extent[0], box.extent[1], box.extent[2], text_of(box.lower), points[0], points[1], points[2]);
      }
    }
    held += box.count();
  }
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    for (std::size_t other = rank + 1; other < boxes.size(); ++other) {
      const Box common = intersect(boxes[rank], boxes[other]);
      if (common.count() > 0) {
        return fmt::format("the {} parts of ranks {} and {} overlap: both hold the point {}", what, rank, other,
                           text_of(common.lower));
      }
    }
  }
  if (held < whole.count()) {
    const auto hole = find_hole(boxes, 0, whole);
    return fmt::format("no rank's {} part holds the point {}", what, text_of(hole.value_or(Extents{})));
  }
  return {};
}

void resolve_parts(const gas::Team& team, const Options& options, Problem& problem) {
  const std::int64_t components = problem.components();
  const auto numbered = [&](std::vector<Distribution> parts) {
    for (Distribution& part : parts) {
      part = in_sequence(part, options.sequence);
    }
    return parts;
  };
  auto input = given_parts(team, options.input_part, options.size, components, "input");
  problem.input = input ? numbered(*std::move(input))
                        : pencils_of(problem.options.size, problem.tuning.grid, first_direction(problem.options),
                                     in_sequence({.box = {}, .order = x_contiguous}, options.sequence).order);
  auto output = given_parts(team, options.output_part, spectrum_points(options), components, "output");
  problem.output = output ? numbered(*std::move(output)) : predefined_output(problem);
  for (auto* parts : {&problem.input, &problem.output}) {
    for (Distribution& part : *parts) {
      part.components = components;
    }
  }
}

}  // namespace penstock::fft
