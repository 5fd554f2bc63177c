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

}  // namespace penstock::gemm
