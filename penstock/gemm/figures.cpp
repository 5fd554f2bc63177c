// Rates of blocks as a tiling has them, not of the best case; of storage, what a file without a name reads and writes.
#include "penstock/gemm/figures.hpp"

#include <algorithm>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {
namespace {

double measure_rate_per_thread(int threads, npy::DataType type) {
  constexpr std::int64_t n = 512;
  constexpr double measured_s = 0.06;
  const SerialBlas serial;
  Crew crew(threads);
  std::vector<double> rates(static_cast<std::size_t>(threads));
  crew.run([&](int thread) {
    const auto bytes = static_cast<std::size_t>(n * n * npy::element_bytes(type));
    const Memory memory(3 * bytes);  // zeros are multiplied as fast as anything
    const Block a{.data = memory.data(), .leading = n};
    const Block b{.data = memory.data() + bytes, .leading = n};
    const auto once = [&] { multiply(type, n, n, n, {}, a, b, memory.data() + 2 * bytes, n); };
    once();
    // The best of some rounds: what other programs take meanwhile is no figure of the machine.
    double best_s = 1e9;
    for (const double end_s = seconds() + measured_s; seconds() < end_s;) {
      const double begin_s = seconds();
      once();
      best_s = std::min(best_s, seconds() - begin_s);
    }
    rates[static_cast<std::size_t>(thread)] = flops(type, n, n, n) / best_s;
  });
  double sum = 0;
  for (const double rate : rates) {
    sum += rate;
  }
  return sum / threads;
}

}  // namespace

machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine) {
  machine::Machine machine = machine::detect();
  machine.node.gemm_rate_flops_per_core = measure_rate_per_thread(threads, npy::DataType::float64);
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

double measure_rate(int threads, npy::DataType type) {
  return measure_rate_per_thread(threads, type) * threads;
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
