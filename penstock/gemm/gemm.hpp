// Matrix multiplies C = alpha op(A) op(B) + beta C, in the order of reading:
//
// - blas.hpp: blocks in memory, on one thread
// - distributed.hpp: matrices on the ranks of a team
// - product_check.hpp: the check of such a product, without another multiply
// - scalapack.hpp: ScaLAPACK's matrices, with the arguments of its p?gemm
// - out_of_core.hpp: matrices in files, larger than memory
// - device_multiply.hpp: matrices in memory, multiplied on a device
// - rates.hpp: the machine's rates of multiplies and storage
#pragma once

#include "penstock/gemm/blas.hpp"
#include "penstock/gemm/device_multiply.hpp"
#include "penstock/gemm/distributed.hpp"
#include "penstock/gemm/out_of_core.hpp"
#include "penstock/gemm/product_check.hpp"
#include "penstock/gemm/rates.hpp"
#include "penstock/gemm/scalapack.hpp"
