// `penstock fft`: transforms a field, times it, checks it, filters it, writes it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/fft/fft_details.hpp"
#include "penstock/cli/fft/fft_device.hpp"
#include "penstock/cli/fft/fft_device_choice.hpp"
#include "penstock/cli/fft/fft_files.hpp"
#include "penstock/cli/fft/fft_options.hpp"
#include "penstock/cli/fft/fft_problem.hpp"
#include "penstock/cli/fft/fft_report.hpp"
#include "penstock/cli/fft/wisdom.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/timeline_report.hpp"

namespace penstock::cli {
namespace {

/// Collective: the largest of all ranks', field by field, with all fields of the batch.
fft::MemoryNeed largest(const gas::Team& team, fft::MemoryNeed mine, std::uint64_t fields_bytes) {
  mine.field_bytes = fields_bytes;
  fft::MemoryNeed largest;
  for (const fft::MemoryNeed& need : team.all_gather(mine)) {
    largest.exchange_bytes = std::max(largest.exchange_bytes, need.exchange_bytes);
    largest.scratch_bytes = std::max(largest.scratch_bytes, need.scratch_bytes);
    largest.field_bytes = std::max(largest.field_bytes, need.field_bytes);
  }
  return largest;
}

/// Collective: where --output goes, made ready before the work, or nothing.
template <class Real>
std::optional<field::OutputFile> open_output(const Session& session, const FftOptions& options) {
  if (options.output_path.empty()) {
    return std::nullopt;
  }
  const bool is_real_file = options.fft.type == fft::Type::r2r ||  // its spectrum is real too
                            (options.low_pass_radius && options.fft.type == fft::Type::r2c);
  constexpr npy::DataType complex_type = npy::data_type<std::complex<Real>>();
  const npy::DataType real_type = sizeof(Real) == 4 ? npy::DataType::float32 : npy::DataType::float64;
  const fft::Extents points = options.low_pass_radius ? options.fft.size : fft::spectrum_points(options.fft);
  // A filtered field lies where the field did.
  return field::OutputFile(session.team, options.output_path, is_real_file ? real_type : complex_type, points,
                           options.low_pass_radius ? options.input_path : "");
}

/// Collective: sums up, filters and writes one field, freshly read, as the options ask.
template <class Real>
void process(const Session& session, const FftOptions& options, const field::Source& source,
             field::Fields<Real>& fields, std::optional<field::OutputFile> output, ResultFile& spectrum_file,
             FftReport& report) {
  const fft::Plan<Real>& plan = fields.plan();
  const gas::Team& team = session.team;
  if (!output && options.spectrum_path.empty() && !options.low_pass_radius) {
    return;
  }
  fields.fill(source);
  fields.forward(options.scaling);
  if (!options.spectrum_path.empty()) {
    const auto spectrum = field::sum_shells(team, options.fft.size, options.fft.type, plan.output(),
                                            std::span<const std::complex<Real>>(fields.spectrum(0)), options.scaling);
    team.together([&] { spectrum_file.write(spectrum_table(spectrum)); });
  }
  if (options.low_pass_radius) {
    const double kept = field::filter_low_pass(options.fft.size, options.fft.type, plan.output(), fields.spectrum(0),
                                               *options.low_pass_radius);
    report.modes_kept = 0;
    for (const double part : team.all_gather(kept)) {
      *report.modes_kept += part;
    }
    fields.backward(field::inverse(options.scaling));
  }
  if (output) {
    if (options.low_pass_radius) {
      output->write(plan.input(), std::as_bytes(fields.numbers(0)));
    } else {
      output->write(plan.output(), std::as_bytes(fields.spectrum_numbers(0)));
    }
    output->commit();
  }
}

template <class Real>
void run(Session& session, const FftOptions& options, const field::Source& source) {
  const gas::Team& team = session.team;
  Progress progress(session);
  FftReport report;
  report.tolerance = field::tolerance<Real>(options.fft.size);
  report.available_bytes =
      options.fft.memory_budget_bytes > 0 ? options.fft.memory_budget_bytes : available_memory_bytes();
  field::Fields<Real>::require_memory(team, options.fft);
  Results results(session, "fft");
  ResultFile spectrum_file(session, "--spectrum", options.spectrum_path);
  auto output = open_output<Real>(session, options);
  std::vector<Interruption::Unfinished> unfinished;
  if (output) {
    for (const std::string& path : output->unfinished_paths()) {
      unfinished.emplace_back(session.interruption, path);
    }
  }

  progress.show(
      options.fft.planning == fft::Planning::measure
          ? fmt::format("planning by measuring, for about {:g} s (--planning-seconds)", options.fft.planning_budget_s)
          : "planning");
  fft::Options with_wisdom = options.fft;
  WisdomFile wisdom(session, with_wisdom, options.uses_wisdom);
  const double begin_s = seconds();
  field::Fields<Real> fields(team, with_wisdom);
  report.planning_s = seconds() - begin_s;
  wisdom.keep(session);
  session.has_begun_work = true;

  report.wisdom = wisdom.description();
  report.decision = fields.plan().decision();
  report.memory = largest(team, fields.plan().memory(), fields.memory().size());
  progress.show("measuring the machine");
  report.problem = {.size = options.fft.size,
                    .is_real = options.fft.type != fft::Type::c2c,
                    .real_bytes = sizeof(Real),
                    .fields = options.fft.batch,
                    .along = options.fft.along};
  report.figures =
      find_rates<Real>(session, *options.fft.machine, options.machine_path, report.problem, fields.memory());
  report.limit = model::fft_limit(report.problem, report.figures.resources);
  report.predict(options.machine_path);
  if (session.has_table()) {
    progress.show("");
    write_output(describe_plan(session, options, report));
    flush_output();
  }

  progress.show("reading the field");
  fields.fill(source);
  report.times = [&] {
    const trace::Recording recording(session.page_recorder());
    return field::time_round_trips(team, fields, options.scaling, options.repetitions, [&](int trip) {
      progress.show("timing round trips", trip + 1, options.repetitions + 1);
    });
  }();
  if (options.wants_check) {
    progress.show("checking");
    report.relative_error = field::check(team, fields, source, options.scaling);
  }
  progress.show("writing");
  process(session, options, source, fields, std::move(output), spectrum_file, report);
  progress.show("");
  if (session.has_table()) {
    write_output(describe_results(session, options, report));
  }
  nlohmann::ordered_json details;
  if (results.have_page()) {
    details = fft_details(team, fields.plan().output(), report);
    details["timeline"] = timeline_of(session, fmt::format("forward {}", report.times.forward.best_repetition()));
  }
  team.together([&] { results.write(to_json(session, options, report), details); });
  if (report.has_failed()) {
    throw Error(fmt::format("the check has failed: a relative error of {:.1e}, where {:.1e} is allowed",
                            *report.relative_error, report.tolerance));
  }
}

/// Settles `--device auto`.
void take_device_that_pays(Session& session, FftOptions& options, const std::vector<std::string>& given) {
  if (std::ranges::count(given, "--fields-on") > 0 && !options.are_fields_on_host) {
    throw Error("--device auto is for fields in host memory: leave out --fields-on");
  }
  check_device_options(options, given);
  const DeviceChoice choice = choose_device(session, options);
  options.device = choice.pays ? "any" : "";
  options.are_fields_on_host = choice.pays;
  if (session.has_table()) {
    write_output(report_line("Choice", "{}", choice.why));
  }
}

}  // namespace

Body declare_fft(CLI::App& app) {
  const auto declared = declare_fft_options(app);
  return [declared, &app](Session& session) {
    FftOptions options = *declared;  // each rank settles its own
    const auto source = resolve(session, options);
    const std::vector<std::string> given = given_options(app);
    if (options.device.empty() && std::ranges::count(given, "--fields-on") > 0) {
      throw Error("--fields-on goes with --device");
    }
    if (options.device == "auto") {
      take_device_that_pays(session, options, given);
    }
    if (!options.device.empty()) {
      run_fft_device(session, options, *source, given);
    } else if (goes_by_files(session, options, given)) {
      run_fft_files(session, options);
    } else if (*options.is_single) {
      run<float>(session, options, *source);
    } else {
      run<double>(session, options, *source);
    }
  };
}

}  // namespace penstock::cli
