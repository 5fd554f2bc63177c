// Matrix multiplies C = alpha op(A) op(B) + beta C, in the order of reading:
//
// - blas.hpp: blocks in memory, on one thread
// - distributed.hpp: matrices on the ranks of a team
// - product_check.hpp: whether such a product is right
// - scalapack.hpp: ScaLAPACK's matrices, as its p?gemm
// - out_of_core.hpp: matrices in files, larger than memory
// - rates.hpp: what the machine multiplies and moves
#pragma once

#include "penstock/gemm/blas.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/out_of_core.hpp"
#include "penstock/gemm/product_check.hpp"
#include "penstock/gemm/rates.hpp"
#include "penstock/gemm/scalapack.hpp"
