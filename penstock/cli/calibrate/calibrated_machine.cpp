#include "penstock/cli/calibrate/calibrated_machine.hpp"

#include <fmt/format.h>

namespace penstock::cli {

void note(CalibratedMachine& calibrated, const std::string& key, const probe::Figure& figure, const std::string& how) {
  calibrated.figures.push_back({key, figure});
  calibrated.comments.of_key[key] =
      fmt::format("{}, best of {}, median {:.1f} % off", how, figure.samples, 100 * figure.spread());
}

}  // namespace penstock::cli
