// `penstock gemm` of matrices in files: the plan before, the progress meanwhile, the figures after.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/gemm/gemm.hpp"
#include "penstock/cli/report/file_report.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/cli/report/timeline_report.hpp"

namespace penstock::cli {
namespace {

std::string describe(const gemm::FilePlan& plan, const GemmOptions& options, int threads) {
  std::string text = fmt::format("Product     {}, {} x {} by {} x {}, {} threads\n", npy::name(plan.type), plan.m,
                                 plan.k, plan.k, plan.n, threads);
  text += fmt::format("Memory      {}: blocks {}, the process besides {}\n", format_bytes(options.memory_bytes),
                      bytes_text(plan.block_bytes), bytes_text(plan.reserved_bytes));
  text += fmt::format("Tiles       {} of {} x {} in strips of {}, panels {} deep\n", plan.tiles, plan.tile_m,
                      plan.tile_n, plan.strip, plan.depth);
  text += fmt::format("Storage     {}; scratch {}\n", plan.engine,
                      plan.scratch_bytes > 0 ? bytes_text(plan.scratch_bytes) : "none");
  text += fmt::format("Machine     {:.4g} GFlop/s, storage {:.3g} GB/s ({})\n", plan.rate_flops * 1e-9,
                      plan.storage_bytes_per_s * 1e-9,
                      options.machine_path.empty() ? "measured in this run" : options.machine_path);
  if (plan.tiles_found + plan.tiles_torn > 0) {
    text += fmt::format(
        "Goes on     {} tiles are complete{}\n", plan.tiles_found,
        plan.tiles_torn > 0 ? fmt::format(", {} are not what was written and made again", plan.tiles_torn) : "");
  }
  if (plan.first_a_bytes_per_s > 0) {
    text +=
        fmt::format("Inputs      A comes at {:.3g} GB/s and B at {:.3g} where they lie (measured in this run), {}\n",
                    plan.first_a_bytes_per_s * 1e-9, plan.first_b_bytes_per_s * 1e-9,
                    plan.layers_ahead > 0 ? fmt::format("asked for {} panels ahead", plan.layers_ahead)
                                          : "not asked for ahead, as the system's cache has no room");
  }
  return text + fmt::format("Prediction  {}; {} by eq. 5 of the HTMT paper, which hides nothing behind multiplies\n",
                            format_seconds(plan.predicted_s), format_seconds(plan.percolation_s));
}

std::string describe(const gemm::FilePlan& plan, const gemm::FileResult& result, int threads) {
  const percolate::RunTimes& times = result.times;
  return fmt::format(
      "Time        {}, {}, {} of the machine's; {:.3f} of the prediction\n"
      "{}"
      "Peak memory {}\n",
      strong(format_seconds(times.total_s)), strong(fmt::format("{:.4g} GFlop/s", result.flops / times.total_s * 1e-9)),
      strong(fmt::format("{:.3f}", result.flops / times.total_s / plan.rate_flops)),
      times.total_s / std::max(plan.predicted_s, 1e-12), describe_movement(times, threads),
      bytes_text(peak_resident_bytes()));
}

nlohmann::ordered_json to_json(const gemm::FilePlan& plan, const gemm::FileResult& result, const GemmOptions& options,
                               int threads) {
  return {{"type", npy::name(plan.type)},
          {"m", plan.m},
          {"n", plan.n},
          {"k", plan.k},
          {"threads", threads},
          {"was_complete", plan.was_complete},
          {"memory_bytes", options.memory_bytes},
          {"block_bytes", plan.block_bytes},
          {"scratch_bytes", plan.scratch_bytes},
          {"engine", plan.engine},
          {"tiling",
           {{"tiles", plan.tiles},
            {"tile_m", plan.tile_m},
            {"tile_n", plan.tile_n},
            {"strip", plan.strip},
            {"depth", plan.depth}}},
          {"tiles_found", plan.tiles_found},
          {"tiles_torn", plan.tiles_torn},
          {"machine", {{"rate_flops", plan.rate_flops}, {"storage_bytes_per_s", plan.storage_bytes_per_s}}},
          {"layers_ahead", plan.layers_ahead},
          {"first_a_bytes_per_s", plan.first_a_bytes_per_s},
          {"first_b_bytes_per_s", plan.first_b_bytes_per_s},
          {"predicted_s", plan.predicted_s},
          {"percolation_s", plan.percolation_s},
          {"time_s", result.times.total_s},
          {"flops", result.flops},
          {"rate_gflops", result.times.total_s > 0 ? result.flops / result.times.total_s * 1e-9 : 0},
          {"waited_s", result.times.idle_s},
          {"read_bytes", result.times.read_bytes},
          {"written_bytes", result.times.written_bytes},
          {"peak_resident_bytes", peak_resident_bytes()}};
}

}  // namespace

void run_gemm_files(Session& session, const GemmOptions& asked) {
  GemmOptions options = asked;
  if (options.memory_bytes == 0) {
    options.memory_bytes = available_memory_bytes() / 2;
  }
  Results results(session, "gemm-files");
  const auto engine = percolate::make_engine(options.engine);
  Progress progress(session);
  gemm::FileOptions file_options{{.memory_bytes = static_cast<std::int64_t>(options.memory_bytes),
                                  .counts_process = true,
                                  .threads = session.threads,
                                  .verifies_input = options.verifies_input,
                                  .engine = engine.get(),
                                  .progress = [&](const percolate::Progress& at) { show(progress, at); }},
                                 options.uses_scratch};
  if (!options.machine_path.empty()) {
    file_options.machine = read_machine(session, options.machine_path);
  }
  progress.show("planning");
  gemm::FileMultiply multiply(options.files, file_options);
  session.has_begun_work = true;
  say_how_to_resume(session);
  const gemm::FilePlan& plan = multiply.plan();
  progress.show("");
  if (session.has_table()) {
    write_output(plan.was_complete ? "Complete    an earlier run has made C; nothing is left to do\n"
                                   : describe(plan, options, session.threads));
    flush_output();
  }
  const gemm::FileResult result = [&] {
    const trace::Recording recording(session.page_recorder());
    return multiply.run();
  }();
  session.interruption.say("");
  progress.show("");
  if (session.has_table() && !plan.was_complete) {
    write_output(describe(plan, result, session.threads));
  }
  nlohmann::ordered_json details;
  if (results.have_page()) {
    details["timeline"] = timeline_of(session);
  }
  results.write(to_json(plan, result, options, session.threads), details);
}

}  // namespace penstock::cli
