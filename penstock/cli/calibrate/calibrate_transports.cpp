#include "penstock/cli/calibrate/calibrate_transports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::cli {
namespace {

using probe::TransportCosts;

constexpr double usual_threads_s = 0.4;
constexpr double usual_transport_s = 1.5;

/// Between processes: those that are built in, or the one that is asked for.
std::vector<std::string> transports_of(const Session& session) {
  const std::string& asked = session.options.transport.name;
  std::vector<std::string> names;
  for (const std::string_view name : {"mpi", "shm", "rma", "ucx"}) {
    const bool is_built_in = name != "ucx" || PENSTOCK_HAS_UCX;
    if (is_built_in && (asked.empty() || asked == "auto" || asked == name)) {
      names.emplace_back(name);
    }
  }
  return names;
}

/// The pieces of a transport by its times: straight lines over parts of the lengths, as many as are worth it.
std::vector<machine::MessagePiece> pieces_of(const TransportCosts& figures) {
  constexpr int max_pieces = 3;
  std::vector<model::MessageTime> times;
  for (const probe::MessageCosts& each : figures.times) {
    times.push_back({static_cast<double>(each.bytes), each.time_s.best});
  }
  std::vector<machine::MessagePiece> pieces;
  for (const model::PingPongSegment& segment : model::fit_ping_pong(times, max_pieces).segments) {
    // On a busy machine a line may come out falling, or through zero: then it says no more than its longest message.
    const bool is_usable = segment.is_meaningful();
    const model::MessageTime& last = times.back();
    pieces.push_back({.from_bytes = pieces.empty() ? 0 : static_cast<std::int64_t>(segment.first_bytes),
                      .latency_s = probe::rounded(is_usable ? segment.latency_s : figures.times.front().time_s.best),
                      .bandwidth_bytes_per_s =
                          probe::rounded(is_usable ? segment.bandwidth_bytes_per_s : last.bytes / last.time_s)});
  }
  return pieces;
}

void add_transport(CalibratedMachine& to, const std::string& name, const TransportCosts& figures) {
  const std::string key = fmt::format("transports.{}.", to.machine.transports.size());
  to.machine.transports.push_back({.name = name,
                                   .progress = probe::rounded(figures.progress),
                                   .send_overhead_s = figures.send_overhead_s.best,
                                   .receive_overhead_s = figures.receive_overhead_s.best,
                                   .gap_s = figures.gap_s.best,
                                   .pieces = pieces_of(figures)});
  to.comments.of_key[key + "progress"] = "measured: of 1 MiB each way behind a computation as long that polls";
  note(to, key + "send_overhead_s", figures.send_overhead_s, "o_s, measured: the call");
  note(to, key + "receive_overhead_s", figures.receive_overhead_s, "o_r, measured: the call, the message being there");
  note(to, key + "gap_s", figures.gap_s, "g, measured: 1 MiB each way in 8 messages");
  for (std::size_t i = 0; i < to.machine.transports.back().pieces.size(); ++i) {
    const std::string piece = fmt::format("{}pieces.{}.", key, i);
    to.comments.of_key[piece + "latency_s"] = "L, with both overheads: fitted to the best times of 12 lengths";
    to.comments.of_key[piece + "bandwidth_bytes_per_s"] = "1/G: the same fit";
  }
  for (const probe::MessageCosts& each : figures.times) {
    to.figures.push_back({fmt::format("{}{}_bytes_s", key, each.bytes), each.time_s});
  }
}

#if PENSTOCK_HAS_MPI
/// The ranks in an order in which the first two are on different nodes, or on one.
gas::Team pair_first(const gas::Team& team, bool is_far) {
  const std::vector<int>& nodes = team.placement().nodes;
  int partner = 1;
  for (int rank = team.size() - 1; rank > 0; --rank) {
    if ((nodes[static_cast<std::size_t>(rank)] != nodes[0]) == is_far) {
      partner = rank;
    }
  }
  const int rank = team.rank();
  return team.split(0, rank == 0 ? 0 : rank == partner ? 1 : 1 + rank + (rank < partner ? 1 : 0));
}

/// Collective: measures the transport of that name between processes.
void add_between_processes(CalibratedMachine& to, const std::string& name, Session& session,
                           const probe::CalibrationOptions& options) {
  try {
    const bool is_shm = name == "shm";
    const gas::Team world =
        gas::world_of(MPI_COMM_WORLD, gas::reach_named(is_shm && session.nodes > 1 ? "shm+mpi" : name));
    const gas::Team pair = pair_first(world, session.nodes > 1 && !is_shm);
    const TransportCosts figures = probe::measure_message_costs(pair, options);
    if (session.is_first()) {
      add_transport(to, name, figures);
    }
    pair.barrier();
  } catch (const gas::PeerFailure&) {
    throw;
  } catch (const Error& error) {  // the same on every rank
    to.left_out.push_back(fmt::format("transport {}: {}", name, error.what()));
  }
}

/// Several nodes are joined by what the first transport's long messages reach.
void add_network(CalibratedMachine& to, int nodes) {
  to.machine.count = nodes;
  const auto far =
      std::ranges::find_if(to.machine.transports, [](const machine::Transport& each) { return each.name != "shm"; });
  if (nodes < 2 || far == to.machine.transports.end()) {
    to.machine.count = 1;
    return;
  }
  to.machine.network = machine::Network{.topology = machine::Topology::crossbar,
                                        .link_bandwidth_bytes_per_s = far->pieces.back().bandwidth_bytes_per_s};
  to.comments.of_key["network.topology"] = "taken for one: two nodes were measured";
  to.comments.of_key["network.link_bandwidth_bytes_per_s"] = fmt::format("of {}, one stream", far->name);
}
#endif

}  // namespace

double usual_transports_s(const Session& session) {
  if (session.team.size() < 2) {
    return 0;
  }
  return session.team.transport().name == "threads"
             ? usual_threads_s
             : static_cast<double>(transports_of(session).size()) * usual_transport_s;
}

void calibrate_transports(CalibratedMachine& calibrated, Session& session, const probe::CalibrationOptions& options,
                          const TellStep& tell) {
  if (session.team.size() < 2) {
    calibrated.left_out.emplace_back("transports: they take two ranks (--ranks 2, or mpirun -n 2)");
    return;
  }
  if (session.team.transport().name == "threads") {
    tell("transport threads", usual_threads_s);
    const TransportCosts figures = probe::measure_message_costs(session.team, options);
    if (session.is_first()) {
      add_transport(calibrated, "threads", figures);
    }
    return;
  }
#if PENSTOCK_HAS_MPI
  for (const std::string& name : transports_of(session)) {
    tell(fmt::format("transport {}", name), usual_transport_s);
    add_between_processes(calibrated, name, session, options);
  }
  if (session.is_first()) {
    add_network(calibrated, session.nodes);
  }
#endif
}

}  // namespace penstock::cli
