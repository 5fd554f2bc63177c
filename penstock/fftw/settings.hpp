// The settings of the library that come from the environment.
#pragma once

namespace penstock::fftw {

/// The modes of PENSTOCK_FFTW: FFTW as it is; our transforms; these, and a table of what was served at the end.
enum class Mode { off, on, stats };

/// The value of PENSTOCK_FFTW; `on` where it is not set. For an unknown value the first call writes the known ones to
/// standard error, and goes on with `on`.
Mode mode();

/// Whether a transform of one process is served: whether it has the points of PENSTOCK_FFTW_POINTS or more; where that
/// is not set, whether its field is four times larger than the second-level caches of its threads.
bool is_large_alone(double points, double field_bytes, int threads);

}  // namespace penstock::fftw
