// Rates of blocks as a tiling has them, not of the best case; of storage, what a file without a name reads and writes.
#include "penstock/gemm/rates.hpp"

#include <functional>
#include <limits>
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
/// same on each. Blocks are smaller where they would take more than `max_bytes`.
double measure_settled_rate(int threads, npy::DataType type, std::int64_t max_bytes,
                            const std::function<Round(double done_flops, double begin_s)>& of_all) {
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
  double best = 0;
  double best_at_s = 0;
  of_all(0, seconds());  // all have their memory
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

machine::Machine measure_machine(int threads, const std::string& folder, percolate::Engine& engine,
                                 std::int64_t max_bytes) {
  machine::Machine machine = machine::detect();
  const auto alone = [](double done_flops, double begin_s) { return Round{done_flops, seconds() - begin_s}; };
  machine.node.gemm_rate_flops_per_core =
      measure_settled_rate(threads, npy::DataType::float64, max_bytes, alone) / threads;
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

double measure_rate(const gas::Team& team, int threads, npy::DataType type) {
  const auto of_all = [&](double done_flops, double begin_s) {
    Round all{0, 0};
    for (const double one : team.all_gather(done_flops)) {
      all.done_flops += one;
    }
    // All have ended now: from the first one's beginning to here is what the round took, also where ranks take turns on
    // a core.
    all.spent_s = team.largest(seconds() - begin_s);
    return all;
  };
  return team.run_or_revoke(
      [&] { return measure_settled_rate(threads, type, std::numeric_limits<std::int64_t>::max(), of_all); });
}

double rate_flops(const machine::Machine& machine, int threads, npy::DataType type) {
  const bool is_single = type == npy::DataType::float32 || type == npy::DataType::complex64;
  return machine.node.gemm_rate_flops_per_core * static_cast<double>(threads) * (is_single ? 2 : 1);
}

}  // namespace penstock::gemm
