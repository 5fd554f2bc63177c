#include "penstock/model/least_squares.hpp"

#include <cmath>
#include <numbers>

namespace penstock::model {
namespace {

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

void subtract(std::vector<double>& a, double factor, std::span<const double> b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] -= factor * b[i];
  }
}

/// The probability that Student's t lies between -t and t: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double student_probability(double t, std::size_t degrees_of_freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees_of_freedom)));
  const double cosine = std::cos(angle);
  const bool is_odd = degrees_of_freedom % 2 == 1;
  double term = is_odd ? cosine : 1;
  double sum = degrees_of_freedom > 1 ? term : 0;
  for (std::size_t k = is_odd ? 2 : 1; k + 3 <= degrees_of_freedom; k += 2) {
    term *= cosine * cosine * static_cast<double>(k) / static_cast<double>(k + 1);
    sum += term;
  }
  return is_odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

LeastSquares solve_least_squares(std::span<const std::vector<double>> columns, std::span<const double> b) {
  const std::size_t count = columns.size();
  std::vector<std::vector<double>> q(columns.begin(), columns.end());
  std::vector<std::vector<double>> r(count, std::vector<double>(count));
  LeastSquares found{.solution = std::vector<double>(count), .variance = {}};
  // Gram and Schmidt's orthogonalisation, each column twice, which is as accurate as Householder's.
  for (std::size_t j = 0; j < count; ++j) {
    const double length_before = std::sqrt(dot(q[j], q[j]));
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < j; ++i) {
        const double part = dot(q[i], q[j]);
        r[i][j] += part;
        subtract(q[j], part, q[i]);
      }
    }
    r[j][j] = std::sqrt(dot(q[j], q[j]));
    if (!(r[j][j] > 1e-12 * length_before)) {
      return found;
    }
    for (double& element : q[j]) {
      element /= r[j][j];
    }
  }
  // Of R x = Q^T b and of R^-1, from the last row up.
  std::vector<std::vector<double>> inverse(count, std::vector<double>(count));
  for (std::size_t i = count; i-- > 0;) {
    found.solution[i] = dot(q[i], b);
    inverse[i][i] = 1;
    for (std::size_t j = i + 1; j < count; ++j) {
      found.solution[i] -= r[i][j] * found.solution[j];
      subtract(inverse[i], r[i][j], inverse[j]);
    }
    found.solution[i] /= r[i][i];
    for (double& element : inverse[i]) {
      element /= r[i][i];
    }
  }
  for (const std::vector<double>& row : inverse) {
    found.variance.push_back(dot(row, row));
  }
  return found;
}

double student_quantile(double confidence, std::size_t degrees_of_freedom) {
  double low = 0;
  double high = 1;
  while (student_probability(high, degrees_of_freedom) < confidence) {
    low = high;
    high *= 2;
  }
  for (int halvings = 0; halvings < 60; ++halvings) {
    const double middle = (low + high) / 2;
    (student_probability(middle, degrees_of_freedom) < confidence ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace penstock::model
