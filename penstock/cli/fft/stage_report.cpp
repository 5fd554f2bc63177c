#include "penstock/cli/fft/stage_report.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/fft/fft_report.hpp"

namespace penstock::cli {

std::string_view StageReport::bound_by() const noexcept {
  if (2 * time.wait_s > total_s()) {
    return "waiting";
  }
  return limit.limit_s() == 0 ? "" : limit.is_bound_by_memory() ? "memory" : "arithmetic";
}

std::vector<StageReport> stage_reports(const FftReport& report, int ranks, const std::vector<fft::StagePlan>& plans,
                                       const fft::Breakdown& breakdown) {
  std::vector<StageReport> stages;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const fft::StagePlan& plan = plans[i];
    const auto along = plan.is_move ? std::nullopt : std::optional(static_cast<std::size_t>(plan.along));
    const double bytes =
        static_cast<double>(plan.bytes_read + plan.bytes_written) * ranks * static_cast<double>(report.problem.fields);
    stages.push_back(
        {plan, breakdown.stages[i], model::fft_stage_limit(report.problem, along, bytes, report.figures.resources)});
  }
  return stages;
}

std::string describe(const StageReport& stage) {
  std::string text = fmt::format("{} {}", stage.plan.is_move ? "move" : std::string(1, "xyz"[stage.plan.along]),
                                 format_seconds(stage.total_s()));
  if (const std::string_view bound = stage.bound_by(); !bound.empty()) {
    text += fmt::format(", bound by {}", bound);
  }
  if (stage.limit.limit_s() > 0 && stage.total_s() > 0) {
    text += fmt::format("; memory {}, arithmetic {}: {:.0f} % of the limit reached",
                        stage.limit.memory_s > 0 ? format_seconds(stage.limit.memory_s) : "none",
                        stage.limit.arithmetic_s > 0 ? format_seconds(stage.limit.arithmetic_s) : "none",
                        100 * stage.limit.limit_s() / stage.total_s());
  }
  return text;
}

nlohmann::ordered_json to_json(const std::vector<StageReport>& stages) {
  auto json = nlohmann::ordered_json::array();
  for (const StageReport& report : stages) {
    auto stage = nlohmann::ordered_json::object();
    stage["pass"] = report.plan.pass;
    stage["transforms_along"] = nullptr;
    if (!report.plan.is_move) {
      stage["transforms_along"] = std::string(1, "xyz"[report.plan.along]);
    }
    stage["bytes_read"] = report.plan.bytes_read;
    stage["bytes_written"] = report.plan.bytes_written;
    stage["gather_s"] = report.time.gather_s;
    stage["transform_s"] = report.time.transform_s;
    stage["scatter_s"] = report.time.scatter_s;
    stage["wait_s"] = report.time.wait_s;
    stage["limit_memory_s"] = report.limit.memory_s;
    stage["limit_arithmetic_s"] = report.limit.arithmetic_s;
    stage["bound_by"] = nullptr;
    if (const std::string_view bound = report.bound_by(); !bound.empty()) {
      stage["bound_by"] = bound;
    }
    json.push_back(stage);
  }
  return json;
}

}  // namespace penstock::cli
