// `penstock nas-ft`: the NAS FT benchmark, verified against the published checksums.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/fft/plan_options.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/lab/nas/nas.hpp"

namespace penstock::cli {
namespace {

struct NasFtOptions {
  lab::nas::Problem problem;
  fft::Options fft;
};

lab::nas::Problem parse_class(const std::string& text) {
  if (text.size() != 1) {
    throw Error(fmt::format("--class {}: must be one of S, W, A, B, C, D, E, F", text));
  }
  return lab::nas::problem_of_class(text.front());
}

/// As the benchmark prints it, in Fortran's format (' T =',I5,'     Checksum =',1P2D22.12).
std::string format_step(int step, std::complex<double> checksum) {
  std::string numbers = fmt::format("{:22.12e}{:22.12e}", checksum.real(), checksum.imag());
  std::replace(numbers.begin(), numbers.end(), 'e', 'D');
  return fmt::format(" T ={:5}     Checksum ={}", step, numbers);
}

void print_header(const Session& session, const lab::nas::Problem& problem) {
  const auto [nx, ny, nz] = problem.size;
  print_output("NAS FT, class {}: {}x{}x{} points, {} steps; ranks {}, threads per rank {}\n\n", problem.name, nx, ny,
               nz, problem.steps(), session.team.size(), session.threads);
}

void print_result(const Session& session, const lab::nas::Result& result) {
  const lab::nas::Breakdown& spent = result.breakdown;
  print_output("\nVerification  {}, largest error {:.1e} (allowed {:.0e})\n",
               result.is_verified ? strong("successful") : alarming("FAILED"), result.largest_error,
               lab::nas::tolerance);
  print_output("Time          {}\n", strong(format_seconds(result.time_s)));
  print_output("Rate          {}; {:.0f} without the making of the plan\n",
               strong(fmt::format("{:.0f} Mop/s", result.rate_mops)),
               result.rate_mops * result.time_s / (result.time_s - spent.plan_s));
  print_output("Breakdown     plan {}, set-up {}, fft {}, evolve {}, checksum {}\n", format_seconds(spent.plan_s),
               format_seconds(spent.setup_s), format_seconds(spent.fft_s), format_seconds(spent.evolve_s),
               format_seconds(spent.checksum_s));
  constexpr int indentation = 14;
  write_output(
      bar(indentation, std::array{Part{"plan", spent.plan_s}, Part{"set-up", spent.setup_s}, Part{"fft", spent.fft_s},
                                  Part{"evolve", spent.evolve_s}, Part{"checksum", spent.checksum_s}}));
  print_output("Plan          grid {}x{}, {}, {} passes over memory per transform, transport {}\n",
               result.decision.tuning.grid.ty, result.decision.tuning.grid.tz, describe_exchanges(result.decision),
               result.decision.passes, session.team.transport().name);
  print_output("Memory        {} per rank\n", format_bytes(result.memory_bytes));
}

nlohmann::ordered_json to_json(const Session& session, const lab::nas::Problem& problem,
                               const lab::nas::Result& result) {
  const lab::nas::Breakdown& spent = result.breakdown;
  auto json = nlohmann::ordered_json::object();
  json["class"] = std::string(1, problem.name);
  json["size"] = problem.size;
  json["steps"] = problem.steps();
  json["ranks"] = session.team.size();
  json["threads"] = session.threads;
  json["transport"] = session.team.transport().name;
  json["grid"] = {result.decision.tuning.grid.ty, result.decision.tuning.grid.tz};
  json["algorithm"] = algorithm_name(result.decision);
  json["passes"] = result.decision.passes;
  json["memory_bytes_per_rank"] = result.memory_bytes;
  for (const std::complex<double> checksum : result.checksums) {
    append(json, "checksums", {checksum.real(), checksum.imag()});
  }
  json["errors"] = result.errors;
  json["largest_error"] = result.largest_error;
  json["tolerance"] = lab::nas::tolerance;
  json["verified"] = result.is_verified;
  json["time_s"] = result.time_s;
  json["rate_mops"] = result.rate_mops;
  json["breakdown"] = {{"plan_s", spent.plan_s},
                       {"setup_s", spent.setup_s},
                       {"fft_s", spent.fft_s},
                       {"evolve_s", spent.evolve_s},
                       {"checksum_s", spent.checksum_s}};
  return json;
}

void run_nas_ft(Session& session, const NasFtOptions& options) {
  // Whether the file can be written is found out now, not after minutes.
  Results results(session, "nas-ft");
  fft::Options fft = options.fft;
  fft.threads = session.threads;
  Progress progress(session);
  progress.show("a transform that is not timed");
  const trace::Recording recording(session.recorder());
  const lab::nas::Result result =
      lab::nas::run(session.team, options.problem, fft, [&](int step, std::complex<double> checksum) {
        progress.show("");
        if (step == 1 && session.has_table()) {
          print_header(session, options.problem);
        }
        if (session.has_table()) {
          print_output("{}\n", format_step(step, checksum));
          flush_output();
        }
        if (step < options.problem.steps()) {
          progress.show("time step", step + 1, options.problem.steps());
        }
      });
  session.has_begun_work = true;
  if (session.has_table()) {
    print_result(session, result);
  }
  results.write(to_json(session, options.problem, result));
  if (!result.is_verified) {
    throw Error(fmt::format("NAS FT class {} is not verified: an error of {:.1e} exceeds {:.0e}", options.problem.name,
                            result.largest_error, lab::nas::tolerance));
  }
}

}  // namespace

Body declare_nas_ft(CLI::App& app) {
  auto options = std::make_shared<NasFtOptions>();
  add_value(app, "--class", "S|W|A|B|C|D|E|F", "Size of the problem, from 64x64x64 (S) to 8192x4096x4096 (F)",
            [options](const std::string& text) { options->problem = parse_class(text); })
      ->required();
  add_plan_options(app, std::shared_ptr<fft::Options>(options, &options->fft));
  return [options](Session& session) { run_nas_ft(session, *options); };
}

}  // namespace penstock::cli
