// Rates of blocks as a tiling has them, not of the best case; of storage, what a file without a name reads and writes.
#include "penstock/gemm/figures.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {
namespace {

/// A round of multiplies: what its threads did together, and how long after the first began it ended.
struct Round {
  double rate_flops;
  double end_s;
};

/// The best of rounds in which all threads multiply at once, of blocks as tilings have them: what other programs take
/// meanwhile is no figure of the machine, and a thread alone on it would be faster. Threads that have just begun may
/// share a core for some milliseconds, and a core that was idle has to gain its clock; so there are rounds until none
/// has been better for a while. `of_all` makes of this process's round that of all ranks, the same on each.
double measure_settled_rate(int threads, npy::DataType type, const std::function<Round(const Round&)>& of_all) {
  constexpr std::int64_t n = 512;
  constexpr double round_s = 0.03;
  constexpr double settled_s = 0.2;
  constexpr double most_s = 0.7;
  const auto bytes = static_cast<std::size_t>(n * n * npy::element_bytes(type));
  const SerialBlas serial;
  const Memory memory(static_cast<std::size_t>(threads) * 3 * bytes);  // zeros are multiplied as fast as anything
  std::vector<double> rates(static_cast<std::size_t>(threads));
  Crew crew(threads);
  double best = 0;
  double best_end_s = 0;
  const double begin_s = seconds();
  for (double end_s = 0; end_s - best_end_s < settled_s && end_s < most_s;) {
    crew.run([&](int thread) {
      std::byte* const mine = memory.data() + static_cast<std::size_t>(thread) * 3 * bytes;
      const Block a{.data = mine, .leading = n};
      const Block b{.data = mine + bytes, .leading = n};
      const double round_begin_s = seconds();
      double done = 0;
      double spent_s = 0;
      do {
        multiply(type, n, n, n, {}, a, b, mine + 2 * bytes, n);
        done += flops(type, n, n, n);
        spent_s = seconds() - round_begin_s;
      } while (spent_s < round_s);
      rates[static_cast<std::size_t>(thread)] = done / spent_s;
    });
    const Round round = of_all({std::accumulate(rates.begin(), rates.end(), 0.0), seconds() - begin_s});
    end_s = round.end_s;
    if (round.rate_flops > best) {
      best_end_s = round.rate_flops > 1.01 * best ? end_s : best_end_s;  // what is hardly better is not waited for
      best = round.rate_flops;
    }
  }
  return best;
}

}  // namespace

machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine) {
  machine::Machine machine = machine::detect();
  machine.node.gemm_rate_flops_per_core =
      measure_settled_rate(threads, npy::DataType::float64, [](const Round& mine) { return mine; }) / threads;
  constexpr double latency_s = 1e-4;  // of a request to a disk without moving parts
  std::erase_if(machine.node.memory_levels, [](const machine::MemoryLevel& level) { return level.name == "storage"; });
  machine.node.memory_levels.insert(
      machine.node.memory_levels.begin(),
      {.name = "storage",
       .capacity_bytes = std::int64_t{1} << 40,
       .bandwidth_bytes_per_s = percolate::measure_storage(folder, engine).read_bytes_per_s,
       .latency_s = latency_s});
  return machine;
}

double measure_rate(const gas::Team& team, int threads, npy::DataType type) {
  return measure_settled_rate(threads, type, [&](const Round& mine) {
    Round all{0, 0};
    for (const Round& one : team.all_gather(mine)) {
      all.rate_flops += one.rate_flops;
      all.end_s = std::max(all.end_s, one.end_s);
    }
    return all;
  });
}

double rate_flops(const machine::Machine& machine, int threads, npy::DataType type) {
  const bool is_single = type == npy::DataType::float32 || type == npy::DataType::complex64;
  return machine.node.gemm_rate_flops_per_core * static_cast<double>(threads) * (is_single ? 2 : 1);
}

machine::Machine with_network_of(const gas::Team& team, machine::Machine machine) {
  const std::vector<int> nodes = team.nodes();
  int per_node = 0;
  for (const int node : nodes) {
    per_node = std::max(per_node, static_cast<int>(std::ranges::count(nodes, node)));
  }
  if (per_node == team.size()) {
    return machine;
  }
  // Consecutive ranks are commonly of one node: those so far away are not.
  const int to = (team.rank() + per_node) % team.size();
  const std::size_t bytes = std::size_t{1} << 20;
  gas::Segment segment(team, 2 * bytes, 1);
  std::uint64_t arrived = 0;
  const auto least_s = [&](std::size_t of_each, std::uint64_t puts, int rounds) {
    double least = 1e9;
    for (int round = 0; round < rounds; ++round) {
      team.barrier();
      const double begin_s = seconds();
      std::vector<gas::Event> sent;
      for (std::uint64_t put = 0; put < puts; ++put) {
        sent.push_back(segment.start_put_signal<std::byte>({to, bytes}, segment.local().first(of_each), 0).remote);
      }
      segment.wait(0, arrived += puts);
      gas::all_of(sent).wait_or_give_up();
      const std::vector<double> times = team.all_gather(seconds() - begin_s);
      least = std::min(least, *std::ranges::max_element(times));
    }
    return least;
  };
  constexpr std::uint64_t puts = 4;
  const double latency_s = least_s(8, 1, 10);
  const double bandwidth = static_cast<double>(puts * bytes) / std::max(least_s(bytes, puts, 4) - latency_s, 1e-9);
  machine.count = std::max<std::int64_t>(machine.count, (team.size() + per_node - 1) / per_node);
  machine.network = machine::Network{.link_bandwidth_bytes_per_s = bandwidth * per_node};
  machine.transports = {{.name = std::string(team.transport_name()),
                         .progress = 1,  // multiplies look after the network
                         .pieces = {{.latency_s = latency_s, .bandwidth_bytes_per_s = bandwidth}}}};
  return machine;
}

}  // namespace penstock::gemm
