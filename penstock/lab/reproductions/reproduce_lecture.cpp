// The figures of the lecture of seed 1: Ernst, "Introduction to High Performance Computing and Optimization", after
// Hager and Wellein.
#include <cmath>
#include <string>

#include "penstock/lab/reproductions/subjects.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::lab {
namespace {

struct LectureFit {
  std::string name;
  double latency_s;
  double bandwidth_bytes_per_s;
};

/// Slides 181 and 183.
const LectureFit fits[] = {{"Gigabit Ethernet", 76e-6, 111e6},
                           {"InfiniBand, small messages", 4.14e-6, 827e6},
                           {"InfiniBand, large messages", 20.8e-6, 1320e6},
                           {"InfiniBand, both limits", 4.14e-6, 1320e6}};

/// A message of the model, timed at the lengths of the figures and fitted again.
model::PingPongSegment fitted_again(const LectureFit& fit) {
  std::vector<model::MessageTime> times;
  for (double bytes = 1; bytes <= 1 << 22; bytes *= 2) {
    times.push_back({bytes, fit.latency_s + bytes / fit.bandwidth_bytes_per_s});
  }
  return model::fit_ping_pong(times, 1).segments[0];
}

double megabytes_per_s(const LectureFit& fit, double bytes) {
  return bytes / (fit.latency_s + bytes / fit.bandwidth_bytes_per_s) / 1e6;
}

}  // namespace

Reproduction reproduce_ping_pong() {
  Reproduction found{
      .name = "ping-pong", .source = "lecture (seed 1), slides 179 to 192", .statements = {}, .curves = {}};
  Curves curves{
      .title = "Effective bandwidth (slides 181, 183)", .x_name = "bytes", .y_name = "MB/s", .x = {}, .series = {}};
  for (double bytes = 10; bytes <= 1e7; bytes *= 10) {
    curves.x.push_back(bytes);
  }
  for (const LectureFit& fit : fits) {
    const model::PingPongSegment again = fitted_again(fit);
    // The slides draw the measured points and print none.
    found.statements.push_back({fit.name + ": T_l, fitted to its own curve", "us", fit.latency_s * 1e6,
                                again.latency_s * 1e6, 0.01, "", Basis::refit});
    found.statements.push_back({fit.name + ": B, fitted to its own curve", "MB/s", fit.bandwidth_bytes_per_s / 1e6,
                                again.bandwidth_bytes_per_s / 1e6, 0.01, "", Basis::refit});
    found.statements.push_back(
        {fit.name + ": N1/2 = B T_l", "B", std::nullopt, again.half_bytes(), 0.01, "drawn in the figure, not printed"});
    Curves::Series series{fit.name, {}};
    for (const double bytes : curves.x) {
      series.y.push_back(megabytes_per_s(fit, bytes));
    }
    curves.series.push_back(series);
  }
  found.statements.push_back(
      {"gain of twice the bandwidth at N1/2 (slide 184)", "", 1.33, model::gain_of_bandwidth(1, 1, 2)});
  found.statements.push_back(
      {"gain of half the latency at N1/2 (slide 184)", "", 1.33, model::gain_of_latency(1, 1, 2)});
  const std::vector<model::TreeRoute> before{{0, 4, 0}, {1, 5, 1}, {2, 6, 0}, {3, 7, 1}};
  const std::vector<model::TreeRoute> after{{0, 4, 0}, {1, 6, 1}, {2, 5, 0}, {3, 7, 1}};
  const std::vector<model::TreeRoute> rerouted{{0, 4, 0}, {1, 6, 1}, {2, 5, 1}, {3, 7, 0}};
  found.statements.push_back({"messages on the busiest link, figure 4.17, dashed lines", "", 1.0,
                              static_cast<double>(model::max_routes_on_a_link(2, before))});
  found.statements.push_back(
      {"the same with 2-7 and 3-6: a collision", "", 2.0, static_cast<double>(model::max_routes_on_a_link(2, after))});
  found.statements.push_back(
      {"the same with 1-5 and 4-8 re-routed", "", 1.0, static_cast<double>(model::max_routes_on_a_link(2, rerouted))});
  found.curves.push_back(curves);
  return found;
}

Reproduction reproduce_scaling() {
  Reproduction found{
      .name = "scaling", .source = "lecture (seed 1), slides 145 to 163", .statements = {}, .curves = {}};
  const auto add = [&](std::string what, std::optional<double> theirs, double ours, std::string note = "") {
    found.statements.push_back({std::move(what), "", theirs, ours, 0.01, std::move(note)});
  };
  const auto lecture = [](model::Communication communication, double alpha) {
    return model::Scaling{
        .serial = 0.05, .alpha = alpha, .communication = communication, .kappa = 0.005, .lambda = 0.001};
  };
  for (const double serial : {0.168, 0.086}) {
    std::vector<model::MeasuredSpeedup> points;
    for (double workers = 1; workers <= 12; ++workers) {
      points.push_back({workers, model::speedup({.serial = serial}, workers)});
    }
    found.statements.push_back({"s fitted to its own curve (slide 155)", "", serial,
                                model::fit_scaling(points, {}).serial.value, 0.01, "", Basis::refit});
    add("its speedup on 12 cores", std::nullopt, points.back().speedup, "drawn, not printed");
  }
  add("workers at the crossover 1/s - 1, s = 0.05 (slide 156)", 1 / 0.05 - 1, model::crossover_workers(0.05));
  add("efficiency there: 1 / (2 (1 - s)) (slide 157)", 1 / (2 * 0.95), model::efficiency({.serial = 0.05}, 19));
  const model::Scaling mostly_serial{.serial = 0.9, .alpha = 1};
  add("efficiency of weak scaling, p = 0.1, N to infinity (slide 154)", 0.1, model::efficiency(mostly_serial, 1e9));
  add("the same where parallel work alone counts (slide 154)", 1.0,
      model::efficiency(mostly_serial, 1e9, model::Work::parallel));
  const model::Scaling blocking = lecture(model::Communication::blocking, 0);
  const model::Scaling surface = lecture(model::Communication::surface, 1);
  add("1000 workers: Amdahl (slide 163)", std::nullopt, model::speedup({.serial = 0.05}, 1000), "drawn, not printed");
  add("1000 workers: blocking", std::nullopt, model::speedup(blocking, 1000), "drawn, not printed");
  add("blocking: workers at its maximum", std::nullopt, model::best_blocking_workers(blocking), "drawn, not printed");
  add("blocking: its maximum", std::nullopt, model::speedup(blocking, model::best_blocking_workers(blocking)),
      "drawn, not printed");
  add("1000 workers: constant cost", std::nullopt, model::speedup(lecture(model::Communication::constant, 0), 1000),
      "drawn, not printed");
  add("1000 workers: surface to volume, alpha = 0", std::nullopt,
      model::speedup(lecture(model::Communication::surface, 0), 1000), "drawn, not printed");
  add("1000 workers: surface to volume, alpha = 1", (0.05 + 0.95 * 1000) / 1.006, model::speedup(surface, 1000),
      "slide 162 prints c = kappa N^-beta + lambda but uses kappa + lambda, as a worker's part keeps its size");
  add("10^10 workers, alpha = 0.5, over 1 + p N^alpha / s (slide 150)", 1.0,
      model::speedup({.serial = 0.05, .alpha = 0.5}, 1e10) / (1 + 0.95 / 0.05 * 1e5),
      "slide 150 prints (1 - s) alpha where (1 - s) N^alpha is meant");
  Curves curves{.title = "Speedup (slide 163)", .x_name = "workers", .y_name = "speedup", .x = {}, .series = {}};
  curves.series = {
      {"Amdahl", {}}, {"blocking", {}}, {"constant", {}}, {"surface, alpha 0", {}}, {"surface, alpha 1", {}}};
  for (double workers = 1; workers <= 1000; workers *= std::sqrt(10)) {
    curves.x.push_back(workers);
    curves.series[0].y.push_back(model::speedup({.serial = 0.05}, workers));
    curves.series[1].y.push_back(model::speedup(blocking, workers));
    curves.series[2].y.push_back(model::speedup(lecture(model::Communication::constant, 0), workers));
    curves.series[3].y.push_back(model::speedup(lecture(model::Communication::surface, 0), workers));
    curves.series[4].y.push_back(model::speedup(surface, workers));
  }
  found.curves.push_back(curves);
  return found;
}

}  // namespace penstock::lab
