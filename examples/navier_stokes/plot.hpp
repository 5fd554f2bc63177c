// Energy and dissipation over time, drawn by gnuplot.
#pragma once

#include <string>

#include "history.hpp"
#include "parameters.hpp"

namespace navier_stokes {

/// Whether there is a gnuplot to draw with.
bool can_draw();

/// Draws into an SVG file. Throws penstock::Error where there is no gnuplot, or no room.
void draw(const Parameters& parameters, const History& history, const std::string& path);

}  // namespace navier_stokes
