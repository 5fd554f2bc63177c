// What memory a process that multiplies takes besides its matrices. Included by gemm.hpp.
#pragma once

#include <cstdint>

#include "penstock/base/memory.hpp"
#include "penstock/gemm/blas.hpp"

namespace penstock::gemm {

/// Bytes of memory that the process has now, and will have for `threads` threads that multiply, their blocks apart.
inline std::int64_t process_bytes(int threads) {
  // Stacks, and the parcels of a window.
  constexpr std::int64_t besides = std::int64_t{1} << 20;
  return resident_bytes() + besides + (threads + 1) * blas_bytes_per_thread;
}

}  // namespace penstock::gemm
