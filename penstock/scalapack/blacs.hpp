// The calls of ScaLAPACK's BLACS that tell which processes a context has; they have no header of their own.
#pragma once

extern "C" {
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
/// Sums an m x n matrix of integers over all processes of `scope`; row -1 stands for all as receivers.
void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* elements, int leading, int row,
              int column);
[[noreturn]] void Cblacs_abort(int context, int error);
}
