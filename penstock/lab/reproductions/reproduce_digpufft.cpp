// The figures of seed 3's measured system: DiGPUFFT, a 3-D FFT whose local transforms run on GPUs. Section 5.3 and
// Figure 4: 2048^3 points on 64 nodes of Keeneland, three GPUs a node.
#include <algorithm>

#include "penstock/lab/reproductions/subjects.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::lab {
namespace {

// The parts of Figure 4. What is left of the whole is taken for the network's.
constexpr double bus_share = 0.27;
constexpr double transform_share = 0.21;
constexpr double transpose_share = 0.16;
constexpr double network_share = 1 - bus_share - transform_share - transpose_share;

double transforms_s(const model::FftTime& time) {
  double sum_s = 0;
  for (std::size_t i = 0; i < time.arithmetic_s.size(); ++i) {
    sum_s += std::max(time.arithmetic_s[i], time.memory_s[i]);
  }
  return sum_s;
}

}  // namespace

Reproduction reproduce_digpufft() {
  Reproduction found{.name = "digpufft",
                     .source = "Czechowski et al. 2012 (seed 3), section 5.3 and Figure 4",
                     .statements = {},
                     .curves = {}};
  const auto add = [&](std::string what, std::string unit, std::optional<double> theirs, double ours, double tolerance,
                       std::string note) {
    found.statements.push_back({std::move(what), std::move(unit), theirs, ours, tolerance, std::move(note)});
  };
  const machine::Machine keeneland = machine::find("keeneland");
  const model::FftRun run{.fft = {.size = {2048, 2048, 2048}},
                          .nodes = 64,
                          .ranks_per_node = 3,
                          .ty = 3,
                          .tz = 64,
                          .overlaps = false,
                          .copies_per_exchange = 1,
                          .bus = model::BusTraffic::stages};
  const model::FftTime time = model::fft_time(keeneland, run);
  const double node_bytes = 16 * 2048.0 * 2048 * 2048 / 64;
  add("eq. 9, of all three phases", "s", std::nullopt, time.bus_s, 0.01, "drawn, not printed");
  add("Figure 4: network over bus, of what is left of 100 %", "", network_share / bus_share,
      time.transfer_s / time.bus_s, 0.1,
      "at all of a link's 4 GB/s, and with rows of ranks within nodes; messages that reach 3.2 GB/s make it 1.25");
  add("Figure 4: transposes over bus, by eq. 8 in the GPUs' memory", "", transpose_share / bus_share,
      time.copy_s / time.bus_s, 0.1,
      "a sixteenth: P3DFFT transposes in the host's memory, and its wrapper left that as it was");
  add("the memory bandwidth of a node at which eq. 8 takes its 16 %", "GB/s", std::nullopt,
      4 * node_bytes / (time.bus_s * transpose_share / bus_share) / 1e9, 0.01,
      "a host of two Westmere processors copies about so fast");
  add("Figure 4: transforms over bus", "", transform_share / bus_share, transforms_s(time) / time.bus_s, 0.1,
      "by a quarter of the peak, which CUFFT's passes of strided pencils did not reach");
  add("the rate of a GPU at which transforms take their 21 %", "GFlop/s", std::nullopt,
      model::fft_flops(run.fft) / 192 / (time.bus_s * transform_share / bus_share) / 1e9, 0.01, "3 % of its peak");
  add("Figure 4: the bus in all", "", bus_share, time.bus_s / time.total_s, 0.1,
      "the parts that transposes and transforms took more are missing in the whole");
  // What the same way costs where GPUs are faster and the bus is not much, and what staging only exchanges saves.
  const machine::Machine v100 = machine::find("v100-fdr");
  model::FftRun later{.fft = {.size = {1024, 1024, 1024}}, .nodes = 8, .ranks_per_node = 4, .ty = 4, .tz = 8};
  later.bus = model::BusTraffic::stages;
  const model::FftTime by_stages = model::fft_time(v100, later);
  later.bus = model::BusTraffic::exchanges;
  const model::FftTime staged = model::fft_time(v100, later);
  add("the bus over the GPUs' passes in its way: four V100 a node, 1024^3 on 8 nodes", "", std::nullopt,
      by_stages.bus_s / transforms_s(by_stages), 0.01, "not of the document: the machine file v100-fdr");
  add("the bus's time where only what ranks exchange crosses it, over that of its way", "", std::nullopt,
      staged.bus_s / by_stages.bus_s, 0.01, "not of the document: Penstock's way, fields staying on the GPUs");
  return found;
}

}  // namespace penstock::lab
