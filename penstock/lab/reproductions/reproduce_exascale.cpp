// The figures of seed 3: Czechowski et al., "On the Communication Complexity of 3D FFTs and its Implications for
// Exascale", Table 1, Predictions 1 to 3 and Figures 5 and 6.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penstock/lab/reproductions/subjects.hpp"
#include "penstock/model/model.hpp"

namespace penstock::lab {
namespace {

constexpr double edge = 21000;  // Prediction 2

/// A column of statements, added one after the other.
class Statements {
 public:
  explicit Statements(std::vector<Statement>& all) : all_(all) {}

  void add(std::string what, std::string unit, std::optional<double> theirs, double ours, double tolerance = 0.01,
           std::string note = "") {
    all_.push_back({std::move(what), std::move(unit), theirs, ours, tolerance, std::move(note)});
  }
  Statement& last() { return all_.back(); }

 private:
  std::vector<Statement>& all_;
};

void add_table_1(Statements table) {
  const model::Trends trends;
  const auto factor = [&](const model::Trend& trend, std::string note = "") {
    table.add(fmt::format("Table 1: ten years of {}, doubling in {}", trend.name, trend.doubling_years), "",
              trend.printed_ten_year_factor, trend.factor(10), 0.015, std::move(note));
  };
  factor(trends.node_flops);
  factor(trends.cores);
  factor(trends.memory_bandwidth, "3.0 years give 10.1; 9.7 takes 3.05, rounded in print");
  factor(trends.cache);
  factor(trends.line);
  factor(trends.link_bandwidth);
  factor(trends.machine_flops, "1.0 years give 2^10 = 1024, printed as 1000");
  factor(trends.system_memory);
  factor(trends.nodes,
         "2.4 years give 18.0; 17.4 is 1024 / 59.0, the quotient of the machine's and the processor's factor");
  const model::ExascaleMachine cpu = model::project(model::cpu_of_2010(), 10, model::Pace::printed_factors);
  const model::ExascaleMachine gpu = model::project(model::gpu_of_2010(), 10, model::Pace::printed_factors);
  table.add("Table 1: nodes of 2010, CPU", "", 79400, model::cpu_of_2010().nodes());
  table.add("Table 1: nodes of 2010, GPU", "", 7770, model::gpu_of_2010().nodes());
  table.add("Table 1: peak of 2020, CPU", "TFlop/s", 3.0, cpu.node_flops / 1e12, 0.017);
  table.add("Table 1: peak of 2020, GPU", "TFlop/s", 30, gpu.node_flops / 1e12, 0.017);
  table.add("Table 1: cores of 2020, CPU", "", 134, 6 * trends.cores.printed_ten_year_factor, 0.01,
            "6 cores x 40.7 are 244; the table's 134 follows from no row");
  table.add("Table 1: cores of 2020, GPU", "", 18e3, 448 * trends.cores.printed_ten_year_factor, 0.028);
  table.add("Table 1: memory bandwidth of 2020, CPU", "GB/s", 206, cpu.memory_bytes_per_s / 1e9);
  table.add("Table 1: memory bandwidth of 2020, GPU", "TB/s", 1.4, gpu.memory_bytes_per_s / 1e12, 0.036);
  table.add("Table 1: fast memory of 2020, CPU", "MB", 192, cpu.cache_bytes / 1e6);
  table.add("Table 1: fast memory of 2020, GPU", "MB", 86.4, gpu.cache_bytes / 1e6);
  table.add("Table 1: line of 2020, CPU", "B", 128, 64 * trends.line.printed_ten_year_factor);
  table.add("Table 1: line of 2020, GPU", "B", 256, 128 * trends.line.printed_ten_year_factor);
  table.add("Table 1: link of 2020", "GB/s", 218, gpu.link_bytes_per_s / 1e9);
  table.add("Table 1: machine of 2020", "EFlop/s", 4, gpu.peak_flops / 1e18);
  table.add("Table 1: system memory of 2020", "PB", 132, 635e-3 * trends.system_memory.printed_ten_year_factor);
  table.add("Table 1: nodes of 2020, CPU", "", 1.3e6, cpu.nodes(), 0.04);
  table.add("Table 1: nodes of 2020, GPU", "", 135e3, gpu.nodes(), 0.03);
}

/// Predictions 1 and 2 and Figure 5, by one reading of eq. 2.
void add_swim_lanes(Statements table, const model::MemoryReading& reading) {
  const model::ExascaleMachine gpu = model::project(model::gpu_of_2010(), 10, model::Pace::printed_factors);
  const model::ExascaleMachine cpu = model::project(model::cpu_of_2010(), 10, model::Pace::printed_factors);
  const auto [first, cpu_1, cpu_2, cpu_3] = model::swim_lanes(gpu, cpu, edge, reading);
  const auto time_s = [](const model::SwimLane& lane) { return lane.memory_s + lane.network_s; };
  const std::string why =
      "eq. 2 as printed makes T_mem 12 times less than the paper's other figures need; see the reading \"uncapped\"";
  const auto add = [&](const std::string& what, std::string unit, std::optional<double> theirs, double ours,
                       double tolerance = 0.03) {
    table.add(fmt::format("{} [{}]", what, reading.name), std::move(unit), theirs, ours, tolerance,
              theirs ? "" : "drawn, not printed");
    Statement& added = table.last();
    if (!added.reproduces() && reading.is_capped) {
      added.note = why;
    }
  };
  const double rate = model::exascale_flops(edge) / time_s(first);
  add("Prediction 1: GPU-like machine of 2020", "PFlop/s", 2.8, rate / 1e15);
  table.add(fmt::format("Prediction 1: its part of the peak [{}]", reading.name), "%", 0.08,
            100 * rate / gpu.peak_flops, 0.03, "2.8 PFlop/s of 4 EFlop/s, the paper's own numbers, are 0.07%");
  add("Prediction 2: CPU-1 over GPU", "", 3.2, time_s(first) / time_s(cpu_1));
  add("Figure 5: GPU, T_net / T_mem", "", 2.8, first.network_s / first.memory_s);
  add("Figure 5: GPU, T_net", "s", 0.528, first.network_s);
  add("Figure 5: GPU, T_mem", "s", std::nullopt, first.memory_s);
  add("Figure 5: T_net of GPU over CPU-1, \"nearly\" 5", "", 5, first.network_s / cpu_1.network_s, 0.1);
  add("Figure 5: T_mem of GPU over CPU-1", "", std::nullopt, first.memory_s / cpu_1.memory_s);
  add("Figure 5: nodes of CPU-1 over GPU, \"over\" 10", "", 10, cpu_1.nodes / first.nodes);
  add("Figure 5: nodes of CPU-2", "", 350e3, cpu_2.nodes);
  add("Figure 5: peak of CPU-2", "EFlop/s", 1, cpu_2.peak_flops / 1e18, 0.1);
  add("Figure 5: nodes of CPU-3", "", 295e3, cpu_3.nodes);
  add("Figure 5: nodes of CPU-3 over GPU", "", 2.25, cpu_3.nodes / first.nodes);
}

/// T_mem / T_net so many years after 2010, n^3 growing like P from 4096^3.
double figure_6(double years, const model::ExascaleNetwork& network) {
  const model::ExascaleMachine machine = model::project(model::cpu_of_2010(), years, model::Pace::printed_factors);
  const double n = 4096 * std::cbrt(machine.nodes() / model::cpu_of_2010().nodes());
  const model::ExascaleTimes times = model::exascale_times(machine, n, model::MemoryReading::printed(), network);
  return times.memory_s / times.network_s;
}

void add_prediction_3(Statements table, std::vector<Curves>& curves) {
  const model::ExascaleNetwork torus;
  const model::ExascaleNetwork ideal{.kind = model::ExascaleNetwork::Kind::ideal};
  table.add("Prediction 3: T_mem / T_net on a 3-D torus falls in ten years: 2020 over 2010", "", std::nullopt,
            figure_6(10, torus) / figure_6(0, torus), 0.01, "drawn; the text says that it decreases, and so it does");
  table.add("Prediction 3: with the ideal mapping it grows", "", std::nullopt, figure_6(10, ideal) / figure_6(0, ideal),
            0.01, "drawn; the text says that it increases, and so it does");
  const model::ExascaleMachine cpu = model::project(model::cpu_of_2010(), 10, model::Pace::doubling_times);
  const double with_factor = model::exascale_times(cpu, edge, model::MemoryReading::printed(), torus).network_s /
                             model::exascale_times(cpu, edge, model::MemoryReading::printed(), ideal).network_s;
  table.add("Prediction 3: eq. 5 over eq. 4, \"as much as 10 times faster\", in 2020", "", 10, with_factor, 0.1,
            "eq. 4 is a bound without the factor 2 of the two exchanges");
  table.add("the same without eq. 5's factor 2", "", 10, with_factor / 2, 0.1);
  Curves figure{
      .title = "Figure 6: T_mem / T_net, n from 4096", .x_name = "year", .y_name = "ratio", .x = {}, .series = {}};
  figure.series = {{"3-D torus", {}}, {"3-D torus ideal", {}}, {"4-D torus", {}}, {"5-D torus", {}}};
  for (double years = 0; years <= 10; years += 2) {
    figure.x.push_back(2010 + years);
    figure.series[0].y.push_back(figure_6(years, torus));
    figure.series[1].y.push_back(figure_6(years, ideal));
    figure.series[2].y.push_back(figure_6(years, {.dimensions = 4}));
    figure.series[3].y.push_back(figure_6(years, {.dimensions = 5}));
  }
  curves.push_back(figure);
}

}  // namespace

Reproduction reproduce_exascale() {
  Reproduction found{.name = "exascale",
                     .source = "Czechowski et al. 2012 (seed 3), Table 1, section 6, Figures 5 and 6",
                     .statements = {},
                     .curves = {}};
  Statements table(found.statements);
  add_table_1(table);
  add_swim_lanes(table, model::MemoryReading::printed());
  add_swim_lanes(table, model::MemoryReading::uncapped());
  const model::ExascaleMachine gpu = model::project(model::gpu_of_2010(), 10, model::Pace::printed_factors);
  const model::ExascaleTimes times = model::exascale_times(gpu, edge, model::MemoryReading::printed());
  table.add("section 6: T_net over T_flops, \"three orders\"", "", 1000, times.network_s / times.flops_s, 0.1);
  add_prediction_3(table, found.curves);
  return found;
}

}  // namespace penstock::lab
