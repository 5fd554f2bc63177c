#include "penstock/cli/fft/fft_details.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/cli/fft/fft_report.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {
namespace {

using nlohmann::ordered_json;

constexpr int most_ranks_of_matrix = 128;

/// x, y and z of the first point, and the points along them.
ordered_json to_json(const fft::Box& box) {
  auto json = ordered_json::array();
  std::ranges::copy(box.lower, std::back_inserter(json));
  std::ranges::copy(box.extent, std::back_inserter(json));
  return json;
}

ordered_json to_json(const std::vector<fft::Box>& boxes) {
  auto json = ordered_json::array();
  for (const fft::Box& box : boxes) {
    json.push_back(to_json(box));
  }
  return json;
}

/// Collective: `of` each that a rank sends, by sender and receiver.
ordered_json matrix(const gas::Team& team, const std::vector<fft::SentTo>& sent, std::uint64_t fft::SentTo::*of) {
  const auto ranks = static_cast<std::size_t>(team.size());
  std::vector<std::uint64_t> mine(ranks);
  for (const fft::SentTo& to : sent) {
    mine[static_cast<std::size_t>(to.rank)] = to.*of;
  }
  std::vector<std::uint64_t> all(ranks * ranks);
  gas::all_gather(team, std::span<const std::uint64_t>(mine), std::span(all));
  auto rows = ordered_json::array();
  for (std::size_t sender = 0; sender < ranks; ++sender) {
    const auto row = all.begin() + static_cast<std::ptrdiff_t>(sender * ranks);
    rows.push_back(std::vector<std::uint64_t>(row, row + team.size()));
  }
  return rows;
}

/// Collective: the stages of all ranks, and a point for each in the roofline.
std::pair<ordered_json, ordered_json> stages_of(const gas::Team& team, const FftReport& report) {
  auto stages = ordered_json::array();
  auto points = ordered_json::array();
  const std::vector<fft::StagePlan>& mine = report.decision.forward_stages;
  double all_bytes = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const fft::StagePlan& plan = mine[i];
    const auto along = plan.is_move ? std::nullopt : std::optional(static_cast<std::size_t>(plan.along));
    const std::string name = along ? std::string(1, "xyz"[*along]) : "move";
    auto stage = ordered_json::object();
    stage["name"] = name;
    stage["pass"] = plan.pass;
    stage["boxes"] = to_json(team.all_gather(plan.box));
    if (team.size() <= most_ranks_of_matrix) {
      stage["bytes"] = matrix(team, plan.sent, &fft::SentTo::bytes);
      stage["messages"] = matrix(team, plan.sent, &fft::SentTo::messages);
    }
    stages.push_back(stage);

    double bytes = 0;
    for (const std::uint64_t of_rank : team.all_gather(plan.bytes_read + plan.bytes_written)) {
      bytes += static_cast<double>(of_rank) * static_cast<double>(report.problem.fields);
    }
    all_bytes += bytes;
    const model::FftLimit limit = model::fft_stage_limit(report.problem, along, bytes, report.figures.resources);
    const fft::StageTime& time = report.times.forward.best.stages[i];
    points.push_back({{"name", name},
                      {"flops", limit.arithmetic_s * report.figures.resources.fft_rate_flops},
                      {"bytes", bytes},
                      {"time_s", time.gather_s + time.transform_s + time.scatter_s + time.wait_s}});
  }
  points.push_back({{"name", "all"},
                    {"flops", model::fft_flops(report.problem)},
                    {"bytes", all_bytes},
                    {"time_s", report.times.forward.min_s()}});
  return {stages, points};
}

/// By rank: the whole time, and of each stage what gathering, transforming, scattering and waiting took.
ordered_json times_of(const std::vector<fft::Breakdown>& ranks, std::size_t stages) {
  auto json = ordered_json::array();
  for (const fft::Breakdown& rank : ranks) {
    auto of_stages = ordered_json::array();
    for (std::size_t i = 0; i < stages; ++i) {
      const fft::StageTime& time = rank.stages[i];
      of_stages.push_back({time.gather_s, time.transform_s, time.scatter_s, time.wait_s});
    }
    json.push_back({{"total_s", rank.total_s}, {"stages", of_stages}});
  }
  return json;
}

/// What twice of each resource gains, of the predicted time or else of the limit.
ordered_json gains_of(const FftReport& report) {
  auto factors = ordered_json::object();
  if (report.predicted) {
    for (const model::Gain& gain : model::planned_fft_gains(report.decision.machine, *report.decision.modelled)) {
      factors[std::string(model::name_of(gain.resource))] = gain.factor;
    }
    return {{"of", "the predicted time"}, {"factors", factors}};
  }
  const double limit_s = report.limit.limit_s();
  const auto add = [&](model::Resource resource, double model::Resources::*rate) {
    model::Resources more = report.figures.resources;
    more.*rate *= 2;
    const double factor = limit_s / model::fft_limit(report.problem, more).limit_s();
    if (factor > 1) {
      factors[std::string(model::name_of(resource))] = factor;
    }
  };
  if (limit_s > 0) {
    add(model::Resource::memory_bandwidth, &model::Resources::memory_bandwidth_bytes_per_s);
    add(model::Resource::arithmetic, &model::Resources::fft_rate_flops);
  }
  return {{"of", "the limit"}, {"factors", factors}};
}

}  // namespace

ordered_json fft_details(const gas::Team& team, const fft::Distribution& output, const FftReport& report) {
  auto details = ordered_json::object();
  auto [stages, points] = stages_of(team, report);
  details["stages"] = std::move(stages);
  details["output"] = to_json(team.all_gather(output.box));
  details["forward"] = times_of(report.times.forward.best_of_ranks, report.decision.forward_stages.size());
  details["backward"] = times_of(report.times.backward.best_of_ranks, report.decision.backward_stages.size());
  details["roofline"] = {{"memory_bytes_per_s", report.figures.resources.memory_bandwidth_bytes_per_s},
                         {"flops_per_s", report.figures.resources.fft_rate_flops},
                         {"points", std::move(points)}};
  details["gains"] = gains_of(report);
  details["why_not_predicted"] = report.why_not_predicted;
  details["cores"] = report.figures.machine.node.cores;
  details["cache_bytes"] = report.figures.machine.node.cache_bytes;
  return details;
}

}  // namespace penstock::cli
