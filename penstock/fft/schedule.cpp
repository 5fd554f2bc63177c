#include "penstock/fft/schedule.hpp"

#include <algorithm>
#include <utility>

#include "penstock/fft/stage_builder.hpp"

namespace penstock::fft {
namespace {

constexpr int x = 0;
constexpr int y = 1;
constexpr int z = 2;

// Who transposes: every exchange is stored in the order in which its reader walks it, with one exception each way. A
// sender that has one index of the reader's direction at a time (forward y to z, and to and from x-pencils of the
// spectrum) leaves the transposition to the reader. It stores strips as wide as the reader's tiles, so that a tile is
// contiguous all the same.
Schedule make_forward(const Problem& problem, StageBuilder builder) {
  const std::int64_t strip = chunk_bytes / problem.complex_bytes();
  if (problem.is_plane_in_cache) {
    Stage first = builder.stage(z, y, x, RowKind::forward);
    Stage second = builder.stage(z, x, y, RowKind::forward);
    builder.from_user(first, x_pencil_order);
    builder.join(first, second);
    builder.to_exchange(second, {.from = y, .to = z, .order = {x, z, y}, .strip = strip});
    builder.add_pass(std::move(first), std::move(second));
  } else {
    Stage first = builder.stage(z, y, x, RowKind::forward);
    builder.from_user(first, x_pencil_order);
    builder.to_exchange(first, {.from = x, .to = y, .order = {z, x, y}});
    builder.add_pass(std::move(first));
    Stage second = builder.stage(z, x, y, RowKind::forward);
    builder.from_exchange(second);
    builder.to_exchange(second, {.from = y, .to = z, .order = {x, z, y}, .strip = strip});
    builder.add_pass(std::move(second));
  }
  Stage third = builder.stage(x, y, z, RowKind::forward);
  builder.from_exchange(third);
  if (problem.options.output == Output::transposed) {
    builder.to_user(third, z_pencil_order);
    builder.add_pass(std::move(third));
  } else {
    builder.to_exchange(third, {.from = z, .to = x, .order = {z, x, y}, .strip = strip});
    builder.add_pass(std::move(third));
    Stage last = builder.stage(z, y, x, std::nullopt);
    builder.from_exchange(last);
    builder.to_user(last, x_pencil_order);
    builder.add_pass(std::move(last));
  }
  return builder.take();
}

Schedule make_backward(const Problem& problem, StageBuilder builder) {
  const std::int64_t strip = chunk_bytes / problem.complex_bytes();
  Stage first = builder.stage(x, y, z, RowKind::backward);
  if (problem.options.output == Output::transposed) {
    builder.from_user(first, z_pencil_order);
  } else {
    Stage bring = builder.stage(z, y, x, std::nullopt);
    builder.from_user(bring, x_pencil_order);
    builder.to_exchange(bring, {.from = x, .to = z, .order = {x, z, y}, .strip = strip});
    builder.add_pass(std::move(bring));
    builder.from_exchange(first);
  }
  builder.to_exchange(first, {.from = z, .to = y, .order = {z, x, y}});
  builder.add_pass(std::move(first));
  Stage second = builder.stage(z, x, y, RowKind::backward);
  builder.from_exchange(second);
  Stage third = builder.stage(z, y, x, RowKind::backward);
  if (problem.is_plane_in_cache) {
    builder.join(second, third);
    builder.to_user(third, x_pencil_order);
    builder.add_pass(std::move(second), std::move(third));
  } else {
    builder.to_exchange(second, {.from = y, .to = x, .order = {z, y, x}});
    builder.add_pass(std::move(second));
    builder.from_exchange(third);
    builder.to_user(third, x_pencil_order);
    builder.add_pass(std::move(third));
  }
  return builder.take();
}

}  // namespace

std::size_t End::section_of(std::int64_t outer) const noexcept {
  const auto after = std::upper_bound(sections.begin(), sections.end(), outer,
                                      [](std::int64_t index, const Section& section) { return index < section.first; });
  return static_cast<std::size_t>(after - sections.begin()) - 1;
}

std::vector<StagePlan> describe_stages(const Schedule& schedule) {
  std::vector<StagePlan> plans;
  const auto traffic = [](const End& end) {
    std::uint64_t bytes = 0;
    for (const Section& section : end.sections) {
      for (const auto& moves : section.moves) {
        for (const Move& move : moves) {
          bytes += static_cast<std::uint64_t>((section.end - section.first) * move.mover.bytes());
        }
      }
    }
    return end.place == Place::plane ? 0 : bytes;
  };
  for (std::size_t pass = 0; pass < schedule.passes.size(); ++pass) {
    for (const Stage& stage : schedule.passes[pass].stages) {
      plans.push_back({.pass = static_cast<int>(pass),
                       .along = stage.along,
                       .is_move = !stage.shape,
                       .bytes_read = traffic(stage.source),
                       .bytes_written = traffic(stage.sink)});
    }
  }
  return plans;
}

Schedule make_schedule(const Problem& problem, bool is_forward, int rank, int ranks) {
  StageBuilder builder(problem, is_forward, rank, ranks);
  return is_forward ? make_forward(problem, std::move(builder)) : make_backward(problem, std::move(builder));
}

}  // namespace penstock::fft
