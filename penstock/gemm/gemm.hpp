// Matrix multiplies C = alpha op(A) op(B) + beta C, in the order of reading:
//
// - blas.hpp: blocks in memory, on one thread
// - out_of_core.hpp: matrices in files, larger than memory
#pragma once

#include "penstock/gemm/blas.hpp"
#include "penstock/gemm/out_of_core.hpp"
