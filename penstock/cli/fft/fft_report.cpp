#include "penstock/cli/fft/fft_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/fft/fft_problem.hpp"
#include "penstock/cli/fft/plan_options.hpp"
#include "penstock/cli/fft/stage_report.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/terminal.hpp"

namespace penstock::cli {
namespace {

std::string_view name(fft::Effort effort) {
  return effort == fft::Effort::measure ? "measure" : "estimate";
}
std::string_view name(fft::Movers movers) {
  return movers == fft::Movers::compiled ? "compiled" : "ahead-of-time";
}
/// The candidates as a table of their own.
std::string describe_candidates(const std::vector<fft::Candidate>& candidates) {
  const auto time = [](double time_s) { return time_s > 0 ? format_seconds(time_s) : std::string("-"); };
  std::string text =
      report_line("Candidates", "{:<10} {:<8} {:<9} {:<12} {}", "grid", "planes", "deferred", "predicted", "measured");
  for (const fft::Candidate& candidate : candidates) {
    const auto& [grid, planes, deferred] = candidate.tuning;
    text += report_line("", "{:<10} {:<8} {:<9} {:<12} {:<12}{}", fmt::format("{}x{}", grid.ty, grid.tz),
                        planes == 0 ? "all" : fmt::format("{}", planes),
                        deferred == 0 ? "none" : fmt::format("{}/{}", deferred, shape::exchange_parts),
                        time(candidate.predicted_s), time(candidate.measured_s),
                        &candidate == &candidates.front() ? "chosen" : "");
  }
  return text;
}

/// What was not measured is null.
nlohmann::ordered_json number_or_null(double number) {
  return number > 0 ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
}

/// The candidates, the one chosen first.
nlohmann::ordered_json to_json(const std::vector<fft::Candidate>& candidates) {
  auto json = nlohmann::ordered_json::array();
  for (const fft::Candidate& candidate : candidates) {
    const auto& [grid, planes_per_message, deferred_parts] = candidate.tuning;
    json.push_back({{"grid", {grid.ty, grid.tz}},
                    {"planes_per_message", planes_per_message},
                    {"deferred_parts", deferred_parts},
                    {"predicted_s", number_or_null(candidate.predicted_s)},
                    {"measured_s", number_or_null(candidate.measured_s)}});
  }
  return json;
}

}  // namespace

std::string describe_plan(const Session& session, const FftOptions& options, const FftReport& report) {
  const machine::Node& node = report.figures.machine.node;
  const model::Resources& rates = report.figures.resources;
  const fft::MemoryNeed& memory = report.memory;
  std::string text;
  text += report_line("Machine", "{}; {} cores and {} of cache a node", report.figures.machine.name, node.cores,
                      format_bytes(static_cast<std::uint64_t>(node.cache_bytes)));
  text += report_line("", "memory {}, 1-D transforms in cache {:.1f} GFlop/s, of all ranks together ({})",
                      rates.memory_bandwidth_bytes_per_s > 0
                          ? fmt::format("{:.1f} GB/s", rates.memory_bandwidth_bytes_per_s / 1e9)
                          : "not needed (the field stays in cache)",
                      rates.fft_rate_flops / 1e9, report.figures.source);
  text += describe_problem(options);
  text += report_line("Ranks", "{} on {} node{}, {} thread{} each, transport {}", session.team.size(), session.nodes,
                      session.nodes > 1 ? "s" : "", session.threads, session.threads > 1 ? "s" : "",
                      session.team.transport().name);
  text += report_line("Plan", "grid {}x{}, {}, {} pass{} over memory, spectrum {}, scaling {}",
                      report.decision.tuning.grid.ty, report.decision.tuning.grid.tz,
                      describe_exchanges(report.decision), report.decision.passes,
                      report.decision.passes == 1 ? "" : "es", layout_name(options), scaling_name(options));
  text += report_line("", "planned in {} (effort {}); wisdom {}; pencils by {}, movers {}",
                      format_seconds(report.planning_s), name(options.fft.effort), report.wisdom, report.decision.local,
                      name(options.fft.movers));
  if (options.wants_explanation) {
    text += describe_candidates(report.decision.candidates);
  }
  text += report_line("Memory", "{} a rank: fields {}, exchange {}, scratch {}; the node had {}",
                      format_bytes(memory.field_bytes + memory.total_bytes()), format_bytes(memory.field_bytes),
                      format_bytes(memory.exchange_bytes), format_bytes(memory.scratch_bytes),
                      format_bytes(report.available_bytes));
  return text;
}

void FftReport::predict(const std::string& machine_path) {
  if (machine_path.empty()) {
    why_not_predicted = "give --machine FILE.toml, as penstock calibrate writes it";
  } else if (decision.modelled == nullptr) {
    why_not_predicted = "the model knows complex and real transforms along all directions, and not MPI's own ways";
  } else {
    try {
      predicted = model::planned_fft_time(decision.machine, *decision.modelled);
      const auto gains = model::planned_fft_gains(decision.machine, *decision.modelled);
      predicted_bound = gains.empty() ? "nothing" : model::name_of(gains.front().resource);
    } catch (const Error& error) {
      why_not_predicted = error.what();
    }
  }
}

namespace {

std::string describe_prediction(const FftReport& report) {
  if (!report.predicted) {
    return report_line("Predicted", "nothing: {}", report.why_not_predicted);
  }
  const model::PlannedFftTime& time = *report.predicted;
  const double message_s = time.overhead_s + time.transfer_s - time.hidden_s;
  const auto error = report.prediction_error();
  return report_line("Predicted", "{}{}; bound by {}", format_seconds(time.total_s),
                     error ? fmt::format(", {:+.0f} % of forward", 100 * *error) : "", report.predicted_bound) +
         report_line("", "transform {}, move {}, messages {} ({} more hidden), start {}",
                     format_seconds(time.transform_s), format_seconds(time.move_s), format_seconds(message_s),
                     format_seconds(time.hidden_s), format_seconds(time.start_s));
}

/// Keys that are null where nothing was predicted.
void add_prediction(nlohmann::ordered_json& json, const FftReport& report) {
  const auto value = [&](double number) {
    return report.predicted ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
  };
  const model::PlannedFftTime time = report.predicted.value_or(model::PlannedFftTime{});
  json["predicted_s"] = value(time.total_s);
  json["predicted_transform_s"] = value(time.transform_s);
  json["predicted_move_s"] = value(time.move_s);
  json["predicted_message_s"] = value(time.overhead_s + time.transfer_s - time.hidden_s);
  json["predicted_hidden_s"] = value(time.hidden_s);
  json["predicted_start_s"] = value(time.start_s);
  json["predicted_bound_by"] =
      report.predicted ? nlohmann::ordered_json(report.predicted_bound) : nlohmann::ordered_json();
  json["prediction_error"] = report.predicted ? or_null(report.prediction_error()) : nlohmann::ordered_json();
}

}  // namespace

std::string describe_results(const Session& session, const FftOptions& options, const FftReport& report) {
  const bool is_real = options.fft.type != fft::Type::c2c;
  std::string text =
      describe_times("Forward", report.times.forward) + describe_times("Backward", report.times.backward);
  const std::vector<StageReport> stages =
      stage_reports(report, session.team.size(), report.decision.forward_stages, report.times.forward.best);
  for (const StageReport& stage : stages) {
    text += report_line(&stage == &stages.front() ? "Stages" : "", "{}", describe(stage));
  }
  if (const auto rate_flops = report.rate_flops()) {
    text += report_line("Rate", "{} forward, by the convention of {} N log2 N operations",
                        strong(fmt::format("{:.2f} GFlop/s", *rate_flops / 1e9)), is_real ? "2.5" : "5");
  }
  if (report.limit.limit_s() > 0) {
    text += report_line("Limit", "{}, set by {} (memory {}, arithmetic {}); {}", format_seconds(report.limit.limit_s()),
                        report.limit.is_bound_by_memory() ? "memory" : "arithmetic",
                        report.limit.memory_s > 0 ? format_seconds(report.limit.memory_s) : "none",
                        format_seconds(report.limit.arithmetic_s),
                        strong(fmt::format("{:.0f} % of it reached", 100 * report.fraction_of_limit().value_or(0))));
  }
  text += describe_prediction(report);
  text += describe_check(report.relative_error, report.tolerance, report.has_failed());
  if (report.modes_kept) {
    const double points = static_cast<double>(options.fft.size[0]) * static_cast<double>(options.fft.size[1]) *
                          static_cast<double>(options.fft.size[2]);
    text += report_line("Low-pass", "radius {:g}: {:.0f} of {:.0f} modes kept", *options.low_pass_radius,
                        *report.modes_kept, points);
  }
  if (!options.output_path.empty()) {
    text += report_line("Written", "{} ({})", options.output_path,
                        report.modes_kept ? "the filtered field" : "the spectrum");
  }
  if (!options.spectrum_path.empty()) {
    text += report_line("Written", "{} (power by wavenumber)", options.spectrum_path);
  }
  return text;
}

nlohmann::ordered_json to_json(const Session& session, const FftOptions& options, const FftReport& report) {
  const model::Resources& rates = report.figures.resources;
  nlohmann::ordered_json json = problem_json(options);
  json["ranks"] = session.team.size();
  json["nodes"] = session.nodes;
  json["threads"] = session.threads;
  json["transport"] = session.team.transport().name;
  json["grid"] = {report.decision.tuning.grid.ty, report.decision.tuning.grid.tz};
  json["algorithm"] = algorithm_name(report.decision);
  json["planes_per_message"] = report.decision.tuning.planes_per_message;
  json["deferred_parts"] = report.decision.tuning.deferred_parts;
  json["progress"] = report.decision.has_progress_thread ? "thread" : "tiles";
  json["passes"] = report.decision.passes;
  json["planning"] = options.fft.planning == fft::Planning::measure ? "measure" : "model";
  json["candidates"] = to_json(report.decision.candidates);
  json["effort"] = name(options.fft.effort);
  json["local"] = report.decision.local;
  json["isa"] = name_of(options.fft.instruction_set.value_or(best_instruction_set()));
  json["movers"] = name(options.fft.movers);
  json["planning_s"] = report.planning_s;
  json["field_bytes_per_rank"] = report.memory.field_bytes;
  json["exchange_bytes_per_rank"] = report.memory.exchange_bytes;
  json["scratch_bytes_per_rank"] = report.memory.scratch_bytes;
  add_times(json, options, report.times);
  json["forward_stages"] =
      to_json(stage_reports(report, session.team.size(), report.decision.forward_stages, report.times.forward.best));
  json["backward_stages"] =
      to_json(stage_reports(report, session.team.size(), report.decision.backward_stages, report.times.backward.best));
  json["rate_gflops"] = or_null(report.over_forward_s(model::fft_flops(report.problem) / 1e9));
  json["machine"] = report.figures.machine.name;
  json["machine_source"] = report.figures.source;
  json["memory_bandwidth_bytes_per_s"] = number_or_null(rates.memory_bandwidth_bytes_per_s);
  json["fft_rate_gflops"] = rates.fft_rate_flops / 1e9;
  json["limit_s"] = report.limit.limit_s();
  json["limit_memory_s"] = report.limit.memory_s;
  json["limit_arithmetic_s"] = report.limit.arithmetic_s;
  json["fraction_of_limit"] = or_null(report.fraction_of_limit());
  add_prediction(json, report);
  json["relative_error"] = or_null(report.relative_error);
  json["tolerance"] = report.tolerance;
  if (report.modes_kept) {
    json["filter_lowpass_radius"] = *options.low_pass_radius;
    json["filter_lowpass_modes_kept"] = *report.modes_kept;
  }
  return json;
}

std::string spectrum_table(const field::RadialSpectrum& spectrum) {
  std::string text = "# wavenumber power modes\n";
  for (std::size_t k = 0; k < spectrum.power.size(); ++k) {
    text += fmt::format("{} {:.9e} {:.0f}\n", k, spectrum.power[k], spectrum.modes[k]);
  }
  return text;
}

}  // namespace penstock::cli
