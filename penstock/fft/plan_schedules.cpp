// The schedules of both directions, and of a convolution where the plan makes any, with what they need together.
#include "penstock/fft/plan_schedules.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/pipeline.hpp"
#include "penstock/fft/planner.hpp"
#include "penstock/fft/sequence.hpp"

namespace penstock::fft {
namespace {

Schedules schedules_of(const gas::Team& team, const Problem& problem) {
  Schedules schedules{.forward = make_schedule(problem, Direction::forward, team.rank()),
                      .backward = make_schedule(problem, Direction::backward, team.rank()),
                      .convolution = {},
                      .collocation = {},
                      .region_bytes = {},
                      .scratch = {},
                      .need = {}};
  if (problem.options.convolves) {
    schedules.convolution = make_schedule(problem, Direction::there_and_back, team.rank());
  }
  if (problem.options.collocates) {
    schedules.collocation = make_schedule(problem, Direction::back_and_there, team.rank());
  }
  const auto count = [&](const Schedule& schedule) {
    schedules.region_bytes.resize(std::max(schedules.region_bytes.size(), schedule.region_bytes.size()));
    for (std::size_t i = 0; i < schedule.region_bytes.size(); ++i) {
      schedules.region_bytes[i] = std::max(schedules.region_bytes[i], schedule.region_bytes[i]);
    }
    for (const ExchangePlan& exchange : schedule.exchanges) {
      schedules.need.exchange_bytes +=
          gas::Exchange::buffer_bytes(team, exchange.outgoing, problem.options.exchange_method.get());
    }
    schedules.scratch.cover(schedule.scratch);
  };
  count(schedules.forward);
  count(schedules.backward);
  if (schedules.convolution) {
    count(*schedules.convolution);
  }
  if (schedules.collocation) {
    count(*schedules.collocation);
  }
  for (const std::uint64_t bytes : schedules.region_bytes) {
    schedules.need.exchange_bytes += bytes;
  }
  schedules.need.scratch_bytes =
      static_cast<std::uint64_t>(problem.options.threads) * Scratch::bytes(schedules.scratch);
  if (problem.options.has_arrays) {
    schedules.need.array_bytes =
        static_cast<std::uint64_t>(problem.input_bytes(team.rank()) + problem.output_bytes(team.rank()));
  }
  schedules.need.field_bytes = static_cast<std::uint64_t>(problem.field_bytes(team.rank()));
  return schedules;
}

}  // namespace

Decision decide(const Problem& problem, const Schedules& schedules) {
  const gas::ExchangeMethod* const method = problem.options.exchange_method.get();
  const bool is_plane_in_cache =
      std::ranges::any_of(schedules.forward.passes, [](const Pass& pass) { return pass.stages.size() > 1; });
  const int first = first_direction(problem.options);
  const LocalLibrary* const library =
      find_library(problem.options.local, problem.row_kind(first), problem.numbers(first));
  const auto stages_of = [&](const Schedule& schedule) {
    std::vector<StagePlan> stages = describe_stages(schedule);
    for (StagePlan& stage : stages) {
      stage.along = problem.sequence[at(stage.along)];
      stage.box = from_sequence(Distribution{.box = stage.box}, problem.sequence).box;
    }
    return stages;
  };
  std::shared_ptr<const model::PlannedFft> modelled;
  if (problem.modelled) {
    modelled = std::make_shared<const model::PlannedFft>(run_of(*problem.modelled, problem.tuning, is_plane_in_cache));
  }
  return {.tuning = problem.tuning,
          .exchange_method = std::string(method == nullptr ? "" : method->name()),
          .has_progress_thread = problem.has_progress_thread,
          .local = library->name,
          .is_plane_in_cache = is_plane_in_cache,
          .candidates = problem.candidates,
          .machine = problem.modelled ? problem.modelled->machine : problem.machine,
          .modelled = std::move(modelled),
          .passes = static_cast<int>(schedules.forward.passes.size()),
          .forward_stages = stages_of(schedules.forward),
          .backward_stages = stages_of(schedules.backward),
          .convolution_stages = schedules.convolution ? stages_of(*schedules.convolution) : std::vector<StagePlan>{},
          .collocation_stages = schedules.collocation ? stages_of(*schedules.collocation) : std::vector<StagePlan>{}};
}

Schedules make_schedules(const gas::Team& team, const Problem& problem) {
  Schedules schedules;
  team.together([&] { schedules = schedules_of(team, problem); });
  return schedules;
}

}  // namespace penstock::fft
