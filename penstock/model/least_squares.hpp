// Linear least squares in a few parameters, and the variance of each. Private to the module.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace penstock::model {

/// The solution of min |A x - b|, and the diagonal of the inverse of A^T A: a parameter's variance over that of b.
struct LeastSquares {
  std::vector<double> solution;
  std::vector<double> variance;  ///< empty where the columns of A do not tell the parameters apart
};

/// `columns` are those of A, each as long as `b`.
LeastSquares solve_least_squares(std::span<const std::vector<double>> columns, std::span<const double> b);

/// How many standard deviations, estimated with so many degrees of freedom, a parameter lies to either side with the
/// probability `confidence`: the quantile of Student's distribution.
double student_quantile(double confidence, std::size_t degrees_of_freedom);

}  // namespace penstock::model
