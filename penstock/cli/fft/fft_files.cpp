#include "penstock/cli/fft/fft_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/file_report.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/cli/report/timeline_report.hpp"
#include "penstock/fft/files/files.hpp"

namespace penstock::cli {
namespace {

// What a transform in passes can do something with; also --no-wisdom, as it has none.
constexpr std::array<std::string_view, 17> options_of_files{
    "--size",   "--input",     "--type",     "--precision", "--scaling",     "--machine",
    "--output", "--memory",    "--engine",   "--trace",     "--json",        "--threads",
    "--ranks",  "--transport", "--backward", "--no-wisdom", "--verify-input"};

int ranks_of_node(const gas::Team& team) {
  return gas::Placement::sharers(team.placement().nodes, team.rank());
}

/// Whether the transform would not fit the memory that was given for a node; collective.
bool is_too_large(const Session& session, const FftOptions& options) {
  const std::uint64_t budget = options.fft.memory_budget_bytes;
  if (budget == 0) {
    return false;
  }
  const std::uint64_t needed = *options.is_single ? field::Fields<float>::needed_bytes(session.team, options.fft)
                                                  : field::Fields<double>::needed_bytes(session.team, options.fft);
  return !session.team.all_of(needed <= budget / static_cast<std::uint64_t>(ranks_of_node(session.team)));
}

/// Throws Error for options that do not go with passes over files.
void check_options(const FftOptions& options, std::span<const std::string> given) {
  const std::string why = options.is_backward ? "--backward" : fmt::format("a field that --memory does not hold");
  for (const std::string& option : given) {
    if (std::ranges::find(options_of_files, option) == options_of_files.end()) {
      throw Error(fmt::format("{} does not go with {}, which is transformed in passes over its file: leave it out",
                              option, why));
    }
  }
  if (options.fft.type == fft::Type::r2r) {
    throw Error(fmt::format("{} goes with types c2c and r2c, and {} is transformed as r2r", why, options.input_path));
  }
}

/// What of the session the reports tell of.
struct Workers {
  int ranks = 1;
  int threads = 1;                ///< of each rank
  std::int64_t memory_bytes = 0;  ///< the same
  std::int64_t peak_bytes = 0;    ///< of the rank that had most
};

std::string describe(const fft::FilePlan& plan, const FftOptions& options, const Workers& workers) {
  std::string text = fmt::format("Transform   {}, {}x{}x{} {} {}, {}{} threads, in two passes over files\n",
                                 npy::name(plan.type), plan.size[0], plan.size[1], plan.size[2],
                                 type_name(options.fft.type), options.is_backward ? "backward" : "forward",
                                 workers.ranks > 1 ? fmt::format("{} ranks of ", workers.ranks) : "", workers.threads);
  text +=
      fmt::format("Memory      {}{}: slabs or columns {}, the process besides {}\n", bytes_text(workers.memory_bytes),
                  workers.ranks > 1 ? " a rank" : "", bytes_text(plan.block_bytes), bytes_text(plan.reserved_bytes));
  text += fmt::format(
      "Tiling      {} slabs of {} planes, {} columns of {} points; bricks of {}, spectrum in runs of {}\n", plan.slabs,
      plan.tiling.planes, plan.columns, plan.tiling.points, bytes_text(plan.brick_bytes), bytes_text(plan.run_bytes));
  text += fmt::format("Storage     {}; scratch {}\n", plan.engine, bytes_text(plan.scratch_bytes));
  text +=
      fmt::format("Machine     storage reads {:.3g} and writes {:.3g} GB/s, {:.3g} GFlop/s ({})\n",
                  plan.storage.read_bytes_per_s * 1e-9, plan.storage.write_bytes_per_s * 1e-9, plan.rate_flops * 1e-9,
                  options.machine_path.empty() ? "measured in this run" : options.machine_path);
  if (plan.slabs_found + plan.columns_found + plan.pieces_torn > 0) {
    text += fmt::format(
        "Goes on     {} slabs and {} columns are complete{}\n", plan.slabs_found, plan.columns_found,
        plan.pieces_torn > 0 ? fmt::format(", {} are not what was written and made again", plan.pieces_torn) : "");
  }
  return text + fmt::format("Prediction  {}\n", format_seconds(plan.predicted_s));
}

std::string describe(const fft::FilePlan& plan, const fft::FileResult& result, const Workers& workers) {
  const percolate::RunTimes& times = result.times;
  std::string text = fmt::format(
      "Time        {}, {}; {:.3f} of the prediction\n"
      "{}",
      strong(format_seconds(times.total_s)),
      strong(fmt::format("{:.3g} GB/s",
                         static_cast<double>(times.read_bytes + times.written_bytes) / times.total_s * 1e-9)),
      times.total_s / std::max(plan.predicted_s, 1e-12), describe_movement(times, workers.ranks * workers.threads));
  if (result.bricks_torn > 0) {
    text += fmt::format("Made again  {} bricks that were not what was written\n", result.bricks_torn);
  }
  return text + fmt::format("Peak memory {}{}\n", bytes_text(workers.peak_bytes), workers.ranks > 1 ? " a rank" : "");
}

nlohmann::ordered_json to_json(const fft::FilePlan& plan, const fft::FileResult& result, const FftOptions& options,
                               const Workers& workers) {
  return {{"way", "files"},
          {"type", type_name(options.fft.type)},
          {"spectrum", npy::name(plan.type)},
          {"size", plan.size},
          {"direction", options.is_backward ? "backward" : "forward"},
          {"ranks", workers.ranks},
          {"threads", workers.threads},
          {"was_complete", plan.was_complete},
          {"memory_bytes", workers.memory_bytes},
          {"block_bytes", plan.block_bytes},
          {"scratch_bytes", plan.scratch_bytes},
          {"engine", plan.engine},
          {"tiling",
           {{"slabs", plan.slabs},
            {"planes", plan.tiling.planes},
            {"columns", plan.columns},
            {"points", plan.tiling.points},
            {"brick_bytes", plan.brick_bytes},
            {"run_bytes", plan.run_bytes}}},
          {"slabs_found", plan.slabs_found},
          {"columns_found", plan.columns_found},
          {"pieces_torn", plan.pieces_torn},
          {"bricks_torn", result.bricks_torn},
          {"machine",
           {{"rate_flops", plan.rate_flops},
            {"storage_read_bytes_per_s", plan.storage.read_bytes_per_s},
            {"storage_write_bytes_per_s", plan.storage.write_bytes_per_s}}},
          {"predicted_s", plan.predicted_s},
          {"time_s", result.times.total_s},
          {"waited_s", result.times.idle_s},
          {"read_bytes", result.times.read_bytes},
          {"written_bytes", result.times.written_bytes},
          {"peak_resident_bytes", workers.peak_bytes}};
}

}  // namespace

bool goes_by_files(const Session& session, const FftOptions& options, std::span<const std::string> given) {
  const bool has_files = !options.input_path.empty() && !options.output_path.empty();
  const bool are_processes = session.options.ranks <= 1;
  if (options.is_backward && !(has_files && are_processes)) {
    throw Error(are_processes ? "--backward transforms a field in a file: give --input and --output"
                              : "--backward goes in passes over files, by threads or processes, and not by --ranks");
  }
  const bool is_for_files = has_files && are_processes && options.fft.type != fft::Type::r2r;
  if (options.is_backward || (is_for_files && is_too_large(session, options))) {
    check_options(options, given);
    return true;
  }
  for (const char* option : {"--engine", "--verify-input"}) {
    if (std::ranges::find(given, option) != given.end()) {
      throw Error(
          fmt::format("{} goes with transforms in passes over files: of types c2c and r2c, from --input to "
                      "--output, without --ranks, of a field that --memory does not hold",
                      option));
    }
  }
  return false;
}

void run_fft_files(Session& session, const FftOptions& options) {
  const auto node_bytes = static_cast<std::int64_t>(
      options.fft.memory_budget_bytes > 0 ? options.fft.memory_budget_bytes : available_memory_bytes() / 2);
  Workers workers{.ranks = session.team.size(),
                  .threads = session.threads,
                  .memory_bytes = node_bytes / ranks_of_node(session.team)};
  const npy::DataType type = field::inspect_file(session.team, options.input_path).data_type;
  if (*options.is_single != npy::is_single(type)) {
    throw Error(fmt::format("{} holds {}, and is transformed as it is in passes over its file: leave --precision out",
                            options.input_path, npy::name(type)));
  }
  Results results(session, "fft-files");
  const auto engine = percolate::make_engine(options.engine);
  Progress progress(session);
  fft::FileOptions file_options{.memory_bytes = workers.memory_bytes,
                                .counts_process = true,
                                .threads = session.threads,
                                .verifies_input = options.verifies_input,
                                .engine = engine.get(),
                                .progress = [&](const percolate::Progress& at) { show(progress, at); }};
  if (!options.machine_path.empty()) {
    file_options.machine = options.fft.machine;
  }
  progress.show("planning");
  fft::FileTransform transform(session.team,
                               {.input = options.input_path,
                                .output = options.output_path,
                                .is_backward = options.is_backward,
                                .type = options.fft.type,
                                .nx = options.fft.size[0],
                                // As of a plan in memory: the way back has what the way there has left.
                                .scaling = options.is_backward ? field::inverse(options.scaling) : options.scaling},
                               file_options);
  session.has_begun_work = true;
  if (session.is_first()) {
    say_how_to_resume(session);
  }
  const fft::FilePlan& plan = transform.plan();
  progress.show("");
  if (session.has_table()) {
    write_output(plan.was_complete ? "Complete    an earlier run has made the output; nothing is left to do\n"
                                   : describe(plan, options, workers));
    flush_output();
  }
  const fft::FileResult result = [&] {
    const trace::Recording recording(session.page_recorder());
    return transform.run();
  }();
  workers.peak_bytes = session.team.largest(peak_resident_bytes());
  session.interruption.say("");
  progress.show("");
  if (session.has_table() && !plan.was_complete) {
    write_output(describe(plan, result, workers));
  }
  nlohmann::ordered_json details;
  if (results.have_page()) {
    details["timeline"] = timeline_of(session);
  }
  results.write(to_json(plan, result, options, workers), details);
}

}  // namespace penstock::cli
