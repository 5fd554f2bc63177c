// The declarations of BLACS, ScaLAPACK's communication layer, that this module calls; BLACS has no header of its own.
#pragma once

// NOLINTBEGIN(readability-identifier-naming): BLACS's own
extern "C" {
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
/// Sums an m x n matrix of integers over all processes of `scope`; with row -1 all processes get the result.
void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* elements, int leading, int row,
              int column);
[[noreturn]] void Cblacs_abort(int context, int error);
}
// NOLINTEND(readability-identifier-naming)
