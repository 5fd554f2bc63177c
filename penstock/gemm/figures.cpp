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

/// Of one process or of all: what they did together since their round began, and how long it took the longest.
struct Round {
  double done_flops;
  double spent_s;
};

/// The best of rounds in which all threads multiply at once, of blocks as tilings have them: what other programs take
/// meanwhile is no figure of the machine, and a thread alone on it would be faster. Threads that have just begun may
/// share a core for some milliseconds, and a core that was idle has to gain its clock; so there are rounds until none
/// has been better for a while. `of_all` makes of this process's round, which began at a time, that of all ranks, the
/// same on each.
double measure_settled_rate(int threads, npy::DataType type,
                            const std::function<Round(double done_flops, double begin_s)>& of_all) {
  constexpr std::int64_t n = 512;
  constexpr double round_s = 0.05;  // of many multiplies, as threads end up to one of them apart
  constexpr double settled_s = 0.4;
  constexpr double most_s = 0.9;
  const auto bytes = static_cast<std::size_t>(n * n * npy::element_bytes(type));
  const SerialBlas serial;
  const Memory memory(static_cast<std::size_t>(threads) * 3 * bytes);  // zeros are multiplied as fast as anything
  std::vector<double> done(static_cast<std::size_t>(threads));
  Crew crew(threads);
  double best = 0;
  double best_at_s = 0;
  of_all(0, seconds());  // all have their memory
  for (double at_s = 0; at_s - best_at_s < settled_s && at_s < most_s;) {
    const double begin_s = seconds();
    crew.run([&](int thread) {
      std::byte* const mine = memory.data() + static_cast<std::size_t>(thread) * 3 * bytes;
      const Block a{.data = mine, .leading = n};
      const Block b{.data = mine + bytes, .leading = n};
      double flops_done = 0;
      do {
        multiply(type, n, n, n, {}, a, b, mine + 2 * bytes, n);
        flops_done += flops(type, n, n, n);
      } while (seconds() - begin_s < round_s);
      done[static_cast<std::size_t>(thread)] = flops_done;
    });
    const Round round = of_all(std::accumulate(done.begin(), done.end(), 0.0), begin_s);
    at_s += round.spent_s;
    if (const double rate = round.done_flops / round.spent_s; rate > best) {
      best_at_s = rate > 1.01 * best ? at_s : best_at_s;  // what is hardly better is not waited for
      best = rate;
    }
  }
  return best;
}

}  // namespace

machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine) {
  machine::Machine machine = machine::detect();
  const auto alone = [](double done_flops, double begin_s) { return Round{done_flops, seconds() - begin_s}; };
  machine.node.gemm_rate_flops_per_core = measure_settled_rate(threads, npy::DataType::float64, alone) / threads;
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
  return measure_settled_rate(threads, type, [&](double done_flops, double begin_s) {
    Round all{0, 0};
    for (const double one : team.all_gather(done_flops)) {
      all.done_flops += one;
    }
    // All have ended now: from the first one's beginning to here is what the round took, also where ranks take turns on
    // a core.
    for (const double one : team.all_gather(seconds() - begin_s)) {
      all.spent_s = std::max(all.spent_s, one);
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
