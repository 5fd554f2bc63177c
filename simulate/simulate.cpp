// penstock-simulate: one transform on a simulated part of a described machine, beside what the model says of it.
#include <fmt/format.h>
#include <malloc.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <sys/resource.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"
#include "platform.hpp"
#include "run.hpp"

namespace penstock::simulate {
namespace {

struct Settings {
  std::string machine = "bluegene-p";
  std::string transport = "two-sided";
  std::int64_t ranks = 64;
  std::int64_t ranks_per_node = 4;
  fft::Extents size{64, 64, 64};
  std::int64_t planes_per_message = 0;
  bool is_rehearsal = false;
  bool is_without_links = false;
  double resolution_s = 0;
};

struct Result {
  Checked checked;
  double time_s = 0;
  std::string failure;
};

/// Nothing but what the platform says takes time; called before the platform is made.
void configure_network(const machine::Transport& transport, bool is_without_links) {
  for (const char* const setting :
       {"network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:20537", "network/TCP-gamma:4194304",
        "network/crosstraffic:0", "network/loopback-bw:13.6e9", "network/loopback-lat:0", "contexts/stack-size:256"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  if (is_without_links) {
    simgrid::s4u::Engine::set_config("network/model:Constant");
    simgrid::s4u::Engine::set_config(fmt::format("network/latency-factor:{}", transport.pieces.back().latency_s));
  }
}

/// The same of MPI's calls, and what is one moment; called when SMPI knows its settings and the platform is made, whose
/// latencies may be shorter.
void configure_mpi(double resolution_s) {
  for (const char* const setting : {"smpi/simulate-computation:no", "smpi/test:0", "smpi/wtime:0",
                                    "smpi/send-is-detached-thresh:0", "smpi/shared-malloc-blocksize:67108864"}) {
    simgrid::s4u::Engine::set_config(setting);
  }
  if (resolution_s > 0) {
    simgrid::s4u::Engine::set_config(fmt::format("surf/precision:{}", resolution_s));
  }
}

fft::Options options_of(const Settings& settings, const machine::Machine& machine, const model::FftTime& time) {
  fft::Options options;
  options.size = settings.size;
  options.grid = {static_cast<int>(time.ty), static_cast<int>(time.tz)};
  options.planes_per_message = settings.planes_per_message;
  options.deferred_parts = 0;
  options.effort = fft::Effort::estimate;
  options.movers = fft::Movers::ahead_of_time;
  options.machine = machine;
  if (settings.is_rehearsal) {
    options.memory_budget_bytes = std::uint64_t{1} << 62;  // there is no field
  }
  return options;
}

/// One rank, from its MPI_Init to its MPI_Finalize.
void run_rank(const Settings& settings, const fft::Options& options, const machine::Transport& transport,
              const model::FftTime& time, Result& result) {
  MPI_Init(nullptr, nullptr);
  {
    const gas::Team team = gas::world_of(MPI_COMM_WORLD, gas::reach_named("mpi"));
    try {
      if (settings.is_rehearsal) {
        const double time_s = rehearse(team, options, transport, time, settings.resolution_s);
        result.time_s = time_s;
      } else {
        const Checked checked = run_transform(team, options);
        result.checked = checked;
        result.time_s = checked.time_s;
      }
    } catch (const Error& error) {
      result.failure = error.what();
    }
    team.barrier();
  }
  MPI_Finalize();
}

Result simulate(const Settings& settings, const machine::Machine& machine, const model::FftTime& time) {
  const machine::Transport transport = model::find_transport(machine, settings.transport);
  configure_network(transport, settings.is_without_links);
  const auto nodes = settings.ranks / settings.ranks_per_node;
  const auto hosts = make_platform(machine, transport, nodes, settings.is_without_links ? Links::none : Links::shared);
  SMPI_init();
  configure_mpi(settings.resolution_s);
  SMPI_app_instance_register("penstock", nullptr, static_cast<int>(settings.ranks));
  const fft::Options options = options_of(settings, machine, time);
  Result result;
  for (std::int64_t rank = 0; rank < settings.ranks; ++rank) {
    // Over all nodes first, as RankOrder::nodes_first.
    const auto actor = simgrid::s4u::Actor::init(std::to_string(rank), hosts[static_cast<std::size_t>(rank % nodes)]);
    actor->set_property("instance_id", "penstock");
    actor->set_property("rank", std::to_string(rank));
    actor->start([&] { run_rank(settings, options, transport, time, result); });
  }
  simgrid::s4u::Engine::get_instance()->run();
  SMPI_finalize();
  return result;
}

fft::Extents parse_size(const std::string& text) {
  fft::Extents size{};
  int end = 0;
  if (std::sscanf(text.c_str(), "%ldx%ldx%ld%n", &size[0], &size[1], &size[2], &end) != 3 ||
      static_cast<std::size_t>(end) != text.size()) {
    throw Error(fmt::format("--size {}: give NXxNYxNZ", text));
  }
  return size;
}

int run(int argc, char** argv) {
  // What each of thousands of ranks lists of all for a moment goes back to the system; shorter lists, of which many
  // live on, would be more mappings than a process may have.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  Settings settings;
  std::string size = "64x64x64";
  CLI::App app("A transform on a simulated part of a described machine, beside what the model says of it.");
  app.add_option("--machine", settings.machine, "of machines/, or a machine file")->capture_default_str();
  app.add_option("--transport", settings.transport, "of the machine's")->capture_default_str();
  app.add_option("--ranks", settings.ranks)->capture_default_str();
  app.add_option("--ranks-per-node", settings.ranks_per_node)->capture_default_str();
  app.add_option("--size", size, "NXxNYxNZ")->capture_default_str();
  app.add_option("--planes-per-message", settings.planes_per_message, "0: all (packed slabs)")->capture_default_str();
  app.add_flag("--rehearse", settings.is_rehearsal, "no data: computing takes the time that the model says");
  app.add_option("--resolution", settings.resolution_s, "of a rehearsal, s: what is so close in time is one moment")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--no-links", settings.is_without_links, "no bandwidths: each message takes the transport's latency");
  CLI11_PARSE(app, argc, argv);
  settings.size = parse_size(size);
  if (settings.ranks < 1 || settings.ranks_per_node < 1 || settings.ranks % settings.ranks_per_node != 0) {
    throw Error(fmt::format("{} ranks, {} on each node: give whole nodes", settings.ranks, settings.ranks_per_node));
  }
  const machine::Machine machine = machine::find(settings.machine);
  const std::int64_t nodes = settings.ranks / settings.ranks_per_node;
  check_platform(machine, nodes);
  // The grid of seed 0, which follows the dimensions: rows over all but the last, columns over that and a node's ranks.
  const std::vector<std::int64_t> shape = model::shape_of(*machine.network, nodes);
  const std::int64_t tz = shape.back() * settings.ranks_per_node;
  const model::FftRun model_run{.fft = {.size = settings.size},
                                .nodes = nodes,
                                .ranks_per_node = settings.ranks_per_node,
                                .ty = settings.ranks / tz,
                                .tz = tz,
                                .planes_per_message = settings.planes_per_message,
                                .order = model::RankOrder::nodes_first,
                                .transport = settings.transport,
                                .copies_per_exchange = 2};
  const model::FftTime time = model::fft_time(machine, model_run);

  std::string quiet = "--log=root.thres:warning";
  std::vector<char*> names{argv[0], quiet.data(), nullptr};
  int count = 2;
  const simgrid::s4u::Engine engine(&count, names.data());
  const auto begin = std::chrono::steady_clock::now();
  const Result result = simulate(settings, machine, time);
  if (!result.failure.empty()) {
    throw Error(result.failure);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json json{
      {"machine", settings.machine},
      {"size", settings.size},
      {"ranks", settings.ranks},
      {"ranks_per_node", settings.ranks_per_node},
      {"grid", {time.ty, time.tz}},
      {"planes_per_message", settings.planes_per_message},
      {"is_rehearsal", settings.is_rehearsal},
      {"is_without_links", settings.is_without_links},
      {"resolution_s", settings.resolution_s},
      {"simulated_s", result.time_s},
      {"wall_s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()},
      {"peak_memory_bytes", usage.ru_maxrss * 1024}};
  bool is_good = true;
  if (settings.is_rehearsal) {
    json["transport"] = settings.transport;
    json["model_s"] = time.total_s;
    // Whose transfers go on meanwhile, as SMPI's do.
    const machine::Override progress{"transports." + settings.transport + ".progress", "1"};
    json["model_overlapped_s"] = model::fft_time(machine::with(machine, std::span(&progress, 1)), model_run).total_s;
  } else {
    is_good = result.checked.relative_error <= result.checked.tolerance;
    json["relative_error"] = result.checked.relative_error;
    json["tolerance"] = result.checked.tolerance;
  }
  fmt::print("{}\n", json.dump());
  return is_good ? 0 : 1;
}

}  // namespace
}  // namespace penstock::simulate

int main(int argc, char** argv) {
  try {
    return penstock::simulate::run(argc, argv);
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "penstock-simulate: {}\n", error.what());
    return 2;
  }
}
