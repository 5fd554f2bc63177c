// The settings of the library that come from the environment.
#pragma once

#include <cstdint>

namespace penstock::fftw {

/// The modes of PENSTOCK_FFTW: FFTW as it is; our transforms; these, and a table of what was served at the end.
enum class Mode { off, on, stats };

/// The value of PENSTOCK_FFTW; `on` where it is not set. For an unknown value the first call writes the known ones to
/// standard error, and goes on with `on`.
Mode mode();

/// A transform of one process: its points, the bytes of a field, how many fields there are, and the threads that FFTW
/// would share them among.
struct Alone {
  double points = 0;
  double field_bytes = 0;
  std::int64_t fields = 1;
  int threads = 1;
  bool is_estimated = false;  ///< FFTW would plan without measuring
};

/// Whether the transform is served: whether it has the points of PENSTOCK_FFTW_POINTS or more; where that is not set,
/// whether ours is likely faster than FFTW.
bool is_large_alone(const Alone& transform);

}  // namespace penstock::fftw
