#include "history.hpp"

#include <array>
#include <cstdio>

namespace navier_stokes {

double time_of(const Parameters& parameters, std::size_t i) {
  return parameters.dt * static_cast<double>(i);
}

double dissipation(const Parameters& parameters, const Sample& sample) {
  return 2 / parameters.reynolds * sample.enstrophy;
}

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

}  // namespace navier_stokes
