// The figures of seed 0: Nishtala et al., "Scaling Communication-Intensive Applications on BlueGene/P Using One-Sided
// Communication and Overlap", slides 9, 10 and 20 to 22.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "penstock/lab/reproductions/subjects.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::lab {
namespace {

/// Slide 30.
struct Configuration {
  std::int64_t nodes, ty, tz;
  std::array<std::int64_t, 3> weak;  ///< the field of weak scaling: D / 8 to 8 D, D = 2048 x 1024 x 1024

  double cores() const { return static_cast<double>(4 * nodes); }
};

constexpr std::array<std::int64_t, 3> field_d{2048, 1024, 1024};
constexpr Configuration configurations[] = {{64, 16, 16, {1024, 512, 512}},      {128, 16, 32, {1024, 1024, 512}},
                                            {256, 32, 32, {1024, 1024, 1024}},   {512, 64, 32, field_d},
                                            {1024, 64, 64, {2048, 2048, 1024}},  {2048, 64, 128, {2048, 2048, 2048}},
                                            {4096, 128, 128, {4096, 2048, 2048}}};

/// GFlop/s on one configuration.
struct Rates {
  double one_sided_slabs, packed_slabs, two_sided_slabs, bound;

  bool is_one_sided_best() const { return one_sided_slabs > std::max(packed_slabs, two_sided_slabs); }
};

model::FftRun run_of(const Configuration& at, const std::array<std::int64_t, 3>& size, const std::string& transport,
                     std::int64_t planes) {
  // Slides 28 and 29: packed before each exchange and unpacked after it.
  return {.fft = {.size = size},
          .nodes = at.nodes,
          .ranks_per_node = 4,
          .ty = at.ty,
          .tz = at.tz,
          .planes_per_message = planes,
          .order = model::RankOrder::nodes_first,
          .transport = transport,
          .copies_per_exchange = 2};
}

Rates rates_of(const machine::Machine& machine, const Configuration& at, const std::array<std::int64_t, 3>& size) {
  const double gflop = model::fft_flops({.size = size}) / 1e9;
  const auto rate = [&](const std::string& transport, std::int64_t planes) {
    return gflop / model::fft_time(machine, run_of(at, size, transport, planes)).total_s;
  };
  return {rate("one-sided", 1), rate("two-sided", 0), rate("two-sided", 1),
          gflop / model::fft_link_bound_s(machine, run_of(at, size, "one-sided", 0))};
}

/// MB/s of a node that floods `links` neighbours with messages: each costs the processor its overhead, and then as many
/// links as there are pass it on.
double flood(const machine::Machine& machine, const std::string& transport, double links, double bytes) {
  const double overhead_s = model::find_transport(machine, transport).send_overhead_s;
  return bytes / (overhead_s + bytes / (links * machine.network->link_bandwidth_bytes_per_s)) / 1e6;
}

void add_messages(const machine::Machine& machine, Reproduction& found) {
  const auto latency = [&](const std::string& name) {
    return model::message_time_s(model::find_transport(machine, name).pieces, 8);
  };
  found.statements.push_back({"latency of 8 B, two-sided over one-sided (slide 9: \"almost\")", "", 2.0,
                              latency("two-sided") / latency("one-sided"), 0.05,
                              "the figure of the machine file, taken from this slide", Basis::fitted});
  Curves round_trip{.title = "Round trip: a message and its acknowledgement (slide 9)",
                    .x_name = "bytes",
                    .y_name = "us",
                    .x = {},
                    .series = {{"one-sided", {}}, {"two-sided", {}}}};
  for (double bytes = 1; bytes <= 512; bytes *= 2) {
    round_trip.x.push_back(bytes);
    for (Curves::Series& series : round_trip.series) {
      const machine::Transport transport = model::find_transport(machine, series.name);
      series.y.push_back(1e6 *
                         (model::message_time_s(transport.pieces, bytes) + model::message_time_s(transport.pieces, 0)));
    }
  }
  found.curves.push_back(round_trip);
  const auto gain = [&](double links, double bytes) {
    return flood(machine, "one-sided", links, bytes) / flood(machine, "two-sided", links, bytes);
  };
  found.statements.push_back({"flood bandwidth of 8 KiB, gain on 2 links (slide 22)", "", 1.24, gain(2, 8192), 0.01,
                              "the overheads of the machine file are solved from this and the next", Basis::fitted});
  found.statements.push_back({"the same on 4 links", "", 1.39, gain(4, 8192), 0.01, "see above", Basis::fitted});
  found.statements.push_back(
      {"the same of 128 KiB on 4 links: \"the same bandwidth\"", "", 1.0, gain(4, 131072), 0.05});
  Curves curves{.title = "Flood bandwidth of one node, one direction (slides 10, 22)",
                .x_name = "bytes",
                .y_name = "MB/s",
                .x = {},
                .series = {}};
  for (double bytes = 512; bytes <= 2 << 20; bytes *= 4) {
    curves.x.push_back(bytes);
  }
  for (const double links : {1, 2, 4, 6}) {
    for (const std::string transport : {"one-sided", "two-sided"}) {
      Curves::Series series{fmt::format("{}, {}", transport, links), {}};
      for (const double bytes : curves.x) {
        series.y.push_back(flood(machine, transport, links, bytes));
      }
      curves.series.push_back(series);
    }
  }
  found.curves.push_back(curves);
}

std::vector<Rates> add_scaling(const machine::Machine& machine, bool is_weak, Reproduction& found) {
  Curves curves{.title = is_weak ? "Weak scaling (slide 21)" : "Strong scaling (slide 20)",
                .x_name = "cores",
                .y_name = "GFlop/s",
                .x = {},
                .series = {{"bound", {}}, {"one-sided slabs", {}}, {"MPI packed slabs", {}}, {"MPI slabs", {}}}};
  std::vector<Rates> all;
  for (const Configuration& at : configurations) {
    const Rates rates = rates_of(machine, at, is_weak ? at.weak : field_d);
    all.push_back(rates);
    curves.x.push_back(at.cores());
    curves.series[0].y.push_back(rates.bound);
    curves.series[1].y.push_back(rates.one_sided_slabs);
    curves.series[2].y.push_back(rates.packed_slabs);
    curves.series[3].y.push_back(rates.two_sided_slabs);
  }
  found.curves.push_back(curves);
  found.statements.push_back({curves.title + ": core counts where one-sided slabs are the fastest", "", 7.0,
                              static_cast<double>(std::ranges::count_if(all, &Rates::is_one_sided_best))});
  found.statements.push_back({curves.title + ": MPI packed slabs over MPI slabs, 16,384 cores", "", std::nullopt,
                              all.back().packed_slabs / all.back().two_sided_slabs, 0.1, "drawn, above 1"});
  return all;
}

}  // namespace

Reproduction reproduce_bluegene() {
  const machine::Machine machine = machine::find("bluegene-p");
  Reproduction found{.name = "bluegene-p",
                     .source = "NAS FT on BlueGene/P (seed 0), slides 9 to 22; machines/bluegene-p.toml",
                     .statements = {},
                     .curves = {}};
  const auto add = [&](std::string what, std::string unit, std::optional<double> theirs, double ours, double tolerance,
                       std::string note = "", Basis basis = Basis::derived) {
    found.statements.push_back({std::move(what), std::move(unit), theirs, ours, tolerance, std::move(note), basis});
  };
  add_messages(machine, found);
  const Configuration& largest = configurations[6];
  for (const std::int64_t planes : {0, 1}) {
    const model::FftTime time = model::fft_time(machine, run_of(largest, largest.weak, "one-sided", planes));
    add(planes == 0 ? "message of packed slabs, 4k x 2k x 2k on 128 x 128 (slide 22)" : "message of slabs, the same",
        "KiB", planes == 0 ? 128.0 : 8.0, time.exchanges[0].message_bytes / 1024, 0);
  }
  const std::vector<Rates> strong = add_scaling(machine, false, found);
  // Slide 20 draws the ratios from 512 cores on.
  const auto mean = [&](double Rates::*slower) {
    return std::accumulate(
               strong.begin() + 1, strong.end(), 0.0,
               [&](double sum, const Rates& rates) { return sum + rates.one_sided_slabs / rates.*slower; }) /
           static_cast<double>(strong.size() - 1);
  };
  const std::string fitted = "three figures of the machine are fitted to these four";
  add("strong scaling: one-sided slabs over MPI slabs, mean (slide 20)", "", 1.63, mean(&Rates::two_sided_slabs), 0.1,
      fitted, Basis::fitted);
  add("strong scaling: one-sided slabs over MPI packed slabs, mean", "", 1.37, mean(&Rates::packed_slabs), 0.1, fitted,
      Basis::fitted);
  add("strong scaling: bound at 2,048 cores over 1,024: the kink", "", std::nullopt, strong[3].bound / strong[2].bound,
      0.01, "drawn; where the torus is complete, twice the links for twice the nodes");
  add("strong scaling: one-sided slabs at 2,048 cores over 1,024", "", std::nullopt,
      strong[3].one_sided_slabs / strong[2].one_sided_slabs, 0.01, "drawn");
  const std::vector<Rates> weak = add_scaling(machine, true, found);
  add("weak scaling: one-sided slabs on 16,384 cores (slide 21)", "TFlop/s", 1.93, weak.back().one_sided_slabs / 1e3,
      0.1, fitted, Basis::fitted);
  add("weak scaling: the best MPI there", "TFlop/s", 1.37,
      std::max(weak.back().packed_slabs, weak.back().two_sided_slabs) / 1e3, 0.1, fitted, Basis::fitted);
  add("weak scaling: their quotient, \"40%\"", "", 1.4,
      weak.back().one_sided_slabs / std::max(weak.back().packed_slabs, weak.back().two_sided_slabs), 0.1, fitted,
      Basis::fitted);
  add("weak scaling: bound on 16,384 cores", "TFlop/s", std::nullopt, weak.back().bound / 1e3, 0.01, "drawn");
  return found;
}

}  // namespace penstock::lab
