#include "penstock/cli/fft/fft_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/cli/fft/fft_problem.hpp"
#include "penstock/cli/report/device_report.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/device/device.hpp"
#include "penstock/model/model.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::cli {
namespace {

constexpr std::array<std::string_view, 15> options_of_processors{
    "--local",          "--isa",          "--movers",   "--effort",         "--progress",
    "--deferred-parts", "--output",       "--spectrum", "--filter-lowpass", "--explain",
    "--backward",       "--verify-input", "--engine",   "--no-wisdom",      "--planning-seconds"};

/// What a run on devices found out; complete on the first rank. Bytes and rates are of the rank with most points.
struct DeviceReport {
  device::Properties device;
  device::Rates rates;
  fft::Tuning tuning;
  fft::DeviceMemoryNeed memory;
  fft::DeviceMessages messages;
  std::uint64_t field_bytes = 0;  ///< of all fields of the batch
  std::vector<fft::DeviceStagePlan> forward_stages;
  std::vector<fft::DeviceStagePlan> backward_stages;
  double planning_s = 0;
  model::Fft problem;
  /// By the model, for the device of the machine file or else by the rates above; what bounds it; or why nothing is.
  std::optional<model::DeviceFftTime> predicted;
  std::string predicted_bound;
  std::string why_not_predicted;
  bool is_predicted_by_file = false;
  field::RoundTrips times;
  std::optional<double> relative_error;
  double tolerance = 0;

  /// 0.1 where 10 % more time was predicted than was taken.
  double prediction_error() const { return predicted->total_s / std::max(times.forward.min_s(), 1e-9) - 1; }
  double rate_flops() const { return model::fft_flops(problem) / std::max(times.forward.min_s(), 1e-9); }
  bool has_failed() const { return relative_error && !(*relative_error <= tolerance); }
};

/// The least time of a transform in one direction: of device memory, and of the bus, whose two directions are used at
/// the same time. Where there are several stages, a field of the host has crossed as a whole before its result can.
struct DeviceLimit {
  double memory_s = 0;
  double bus_s = 0;
  double limit_s() const { return std::max(memory_s, bus_s); }
  std::string_view bound_by() const { return bus_s > memory_s ? "bus" : "device memory"; }
};

DeviceLimit limit_of(const DeviceReport& report, const std::vector<fft::DeviceStagePlan>& stages,
                     bool are_fields_on_host) {
  DeviceLimit limit;
  const double fields =
      are_fields_on_host ? static_cast<double>(report.field_bytes) / static_cast<double>(report.problem.fields) : 0;
  const double field_in_s = fields / report.rates.to_device_bytes_per_s;
  const double field_out_s = fields / report.rates.to_host_bytes_per_s;
  double sent_s = field_out_s;
  double received_s = field_in_s;
  for (const fft::DeviceStagePlan& stage : stages) {
    limit.memory_s += static_cast<double>(stage.device_bytes) / report.rates.memory_bandwidth_bytes_per_s;
    sent_s += static_cast<double>(stage.sent_bytes) / report.rates.to_host_bytes_per_s;
    received_s += static_cast<double>(stage.received_bytes) / report.rates.to_device_bytes_per_s;
  }
  limit.bus_s = std::max({sent_s, received_s, stages.size() > 1 ? field_in_s + field_out_s : 0});
  limit.memory_s *= static_cast<double>(report.problem.fields);
  limit.bus_s *= static_cast<double>(report.problem.fields);
  return limit;
}

/// A device of which nothing but these rates is known.
machine::Device device_of(const device::Properties& properties, const device::Rates& rates) {
  return {.name = properties.name,
          .count = 1,
          .memory_bytes = static_cast<std::int64_t>(properties.memory_bytes),
          .memory_bandwidth_bytes_per_s = rates.memory_bandwidth_bytes_per_s,
          .to_device_bytes_per_s = rates.to_device_bytes_per_s,
          .to_host_bytes_per_s = rates.to_host_bytes_per_s,
          .bus_progress = 1};
}

template <class Real>
void predict(DeviceReport& report, const fft::DevicePlan<Real>& plan, machine::Machine machine,
             bool are_fields_on_host) {
  report.is_predicted_by_file = machine.node.device.has_value();
  if (!machine.node.device) {
    machine.node.device = device_of(report.device, report.rates);
  } else if (machine.node.device->name != report.device.name) {
    report.why_not_predicted = fmt::format("{} has another device, {}", machine.name, machine.node.device->name);
    return;
  }
  try {
    const model::DeviceFft run = plan.modelled(machine, are_fields_on_host);
    report.predicted = model::device_fft_time(machine, run);
    const std::vector<model::Gain> gains = model::device_fft_gains(machine, run);
    report.predicted_bound = gains.empty() ? "nothing" : model::name_of(gains.front().resource);
  } catch (const Error& error) {
    report.why_not_predicted = error.what();
  }
}

std::string describe_prediction(const DeviceReport& report) {
  if (!report.predicted) {
    return report_line("Predicted", "nothing: {}", report.why_not_predicted);
  }
  const model::DeviceFftTime& time = *report.predicted;
  return report_line("Predicted", "{}, {:+.0f} % of forward; bound by {}{}", format_seconds(time.total_s),
                     100 * report.prediction_error(), report.predicted_bound,
                     report.is_predicted_by_file ? ""
                                                 : "; as if passes ran at the rate of memory: --machine FILE.toml of "
                                                   "penstock calibrate --device knows more") +
         report_line("", "passes {}, bus {}, messages {}, launches {}; {} of this hidden", format_seconds(time.pass_s),
                     format_seconds(time.bus_s), format_seconds(time.message_s), format_seconds(time.launch_s),
                     format_seconds(time.hidden_s));
}

/// Keys that are null where nothing was predicted.
void add_prediction(nlohmann::ordered_json& json, const DeviceReport& report) {
  const auto value = [&](auto number) {
    return report.predicted ? nlohmann::ordered_json(number) : nlohmann::ordered_json();
  };
  const model::DeviceFftTime time = report.predicted.value_or(model::DeviceFftTime{});
  json["predicted_s"] = value(time.total_s);
  json["predicted_pass_s"] = value(time.pass_s);
  json["predicted_bus_s"] = value(time.bus_s);
  json["predicted_message_s"] = value(time.message_s);
  json["predicted_launch_s"] = value(time.launch_s);
  json["predicted_hidden_s"] = value(time.hidden_s);
  json["predicted_bound_by"] = value(report.predicted_bound);
  json["predicted_by"] = value(report.is_predicted_by_file ? "machine file" : "rates of this run");
  json["prediction_error"] = report.predicted ? nlohmann::ordered_json(report.prediction_error()) : nullptr;
}

}  // namespace

void check_device_options(const FftOptions& options, std::span<const std::string> given) {
  for (const std::string& option : given) {
    if (std::ranges::find(options_of_processors, option) != options_of_processors.end()) {
      throw Error(fmt::format("{} goes with transforms on the processor, and not with --device: leave it out", option));
    }
  }
  if (options.fft.planning == fft::Planning::measure) {
    throw Error("--planning measure goes with transforms on the processor, and not with --device: leave it out");
  }
}

namespace {

/// How often a field crosses the bus there and back: 0 where only messages do.
int bus_passes(const FftOptions& options, const DeviceReport& report) {
  return report.forward_stages.back().pass + (options.are_fields_on_host ? 1 : 0);
}

std::string describe_passes(int passes, const std::vector<fft::DeviceStagePlan>& stages) {
  const auto largest = std::ranges::max_element(stages, {}, &fft::DeviceStagePlan::chunk_bytes);
  return fmt::format("{} pass{} over it, in chunks of {} plane{}, up to {}", passes, passes > 1 ? "es" : "",
                     largest->chunk_planes, largest->chunk_planes == 1 ? "" : "s", format_bytes(largest->chunk_bytes));
}

/// Empty where the first rank sends no messages.
std::string describe_messages(const fft::DeviceMessages& messages) {
  const std::string& why = messages.why_through_host;
  if (!messages.direct_from_bytes) {
    return why.empty() ? "" : fmt::format("through the host: {}", why);
  }
  return fmt::format(
      "straight between devices{}{}",
      *messages.direct_from_bytes > 0 ? fmt::format(" from {} on", format_bytes(*messages.direct_from_bytes)) : "",
      why.empty() ? "" : fmt::format("; others through the host: {}", why));
}

std::string describe_plan(const Session& session, const FftOptions& options, const DeviceReport& report) {
  std::string text = describe_device(report.device, report.rates);
  text += describe_problem(options);
  text += report_line("Ranks", "{} on {} node{}, transport {}; fields in {} memory", session.team.size(), session.nodes,
                      session.nodes > 1 ? "s" : "", session.team.transport().name,
                      options.are_fields_on_host ? "host" : "device");
  text += report_line("Plan", "grid {}x{}, {} stages; planned in {}, kernels compiled", report.tuning.grid.ty,
                      report.tuning.grid.tz, report.forward_stages.size(), format_seconds(report.planning_s));
  for (const fft::DeviceStagePlan& stage : report.forward_stages) {
    text += report_line("", "{}: {}", "xyz"[stage.along],
                        stage.is_move          ? "data change places"
                        : stage.kernel.empty() ? "no points here"
                                               : stage.kernel);
  }
  if (const int passes = bus_passes(options, report); passes > 0) {
    text += report_line("Bus", "{}", describe_passes(passes, report.forward_stages));
  }
  if (const std::string messages = describe_messages(report.messages); !messages.empty()) {
    text += report_line("Messages", "{}", messages);
  }
  const std::uint64_t resident_bytes = options.are_fields_on_host ? 0 : report.field_bytes;
  return text + report_line("Memory",
                            "{} a rank on the device: fields {}, blocks, chunks and tables {}; {} on the host",
                            format_bytes(resident_bytes + report.memory.device_bytes), format_bytes(resident_bytes),
                            format_bytes(report.memory.device_bytes),
                            format_bytes(report.memory.host_bytes + report.field_bytes));
}

std::string describe_results(const FftOptions& options, const DeviceReport& report) {
  std::string text =
      describe_times("Forward", report.times.forward) + describe_times("Backward", report.times.backward);
  for (std::size_t i = 0; i < report.forward_stages.size(); ++i) {
    const fft::DeviceStagePlan& stage = report.forward_stages[i];
    const fft::StageTime& time = report.times.forward.best.stages[i];
    const double memory_s = static_cast<double>(stage.device_bytes) * static_cast<double>(report.problem.fields) /
                            report.rates.memory_bandwidth_bytes_per_s;
    text += report_line(i == 0 ? "Stages" : "", "{} {} on the device, of which its memory takes {}; waited {}",
                        "xyz"[stage.along], format_seconds(time.transform_s), format_seconds(memory_s),
                        format_seconds(time.wait_s));
  }
  text += report_line("Rate", "{} forward, by the convention of {} N log2 N operations",
                      strong(fmt::format("{:.2f} GFlop/s", report.rate_flops() / 1e9)),
                      options.fft.type == fft::Type::c2c ? "5" : "2.5");
  const DeviceLimit limit = limit_of(report, report.forward_stages, options.are_fields_on_host);
  text += report_line("Limit", "{}, set by the {} (device memory {}, bus {}); {}", format_seconds(limit.limit_s()),
                      limit.bound_by(), format_seconds(limit.memory_s), format_seconds(limit.bus_s),
                      strong(fmt::format("{:.0f} % of it reached",
                                         100 * limit.limit_s() / std::max(report.times.forward.min_s(), 1e-9))));
  text += describe_prediction(report);
  return text + describe_check(report.relative_error, report.tolerance, report.has_failed());
}

nlohmann::ordered_json to_json(const std::vector<fft::DeviceStagePlan>& stages, const field::Times& times) {
  auto json = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const fft::StageTime& time = times.best.stages[i];
    json.push_back({{"along", std::string(1, "xyz"[stages[i].along])},
                    {"is_move", stages[i].is_move},
                    {"kernel", stages[i].kernel},
                    {"pass", stages[i].pass},
                    {"chunk_planes", stages[i].chunk_planes},
                    {"chunk_bytes", stages[i].chunk_bytes},
                    {"device_bytes", stages[i].device_bytes},
                    {"sent_bytes", stages[i].sent_bytes},
                    {"received_bytes", stages[i].received_bytes},
                    {"direct_bytes", stages[i].direct_bytes},
                    {"device_s", time.transform_s},
                    {"to_host_s", time.scatter_s},
                    {"wait_s", time.wait_s}});
  }
  return json;
}

nlohmann::ordered_json to_json(const Session& session, const FftOptions& options, const DeviceReport& report) {
  const DeviceLimit limit = limit_of(report, report.forward_stages, options.are_fields_on_host);
  nlohmann::ordered_json json = problem_json(options);
  json["ranks"] = session.team.size();
  json["nodes"] = session.nodes;
  json["transport"] = session.team.transport().name;
  json["device"] = device_json(report.device, report.rates);
  json["fields_on"] = options.are_fields_on_host ? "host" : "device";
  json["grid"] = {report.tuning.grid.ty, report.tuning.grid.tz};
  json["planning_s"] = report.planning_s;
  json["field_bytes_per_rank"] = report.field_bytes;
  json["device_bytes_per_rank"] = report.memory.device_bytes;
  json["host_bytes_per_rank"] = report.memory.host_bytes;
  const std::optional<std::uint64_t>& direct_from_bytes = report.messages.direct_from_bytes;
  json["direct_from_bytes"] = direct_from_bytes ? nlohmann::ordered_json(*direct_from_bytes) : nullptr;
  json["bus_passes"] = bus_passes(options, report);
  add_times(json, options, report.times);
  json["forward_stages"] = to_json(report.forward_stages, report.times.forward);
  json["backward_stages"] = to_json(report.backward_stages, report.times.backward);
  json["rate_gflops"] = report.rate_flops() / 1e9;
  json["limit_s"] = limit.limit_s();
  json["limit_device_memory_s"] = limit.memory_s;
  json["limit_bus_s"] = limit.bus_s;
  json["bound_by"] = limit.bound_by();
  json["fraction_of_limit"] = limit.limit_s() / std::max(report.times.forward.min_s(), 1e-9);
  add_prediction(json, report);
  json["relative_error"] = or_null(report.relative_error);
  json["tolerance"] = report.tolerance;
  return json;
}

template <class Real>
void run_on_device(Session& session, const FftOptions& options, const field::Source& source) {
  const gas::Team& team = session.team;
  Progress progress(session);
  Results results(session, "fft-device");
  const std::shared_ptr<const device::Device> device = fft::open_device(team, options.device);
  DeviceReport report;
  report.device = device->properties();
  report.tolerance = field::tolerance<Real>(options.fft.size);
  report.problem = {.size = options.fft.size,
                    .is_real = options.fft.type != fft::Type::c2c,
                    .real_bytes = sizeof(Real),
                    .fields = options.fft.batch,
                    .along = options.fft.along};
  progress.show("measuring the device");
  team.together([&] { report.rates = device::measure_rates(*device, device->available_bytes() / 8); });

  progress.show("planning");
  const double begin_s = seconds();
  field::Fields<Real> fields(team, options.fft, {.device = device, .are_resident = !options.are_fields_on_host});
  report.planning_s = seconds() - begin_s;
  session.has_begun_work = true;
  const fft::DevicePlan<Real>& plan = fields.device_plan();
  report.tuning = plan.tuning();
  report.memory = plan.memory();
  report.messages = plan.messages();
  report.field_bytes = team.largest(fields.memory().size());
  report.forward_stages = plan.forward_stages();
  report.backward_stages = plan.backward_stages();
  predict(report, plan, *options.fft.machine, options.are_fields_on_host);
  progress.show("");
  if (session.has_table()) {
    write_output(describe_plan(session, options, report));
    flush_output();
  }

  progress.show("reading the field");
  fields.fill(source);
  report.times = [&] {
    const trace::Recording recording(session.recorder());
    return field::time_round_trips(team, fields, options.scaling, options.repetitions, [&](int trip) {
      progress.show("timing round trips", trip + 1, options.repetitions + 1);
    });
  }();
  if (options.wants_check) {
    progress.show("checking");
    report.relative_error = field::check(team, fields, source, options.scaling);
  }
  progress.show("");
  if (session.has_table()) {
    write_output(describe_results(options, report));
  }
  team.together([&] { results.write(to_json(session, options, report)); });
  if (report.has_failed()) {
    throw Error(fmt::format("the check has failed: a relative error of {:.1e}, where {:.1e} is allowed",
                            *report.relative_error, report.tolerance));
  }
}

}  // namespace

void run_fft_device(Session& session, const FftOptions& options, const field::Source& source,
                    std::span<const std::string> given) {
  check_device_options(options, given);
  if (*options.is_single) {
    run_on_device<float>(session, options, source);
  } else {
    run_on_device<double>(session, options, source);
  }
}

}  // namespace penstock::cli
