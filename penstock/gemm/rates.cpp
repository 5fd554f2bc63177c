// Rates of blocks as a tiling has them, not of the best case; of storage, what a file without a name reads and writes.
#include "penstock/gemm/rates.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {
namespace {

/// What all ranks did together in a round.
struct Round {
  double done_flops = 0;
  double spent_s = 0;
};

/// Collective: the round that this rank began at `begin_s`, and did `done_flops` in.
Round round_of(const gas::Team& team, double done_flops, double begin_s) {
  Round all;
  for (const double one : team.all_gather(done_flops)) {
    all.done_flops += one;
  }
  // All have ended now, so that this is the time from the first beginning on, also where ranks take turns on a core.
  all.spent_s = team.largest(seconds() - begin_s);
  return all;
}

/// Collective: all threads of all ranks multiply at once, as a thread alone would be faster, and blocks as tilings have
/// them. The best of several rounds counts: what other programs take is no property of the machine. Threads that have
/// just begun may share a core for some milliseconds, and a core that was idle has to gain its clock; so there are
/// rounds until none has been better for a while. Blocks are smaller where they would take more than `max_bytes`.
Rate measure_settled_rate(const gas::Team& team, int threads, npy::DataType type, std::int64_t max_bytes) {
  const auto blocks_bytes = [&](std::int64_t length) {
    return threads * 3 * length * length * npy::element_bytes(type);
  };
  std::int64_t n = 512;
  while (n > 64 && blocks_bytes(n) > max_bytes) {
    n /= 2;
  }
  constexpr double round_s = 0.05;  // of many multiplies, as threads end up to one of them apart
  constexpr double settled_s = 0.4;
  constexpr double max_s = 0.9;
  const auto bytes = static_cast<std::size_t>(n * n * npy::element_bytes(type));
  const auto extent = static_cast<double>(n);
  const double flops_of_one = flops(type, extent, extent, extent);
  const SerialBlas serial(threads);
  const Memory memory(static_cast<std::size_t>(blocks_bytes(n)));  // zeros are multiplied as fast as anything
  std::vector<double> done(static_cast<std::size_t>(threads));
  ThreadPool pool(threads);
  std::vector<double> rates;
  double best = 0;
  double best_at_s = 0;
  team.barrier();  // all have their memory
  for (double at_s = 0; at_s - best_at_s < settled_s && at_s < max_s;) {
    const double begin_s = seconds();
    pool.run([&](int thread) {
      std::byte* const mine = memory.data() + static_cast<std::size_t>(thread) * 3 * bytes;
      const Block a{.data = mine, .leading = n};
      const Block b{.data = mine + bytes, .leading = n};
      double flops_done = 0;
      do {
        multiply(type, n, n, n, {}, a, b, mine + 2 * bytes, n);
        flops_done += flops_of_one;
      } while (seconds() - begin_s < round_s);
      done[static_cast<std::size_t>(thread)] = flops_done;
    });
    const Round round = round_of(team, std::accumulate(done.begin(), done.end(), 0.0), begin_s);
    at_s += round.spent_s;
    rates.push_back(round.done_flops / round.spent_s);
    if (rates.back() > best) {
      best_at_s = rates.back() > 1.01 * best ? at_s : best_at_s;  // what is hardly better is not waited for
      best = rates.back();
    }
  }
  const auto median = rates.begin() + (std::ssize(rates) - 1) / 2;
  std::ranges::nth_element(rates, median);
  return {.best_flops = best, .median_flops = *median, .rounds = static_cast<int>(rates.size())};
}

}  // namespace

machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine,
                                 std::int64_t max_bytes) {
  machine::Machine machine = machine::detect();
  const Rate rate = measure_settled_rate(gas::world_alone(), threads, npy::DataType::float64, max_bytes);
  machine.node.gemm_rate_flops_per_core = rate.best_flops / threads;
  constexpr double latency_s = 1e-4;  // of a request to a disk without moving parts
  std::erase_if(machine.node.memory_levels, [](const machine::MemoryLevel& level) { return level.name == "storage"; });
  machine.node.memory_levels.insert(
      machine.node.memory_levels.begin(),
      {.name = "storage",
       .capacity_bytes = std::int64_t{1} << 40,
       .bandwidth_bytes_per_s = percolate::measure_storage(folder, engine, max_bytes).read_bytes_per_s,
       .latency_s = latency_s});
  return machine;
}

Rate measure_rate(const gas::Team& team, int threads, npy::DataType type) {
  return team.run_or_revoke(
      [&] { return measure_settled_rate(team, threads, type, std::numeric_limits<std::int64_t>::max()); });
}

double rate_flops(const machine::Machine& machine, int threads, npy::DataType type) {
  const bool is_single = npy::is_single(type);
  return machine.node.gemm_rate_flops_per_core * static_cast<double>(threads) * (is_single ? 2 : 1);
}

}  // namespace penstock::gemm
