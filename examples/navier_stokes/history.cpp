#include "history.hpp"

#include <array>
#include <cstdio>
#include <penstock/plot/plot.hpp>

namespace navier_stokes {
namespace {

double time_of(const Parameters& parameters, std::size_t i) {
  return parameters.dt * static_cast<double>(i);
}

double dissipation(const Parameters& parameters, const Sample& sample) {
  return 2 / parameters.reynolds * sample.enstrophy;
}

}  // namespace

double unaccounted(const History& history, std::size_t i) {
  const double first = history.front().energy;
  return (first - history[i].energy - history[i].dissipated) / first;
}

std::string head_of_rows() {
  return "     time     energy  enstrophy  dissipation  unaccounted for";
}

std::string row_of(const Parameters& parameters, const History& history, std::size_t i) {
  std::array<char, 120> text{};
  std::snprintf(text.data(), text.size(), "%9.4f  %.7f  %9.6f    %.7f  %15.1e", time_of(parameters, i),
                history[i].energy, history[i].enstrophy, dissipation(parameters, history[i]), unaccounted(history, i));
  return text.data();
}

std::string csv_of(const Parameters& parameters, const History& history) {
  std::string all = "time,energy,enstrophy,dissipation,dissipated\n";
  for (std::size_t i = 0; i < history.size(); ++i) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%.17g,%.17g,%.17g,%.17g,%.17g\n", time_of(parameters, i),
                  history[i].energy, history[i].enstrophy, dissipation(parameters, history[i]), history[i].dissipated);
    all += text.data();
  }
  return all;
}

void draw(const Parameters& parameters, const History& history, const std::string& path) {
  std::array<char, 80> title{};
  std::snprintf(title.data(), title.size(), "Taylor-Green vortex (%s), Reynolds number %g, %lld^3 points",
                name_of(parameters.flow).data(), parameters.reynolds, static_cast<long long>(parameters.n));
  penstock::plot::Chart chart{.title = title.data(),
                              .x_name = "time",
                              .y_name = "energy",
                              .right_name = "dissipation",
                              .x = {},
                              .series = {{"energy", {}}, {"dissipation", {}, true}}};
  for (std::size_t i = 0; i < history.size(); ++i) {
    chart.x.push_back(time_of(parameters, i));
    chart.series[0].y.push_back(history[i].energy);
    chart.series[1].y.push_back(dissipation(parameters, history[i]));
  }
  penstock::plot::draw(chart, path);
}

}  // namespace navier_stokes
