// What memory the process has, as the system counts it. Included by gemm.hpp.
#pragma once

#include <cstdint>

namespace penstock::gemm {

/// Bytes of memory that the process has now, and will have for `threads` threads that multiply, their blocks apart.
std::int64_t process_bytes(int threads);

/// The most memory that the process has had; 0 where the system does not say.
std::int64_t peak_resident_bytes();

}  // namespace penstock::gemm
