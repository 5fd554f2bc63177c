// The samples of a run, and how they are shown: as rows, as a CSV file, as a plot.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "parameters.hpp"
#include "solver.hpp"

namespace navier_stokes {

/// Sample i is the one after i steps.
using History = std::vector<Sample>;

/// The head of the rows, and the row of step `i`.
std::string head_of_rows();
std::string row_of(const Parameters& parameters, const History& history, std::size_t i);

/// The part of the first energy that is neither left nor has turned to heat: what the step of time gets wrong.
double unaccounted(const History& history, std::size_t i);

/// All samples with all their digits.
std::string csv_of(const Parameters& parameters, const History& history);

/// Draws energy and dissipation over time. Throws penstock::Error where there is no gnuplot, or no room.
void draw(const Parameters& parameters, const History& history, const std::string& path);

}  // namespace navier_stokes
