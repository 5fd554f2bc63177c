// The factors of kappa and lambda in c(N) (scaling.hpp), for the laws and their fits. Private to the module.
#pragma once

#include "penstock/model/scaling.hpp"

namespace penstock::model {

double kappa_factor(const Scaling& scaling, double workers) noexcept;
double lambda_factor(const Scaling& scaling, double workers) noexcept;

}  // namespace penstock::model
