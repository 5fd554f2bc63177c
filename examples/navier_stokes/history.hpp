// The samples of a run, and how they are shown: as rows, as a CSV file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parameters.hpp"
#include "solver.hpp"

namespace navier_stokes {

/// Sample i is the one after i steps.
using History = std::vector<Sample>;

/// The time of sample `i`, and the dissipation of one.
double time_of(const Parameters& parameters, std::size_t i);
double dissipation(const Parameters& parameters, const Sample& sample);

/// The head of the rows, and the row of step `i`.
std::string head_of_rows();
std::string row_of(const Parameters& parameters, const History& history, std::size_t i);

/// The part of the first energy that is neither left nor has turned to heat: what the step of time gets wrong.
double unaccounted(const History& history, std::size_t i);

/// All samples with all their digits.
std::string csv_of(const Parameters& parameters, const History& history);

}  // namespace navier_stokes
