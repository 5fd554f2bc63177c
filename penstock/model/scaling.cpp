#include "penstock/model/scaling.hpp"

#include <cmath>

#include "penstock/model/scaling_costs.hpp"

namespace penstock::model {

double kappa_factor(const Scaling& scaling, double workers) noexcept {
  switch (scaling.communication) {
    case Communication::none:
      return 0;
    case Communication::blocking:
      return workers;
    case Communication::constant:
      return 1;
    case Communication::surface:
      return std::pow(workers, (scaling.alpha - 1) * scaling.beta);
  }
  return 0;
}

double lambda_factor(const Scaling& scaling, double workers) noexcept {
  return scaling.communication == Communication::surface ? 1 : kappa_factor(scaling, workers);
}

double scaled_time(const Scaling& scaling, double workers) noexcept {
  return scaling.serial + (1 - scaling.serial) * std::pow(workers, scaling.alpha - 1) +
         scaling.kappa * kappa_factor(scaling, workers) + scaling.lambda * lambda_factor(scaling, workers);
}

double speedup(const Scaling& scaling, double workers, Work work) noexcept {
  const double parallel = std::pow(workers, scaling.alpha);
  const double done = work == Work::parallel ? parallel : scaling.serial + (1 - scaling.serial) * parallel;
  return done / scaled_time(scaling, workers);
}

double efficiency(const Scaling& scaling, double workers, Work work) noexcept {
  return speedup(scaling, workers, work) / workers;
}

double crossover_workers(double serial) noexcept {
  return 1 / serial - 1;
}

double best_blocking_workers(const Scaling& scaling) noexcept {
  return std::sqrt((1 - scaling.serial) / (scaling.kappa + scaling.lambda));
}

}  // namespace penstock::model
