#include "penstock/fft/schedule.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/stage_builder.hpp"

namespace penstock::fft {

std::size_t End::section_of(std::int64_t outer) const noexcept {
  const auto after = std::upper_bound(sections.begin(), sections.end(), outer,
                                      [](std::int64_t index, const Section& section) { return index < section.first; });
  return static_cast<std::size_t>(after - sections.begin()) - 1;
}

void ScratchNeed::cover(const ScratchNeed& other) noexcept {
  before = std::max(before, other.before);
  after = std::max(after, other.after);
  plane = std::max(plane, other.plane);
  lent = std::max(lent, other.lent);
  points = std::max(points, other.points);
}

std::vector<StagePlan> describe_stages(const Schedule& schedule) {
  std::vector<StagePlan> plans;
  const auto traffic = [](const End& end) {
    std::uint64_t bytes = 0;
    for (const Section& section : end.sections) {
      for (const TileEnd& tile : section.tiles) {
        bytes += static_cast<std::uint64_t>((section.end - section.first) * tile.bytes);
      }
    }
    return end.place == Place::plane ? 0 : bytes;
  };
  const auto box_of = [](const Stage& stage) {
    const auto set = [](Box& box, int direction, const Range& range) {
      box.lower[at(direction)] = range.lower;
      box.extent[at(direction)] = range.extent;
    };
    Box box;
    set(box, stage.outer, stage.outer_range);
    if (!stage.tiles.empty()) {
      const std::int64_t lower = stage.tiles.front().lower;
      set(box, stage.across, {lower, stage.tiles.back().lower + stage.tiles.back().extent - lower});
    }
    set(box, stage.along, {stage.along_lower, stage.before_points});
    return box;
  };
  const auto sent_by = [&](const Stage& stage) {
    std::map<int, SentTo> sent;
    if (stage.sink.place == Place::exchange) {
      for (const gas::Outgoing& message : schedule.exchanges[stage.sink.exchange].outgoing) {
        SentTo& to = sent[message.peer];
        to.rank = message.peer;
        to.bytes += message.bytes;
        ++to.messages;
      }
    }
    const auto all = std::views::values(sent);
    return std::vector<SentTo>(all.begin(), all.end());
  };
  for (std::size_t pass = 0; pass < schedule.passes.size(); ++pass) {
    for (const Stage& stage : schedule.passes[pass].stages) {
      plans.push_back({.pass = static_cast<int>(pass),
                       .along = stage.along,
                       .is_move = !stage.kind,
                       .bytes_read = traffic(stage.source),
                       .bytes_written = traffic(stage.sink),
                       .box = box_of(stage),
                       .sent = sent_by(stage)});
    }
  }
  return plans;
}

Schedule make_schedule(const Problem& problem, Direction direction, int rank) {
  const std::vector<StageSpec> route = make_route(problem, direction);
  const auto index = static_cast<std::size_t>(rank);
  const Distribution& from = (begins_in_space(direction) ? problem.input : problem.output)[index];
  const std::vector<Distribution>& results = ends_in_space(direction) ? problem.input : problem.output;
  std::size_t last_transform = route.size();  // of a redistribution there is none
  for (std::size_t i = 0; i < route.size(); ++i) {
    last_transform = route[i].kind ? i : last_transform;
  }
  StageBuilder builder(problem, rank);
  std::vector<Stage> pass;
  for (std::size_t i = 0; i < route.size(); ++i) {
    Stage stage = builder.stage(route[i]);
    stage.is_last_transform = i == last_transform;
    if (i == 0) {
      builder.from_user(stage, from);
    } else if (route[i - 1].joins_next) {
      builder.from_plane(stage);
    } else {
      builder.from_exchange(stage);
    }
    if (route[i].ends_at_peers) {
      builder.to_peers(stage, route[i], results);
    } else if (i + 1 == route.size()) {
      builder.to_user(stage, results[index]);
    } else if (route[i].joins_next) {
      builder.to_plane(stage, route[i], route[i + 1]);
    } else {
      builder.to_exchange(stage, route[i], route[i + 1]);
    }
    builder.resolve(stage);
    pass.push_back(std::move(stage));
    if (!route[i].joins_next) {
      builder.add_pass(std::exchange(pass, {}));
    }
  }
  return builder.take();
}

}  // namespace penstock::fft
