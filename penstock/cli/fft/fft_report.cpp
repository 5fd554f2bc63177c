#include "penstock/cli/fft/fft_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/fft/plan_options.hpp"
#include "penstock/cli/fft/stage_report.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/terminal.hpp"

namespace penstock::cli {
namespace {

std::string_view name(fft::Output output) {
  return output == fft::Output::transposed ? "transposed" : "as-input";
}
std::string_view name(fft::Scaling scaling) {
  return scaling == fft::Scaling::none ? "none" : scaling == fft::Scaling::symmetric ? "symmetric" : "full";
}
std::string_view name(fft::Effort effort) {
  return effort == fft::Effort::measure ? "measure" : "estimate";
}
std::string_view name(fft::Movers movers) {
  return movers == fft::Movers::compiled ? "compiled" : "ahead-of-time";
}
std::string_view precision_name(const FftOptions& options) {
  return *options.is_single ? "single" : "double";
}

std::string size_of(const FftOptions& options) {
  const auto [nx, ny, nz] = options.fft.size;
  return fmt::format("{}x{}x{}", nx, ny, nz);
}

/// "xyz" where all directions are transformed.
std::string along_of(const FftOptions& options) {
  std::string directions;
  for (std::size_t d = 0; d < 3; ++d) {
    directions += options.fft.along[d] ? std::string(1, "xyz"[d]) : "";
  }
  return directions;
}

std::string sequence_of(const FftOptions& options) {
  std::string directions;
  for (const int d : options.fft.sequence) {
    directions += "xyz"[d];
  }
  return directions;
}

bool has_real_kinds(const FftOptions& options) {
  return options.fft.type == fft::Type::r2r || options.fft.kinds != decltype(options.fft.kinds){};
}

/// What the size and the type leave open, of a transform that is not the Fourier transform of all directions.
std::string describe_directions(const FftOptions& options) {
  std::string text = options.fft.along == std::array{true, true, true} ? "" : " along " + along_of(options);
  for (int d = 0; d < 3 && has_real_kinds(options); ++d) {
    if (options.fft.along[static_cast<std::size_t>(d)]) {
      text += fmt::format(", {} {}", "xyz"[d], kind_name(fft::real_kind(options.fft, d)));
    }
  }
  if (options.fft.sequence != std::array{0, 1, 2}) {
    text += fmt::format(", in the sequence {}", sequence_of(options));
  }
  return text;
}

constexpr int title_width = 12;

/// A line of the table.
template <class... Values>
std::string line(std::string_view title, fmt::format_string<Values...> format, Values&&... values) {
  return fmt::format("{:<{}} ", title, title_width) + fmt::format(format, std::forward<Values>(values)...) + "\n";
}

/// A line of text, and on a terminal one that draws it.
std::string describe(const fft::Breakdown& breakdown) {
  const double total_s = breakdown.total_s > 0 ? breakdown.total_s : 1;
  // What is left: threads starting, and waiting for one another at a stage's end.
  const double other_s = total_s - breakdown.transform_s() - breakdown.move_s() - breakdown.wait_s();
  const std::array parts{Part{"transform", breakdown.transform_s()}, Part{"move", breakdown.move_s()},
                         Part{"wait", breakdown.wait_s()}, Part{"other", std::max(other_s, 0.0)}};
  std::vector<std::string> texts;
  for (const Part& part : parts) {
    texts.push_back(
        fmt::format("{} {} ({:.0f} %)", part.name, format_seconds(part.amount), 100 * part.amount / total_s));
  }
  return line("", "{}", fmt::join(texts, ", ")) + bar(title_width + 1, parts);
}

std::string describe_times(std::string_view title, const field::Times& times) {
  return line(title, "min {}, median {} of {}", strong(format_seconds(times.min_s())), format_seconds(times.median_s()),
              times.all_s.size()) +
         describe(times.best);
}

/// The candidates as a table of their own.
std::string describe_candidates(const std::vector<fft::Candidate>& candidates) {
  const auto time = [](double time_s) { return time_s > 0 ? format_seconds(time_s) : std::string("-"); };
  std::string text =
      line("Candidates", "{:<10} {:<8} {:<9} {:<12} {}", "grid", "planes", "deferred", "predicted", "measured");
  for (const fft::Candidate& candidate : candidates) {
    const auto& [grid, planes, deferred] = candidate.tuning;
    text += line("", "{:<10} {:<8} {:<9} {:<12} {:<12}{}", fmt::format("{}x{}", grid.ty, grid.tz),
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

nlohmann::ordered_json to_json(const fft::Breakdown& breakdown) {
  return {{"transform_s", breakdown.transform_s()},
          {"move_s", breakdown.move_s()},
          {"wait_s", breakdown.wait_s()},
          {"total_s", breakdown.total_s}};
}

}  // namespace

std::string describe_plan(const Session& session, const FftOptions& options, const FftReport& report) {
  const machine::Node& node = report.figures.machine.node;
  const model::Resources& rates = report.figures.resources;
  const fft::MemoryNeed& memory = report.memory;
  const std::string fields = options.fft.batch > 1 ? fmt::format(", {} fields", options.fft.batch) : "";
  const std::string input = options.input_path.empty() ? "noise" : options.input_path;
  std::string text;
  text += line("Machine", "{}; {} cores and {} of cache a node", report.figures.machine.name, node.cores,
               format_bytes(static_cast<std::uint64_t>(node.cache_bytes)));
  text +=
      line("", "memory {}, 1-D transforms in cache {:.1f} GFlop/s, of all ranks together ({})",
           rates.memory_bandwidth_bytes_per_s > 0 ? fmt::format("{:.1f} GB/s", rates.memory_bandwidth_bytes_per_s / 1e9)
                                                  : "not needed (the field stays in cache)",
           rates.fft_rate_flops / 1e9, report.figures.source);
  text += line("Problem", "{} {}{}, {} precision{}: {}", size_of(options), type_name(options.fft.type),
               describe_directions(options), precision_name(options), fields, input);
  text += line("Ranks", "{} on {} node{}, {} thread{} each, transport {}", session.team.size(), session.nodes,
               session.nodes > 1 ? "s" : "", session.threads, session.threads > 1 ? "s" : "",
               session.team.transport().name);
  text += line("Plan", "grid {}x{}, {}, {} pass{} over memory, spectrum {}, scaling {}", report.decision.tuning.grid.ty,
               report.decision.tuning.grid.tz, describe_exchanges(report.decision), report.decision.passes,
               report.decision.passes == 1 ? "" : "es", name(options.fft.output), name(options.scaling));
  text += line("", "planned in {} (effort {}); wisdom {}; pencils by {}, movers {}", format_seconds(report.planning_s),
               name(options.fft.effort), report.wisdom, report.decision.local, name(options.fft.movers));
  if (options.wants_explanation) {
    text += describe_candidates(report.decision.candidates);
  }
  text += line("Memory", "{} a rank: fields {}, exchange {}, scratch {}; the node had {}",
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
    return line("Predicted", "nothing: {}", report.why_not_predicted);
  }
  const model::PlannedFftTime& time = *report.predicted;
  const double message_s = time.overhead_s + time.transfer_s - time.hidden_s;
  const auto error = report.prediction_error();
  return line("Predicted", "{}{}; bound by {}", format_seconds(time.total_s),
              error ? fmt::format(", {:+.0f} % of forward", 100 * *error) : "", report.predicted_bound) +
         line("", "transform {}, move {}, messages {} ({} more hidden), start {}", format_seconds(time.transform_s),
              format_seconds(time.move_s), format_seconds(message_s), format_seconds(time.hidden_s),
              format_seconds(time.start_s));
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
    text += line(&stage == &stages.front() ? "Stages" : "", "{}", describe(stage));
  }
  if (const auto rate_flops = report.rate_flops()) {
    text += line("Rate", "{} forward, by the convention of {} N log2 N operations",
                 strong(fmt::format("{:.2f} GFlop/s", *rate_flops / 1e9)), is_real ? "2.5" : "5");
  }
  if (report.limit.limit_s() > 0) {
    text += line("Limit", "{}, set by {} (memory {}, arithmetic {}); {}", format_seconds(report.limit.limit_s()),
                 report.limit.is_bound_by_memory() ? "memory" : "arithmetic",
                 report.limit.memory_s > 0 ? format_seconds(report.limit.memory_s) : "none",
                 format_seconds(report.limit.arithmetic_s),
                 strong(fmt::format("{:.0f} % of it reached", 100 * report.fraction_of_limit().value_or(0))));
  }
  text += describe_prediction(report);
  if (report.relative_error) {
    text += line("Error", "{:.1e} by random projections and on the way back; allowed {:.1e}{}", *report.relative_error,
                 report.tolerance, report.has_failed() ? ": " + alarming("FAILED") : "");
  } else {
    text += line("Error", "not checked (--check)");
  }
  if (report.modes_kept) {
    const double points = static_cast<double>(options.fft.size[0]) * static_cast<double>(options.fft.size[1]) *
                          static_cast<double>(options.fft.size[2]);
    text += line("Low-pass", "radius {:g}: {:.0f} of {:.0f} modes kept", *options.low_pass_radius, *report.modes_kept,
                 points);
  }
  if (!options.output_path.empty()) {
    text += line("Written", "{} ({})", options.output_path, report.modes_kept ? "the filtered field" : "the spectrum");
  }
  if (!options.spectrum_path.empty()) {
    text += line("Written", "{} (power by wavenumber)", options.spectrum_path);
  }
  return text;
}

nlohmann::ordered_json to_json(const Session& session, const FftOptions& options, const FftReport& report) {
  const model::Resources& rates = report.figures.resources;
  auto json = nlohmann::ordered_json::object();
  json["command"] = "fft";
  json["version"] = PENSTOCK_VERSION;
  json["size"] = options.fft.size;
  json["type"] = type_name(options.fft.type);
  json["along"] = along_of(options);
  for (int d = 0; d < 3 && has_real_kinds(options); ++d) {
    append(json, "kinds", kind_name(fft::real_kind(options.fft, d)));
  }
  json["sequence"] = sequence_of(options);
  json["precision"] = precision_name(options);
  json["batch"] = options.fft.batch;
  json["input"] = options.input_path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.input_path);
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
  json["layout"] = name(options.fft.output);
  json["scaling"] = name(options.scaling);
  json["effort"] = name(options.fft.effort);
  json["local"] = report.decision.local;
  json["isa"] = name_of(options.fft.instruction_set.value_or(best_instruction_set()));
  json["movers"] = name(options.fft.movers);
  json["planning_s"] = report.planning_s;
  json["field_bytes_per_rank"] = report.memory.field_bytes;
  json["exchange_bytes_per_rank"] = report.memory.exchange_bytes;
  json["scratch_bytes_per_rank"] = report.memory.scratch_bytes;
  json["repetitions"] = options.repetitions;
  json["forward_min_s"] = report.times.forward.min_s();
  json["forward_median_s"] = report.times.forward.median_s();
  json["backward_min_s"] = report.times.backward.min_s();
  json["backward_median_s"] = report.times.backward.median_s();
  json["forward_breakdown"] = to_json(report.times.forward.best);
  json["backward_breakdown"] = to_json(report.times.backward.best);
  json["forward_stages"] =
      to_json(stage_reports(report, session.team.size(), report.decision.forward_stages, report.times.forward.best));
  json["backward_stages"] =
      to_json(stage_reports(report, session.team.size(), report.decision.backward_stages, report.times.backward.best));
  json["rate_gflops"] = or_null(report.over_forward_s(model::fft_flops(report.problem) / 1e9));
  json["rate_convention"] = options.fft.type == fft::Type::c2c ? "5 N log2 N" : "2.5 N log2 N";
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
