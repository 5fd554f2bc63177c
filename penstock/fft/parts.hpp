// The part of the field and of the spectrum that each rank has: pencils of the first and last transform, or the user's
// index ranges, which together must hold every point once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/fft/problem.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// Settles problem.input and problem.output, whose other members are settled; collective. `options` are the user's,
/// with the directions as the user numbers them. Throws Error on every rank where parts of the user's are no parts of
/// the field, or hold a point twice or not at all.
void resolve_parts(const gas::Team& team, const Options& options, Problem& problem);

/// Why these boxes, one of each rank, do not hold each of `points` (nx, ny, nz) once, or nothing; `what` names them
/// ("input").
std::string find_tiling_mistake(const Boxes& boxes, const Extents& points, std::string_view what);

}  // namespace penstock::fft
