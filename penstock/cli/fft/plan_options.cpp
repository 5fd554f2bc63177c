#include "penstock/cli/fft/plan_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/lab/exchange/exchange.hpp"

namespace penstock::cli {
namespace {

/// What carries the exchanges of an algorithm of that name; nullptr: our own ways.
std::shared_ptr<const gas::ExchangeMethod> exchange_method_named(const std::string& algorithm) {
  if (!algorithm.starts_with("mpi-")) {
    return nullptr;
  }
#if PENSTOCK_HAS_MPI
  using lab::MpiExchange;
  const MpiExchange kind = algorithm == "mpi-packed"  ? MpiExchange::alltoall
                           : algorithm == "mpi-slabs" ? MpiExchange::messages
                                                      : MpiExchange::ialltoall;
  return lab::mpi_exchange(kind, MPI_COMM_WORLD);
#else
  throw Error(fmt::format("--algorithm {}: this build of penstock has no MPI", algorithm));
#endif
}

}  // namespace

void add_plan_options(CLI::App& app, const std::shared_ptr<fft::Options>& options) {
  add_value(app, "--grid", "TYxTZ|auto", "Processor grid (auto)", [options](const std::string& text) {
    const auto [ty, tz] = parse_grid("--grid", text);
    options->grid = {ty, tz};
  });
  CLI::Option* algorithm =
      add_value(app, "--algorithm", "packed|slabs|mpi-packed|mpi-slabs|mpi-ialltoall|auto",
                "One message per peer, one per plane, or what suits the ranks; with mpi-, to compare with, the same by "
                "MPI_Alltoallv, MPI_Send_init or MPI_Ialltoallv (auto)",
                [options](const std::string& text) {
                  options->planes_per_message = parse_choice<std::optional<std::int64_t>>("--algorithm", text,
                                                                                          {{"packed", 0},
                                                                                           {"slabs", 1},
                                                                                           {"mpi-packed", 0},
                                                                                           {"mpi-slabs", 1},
                                                                                           {"mpi-ialltoall", 1},
                                                                                           {"auto", std::nullopt}});
                  options->deferred_parts = text == "auto" ? std::nullopt : std::optional<std::int64_t>(0);
                  options->exchange_method = exchange_method_named(text);
                });
  add_value(app, "--planes-per-message", "N", "Planes that share a message, instead of an algorithm; 0: all of them",
            [options](const std::string& text) {
              options->planes_per_message = parse_integer("--planes-per-message", text, 0);
            })
      ->excludes(algorithm);
  add_value(app, "--deferred-parts", "N|auto",
            "Eighths of what a peer receives that are sent last, while it transforms the others (auto)",
            [options](const std::string& text) {
              options->deferred_parts =
                  text == "auto" ? std::nullopt : std::optional(parse_integer("--deferred-parts", text, 0));
            });
  add_value(
      app, "--progress", "auto|tiles|thread",
      "Who polls the network while a rank computes: its threads between tiles, a thread more, or what hides "
      "more (auto)",
      [options](const std::string& text) {
        options->progress = parse_choice<fft::Progress>(
            "--progress", text,
            {{"auto", fft::Progress::automatic}, {"tiles", fft::Progress::tiles}, {"thread", fft::Progress::thread}});
      });
  add_value(app, "--planning", "model|measure",
            "Grid, planes per message and deferred parts by the model of the machine, or by timing those that it finds "
            "best (model)",
            [options](const std::string& text) {
              options->planning = parse_choice<fft::Planning>(
                  "--planning", text, {{"model", fft::Planning::model}, {"measure", fft::Planning::measure}});
            });
  add_value(
      app, "--planning-seconds", "S", "With --planning measure, no other candidate is timed after so long (10)",
      [options](const std::string& text) { options->planning_budget_s = parse_number("--planning-seconds", text, 0); });
  add_value(app, "--effort", "estimate|measure",
            "How local transforms take lengths apart: by cost, or by timing (estimate)",
            [options](const std::string& text) {
              options->effort = parse_choice<fft::Effort>(
                  "--effort", text, {{"estimate", fft::Effort::estimate}, {"measure", fft::Effort::measure}});
            });
  add_value(app, "--local", "penstock|fftw",
            "What transforms pencils: penstock, or FFTW where this build has it (penstock)",
            [options](const std::string& text) { options->local = text; });
  add_value(app, "--isa", "portable|avx2|avx512",
            "Vector instructions of our own transforms of pencils (the widest that the processor has)",
            [options](const std::string& text) {
              options->instruction_set = parse_choice<InstructionSet>("--isa", text,
                                                                      {{"portable", InstructionSet::portable},
                                                                       {"avx2", InstructionSet::avx2},
                                                                       {"avx512", InstructionSet::avx512}});
            });
  add_value(app, "--movers", "compiled|ahead-of-time",
            "Tiles are copied by code made for them, or by kernels (compiled)", [options](const std::string& text) {
              options->movers = parse_choice<fft::Movers>(
                  "--movers", text,
                  {{"compiled", fft::Movers::compiled}, {"ahead-of-time", fft::Movers::ahead_of_time}});
            });
  add_value(app, "--memory", "BYTES", "What a node may take, or of devices each, such as 512MiB (what is left there)",
            [options](const std::string& text) {
              try {
                options->memory_budget_bytes = parse_bytes(text);
              } catch (const Error& error) {
                throw Error(fmt::format("--memory {}", error.what()));
              }
              if (options->memory_budget_bytes == 0) {
                throw Error(fmt::format("--memory {}: must be at least 1 byte", text));
              }
            });
}

std::string algorithm_name(const fft::Decision& decision) {
  if (!decision.exchange_method.empty()) {
    return decision.exchange_method;
  }
  const std::int64_t planes = decision.tuning.planes_per_message;
  return planes == 0 ? "packed" : planes == 1 ? "slabs" : fmt::format("{} planes per message", planes);
}

std::string describe_exchanges(const fft::Decision& decision) {
  const std::string name = algorithm_name(decision);
  const std::int64_t parts = decision.tuning.deferred_parts;
  const std::string deferred = parts == 0 ? "" : fmt::format(", {}/{} deferred", parts, shape::exchange_parts);
  return name + deferred + (decision.has_progress_thread ? ", progress by a thread" : "");
}

}  // namespace penstock::cli
