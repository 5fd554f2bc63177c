// Fits of the laws of scaling to measured speedups.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/least_squares.hpp"
#include "penstock/model/scaling.hpp"
#include "penstock/model/scaling_costs.hpp"

namespace penstock::model {
namespace {

/// A parameter to fit: what it adds to T for each unit, and where it is kept.
struct Parameter {
  std::function<double(double workers)> factor;  ///< of its cost in c(N); unused for s
  std::function<void(Scaling&, double)> add;
};

/// s first, then what the points can tell of the communication.
std::vector<Parameter> parameters_of(const Scaling& form) {
  std::vector<Parameter> parameters;
  parameters.push_back({{}, [](Scaling& scaling, double change) { scaling.serial += change; }});
  if (form.communication == Communication::none) {
    return parameters;
  }
  parameters.push_back({[form](double workers) { return kappa_factor(form, workers); },
                        [](Scaling& scaling, double change) { scaling.kappa += change; }});
  if (form.communication == Communication::surface && form.alpha != 1) {
    parameters.push_back({[form](double workers) { return lambda_factor(form, workers); },
                          [](Scaling& scaling, double change) { scaling.lambda += change; }});
  }
  return parameters;
}

/// How far the logarithms of the speedups are from those measured.
std::vector<double> errors(const Scaling& scaling, std::span<const MeasuredSpeedup> points) {
  std::vector<double> logarithms;
  for (const auto& [workers, measured] : points) {
    const double speed = speedup(scaling, workers);
    logarithms.push_back(speed > 0 ? std::log(measured / speed) : std::numeric_limits<double>::infinity());
  }
  return logarithms;
}

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return sum;
}

/// The derivatives of the logarithms of the speedups, a column for each parameter.
std::vector<std::vector<double>> derivatives(const Scaling& scaling, std::span<const Parameter> parameters,
                                             std::span<const MeasuredSpeedup> points) {
  std::vector<std::vector<double>> columns(parameters.size());
  for (const auto& [workers, measured] : points) {
    const double parallel = std::pow(workers, scaling.alpha);
    const double work = scaling.serial + (1 - scaling.serial) * parallel;
    const double time = scaled_time(scaling, workers);
    columns[0].push_back((1 - parallel) / work - (1 - parallel / workers) / time);
    for (std::size_t i = 1; i < parameters.size(); ++i) {
      columns[i].push_back(-parameters[i].factor(workers) / time);
    }
  }
  return columns;
}

void check_points(std::span<const MeasuredSpeedup> points, std::size_t parameters) {
  if (points.size() <= parameters) {
    throw Error(fmt::format("a fit of {} parameters needs {} measured speedups or more, and there are {}", parameters,
                            parameters + 1, points.size()));
  }
  for (const auto& [workers, measured] : points) {
    if (!(workers >= 1) || !(measured > 0) || !std::isfinite(workers) || !std::isfinite(measured)) {
      throw Error(
          fmt::format("a speedup of {} with {} workers cannot be fitted: give at least 1 worker and a speedup "
                      "above 0",
                      measured, workers));
    }
  }
}

}  // namespace

ScalingFit fit_scaling(std::span<const MeasuredSpeedup> points, const Scaling& form, double confidence) {
  const std::vector<Parameter> parameters = parameters_of(form);
  check_points(points, parameters.size());
  Scaling fitted = form;
  fitted.serial = 0.1;
  fitted.kappa = 0;
  fitted.lambda = 0;
  // Gauss and Newton's steps, halved until they lead down; the logarithms make the errors relative.
  std::vector<double> residual = errors(fitted, points);
  LeastSquares step;
  for (int steps = 0; steps < 100; ++steps) {
    step = solve_least_squares(derivatives(fitted, parameters, points), residual);
    if (step.variance.empty()) {
      throw Error("these speedups leave a parameter open: measure with other numbers of workers");
    }
    const double before = sum_of_squares(residual);
    double size = 1;
    Scaling next;
    do {
      next = fitted;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].add(next, size * step.solution[i]);
      }
      residual = errors(next, points);
      size /= 2;
    } while (!(sum_of_squares(residual) <= before) && size > 1e-12);
    if (!(sum_of_squares(residual) < before * (1 - 1e-14))) {
      residual = errors(fitted, points);
      break;
    }
    fitted = next;
  }
  const auto freedom = points.size() - parameters.size();
  const double variance = sum_of_squares(residual) / static_cast<double>(freedom);
  const double quantile = student_quantile(confidence, freedom);
  const auto estimate = [&](double value, std::size_t parameter) {
    const double half = quantile * std::sqrt(variance * step.variance[parameter]);
    return Estimate{value, value - half, value + half};
  };
  ScalingFit fit;
  fit.serial = estimate(fitted.serial, 0);
  if (parameters.size() == 2) {
    fit.kappa_plus_lambda = estimate(fitted.kappa, 1);
  }
  if (parameters.size() == 3) {
    fit.kappa = estimate(fitted.kappa, 1);
    fit.lambda = estimate(fitted.lambda, 2);
  }
  fit.relative_error = std::sqrt(sum_of_squares(residual) / static_cast<double>(points.size()));
  return fit;
}

}  // namespace penstock::model
