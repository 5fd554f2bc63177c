// The way of a field through a transform: at which stops it is, in which boxes, and what is done there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/fft/problem.hpp"

namespace penstock::fft {

/// How a field is spread over the ranks.
struct Spread {
  Boxes boxes;
  std::int64_t element_bytes = 0;
};

/// One stage, of all ranks alike: how their tiles walk the boxes, and the transform of its rows. A transform between
/// real and complex numbers has more points on one side than on the other.
struct Stop {
  int outer = 0;
  int across = 0;
  int along = 0;
  std::optional<RowKind> kind;  ///< nothing where data only changes places
  Spread before;
  Spread after;
  bool turns_back = false;  ///< rows are transformed back at once, with the user's function between
  bool joins_next = false;  ///< shares a pass with the next stop, by a plane in cache
};

/// Where a route leads: forward, backward, or from real space to the spectrum and back.
enum class Way { forward, backward, there_and_back };

/// The stops of a route. The first begins at the user's array and the last ends at it; where a user's part is not what
/// the first or last transform takes, a stop that only moves data comes before or after.
std::vector<Stop> make_route(const Problem& problem, Way way);

}  // namespace penstock::fft
