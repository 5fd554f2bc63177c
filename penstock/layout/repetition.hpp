// Finds the loops hidden in a list of runs. Private to the module.
#pragma once

#include <cstddef>
#include <vector>

#include "penstock/layout/layout.hpp"

namespace penstock::layout {

/// Loops, outermost first, around what they repeat.
struct Repetition {
  std::vector<Level> levels;
  std::vector<Run> runs;
};

/// Drops empty runs, and the seam between two where the second begins at the end of the first.
void join_adjacent(std::vector<Run>& runs);

/// The runs as loops around the shortest list, where a repetition is a whole number of the runs given.
Repetition find_repetition_of_runs(std::vector<Run> runs);

/// The runs, joined first, as loops around the shortest list of bytes; a repetition may begin inside a run.
///
/// The bytes named are a sequence b(0), b(1), ..., b(n-1). A number p that divides n is a period when b(i+p) - b(i) is
/// the same for all i. The shortest period divides every other one (the theorem of Fine and Wilf on the sequence of
/// differences), so that the outermost loop over the shortest period, then the same inside it, is one form per
/// sequence.
Repetition find_repetition(std::vector<Run> runs);

}  // namespace penstock::layout
