// What multiplies kappa and lambda in c(N), for the law and for its fits.
#pragma once

#include "penstock/model/scaling.hpp"

namespace penstock::model {

double kappa_factor(const Scaling& scaling, double workers) noexcept;
double lambda_factor(const Scaling& scaling, double workers) noexcept;

}  // namespace penstock::model
