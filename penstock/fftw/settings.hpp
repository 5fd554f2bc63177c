// The settings of the library that come from the environment.
#pragma once

#include <cstdint>

namespace penstock::fftw {

/// The modes of PENSTOCK_FFTW: FFTW as it is; our transforms; these, and a table of what was served at the end.
enum class Mode { off, on, stats };

/// The value of PENSTOCK_FFTW; `on` where it is not set. For an unknown value the first call writes the known ones to
/// standard error, and goes on with `on`.
Mode mode();

/// The least points of a transform of one process that is served, from PENSTOCK_FFTW_POINTS.
std::int64_t min_points_alone();

}  // namespace penstock::fftw
