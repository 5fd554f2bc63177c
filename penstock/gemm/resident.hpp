// What memory the process has, as the system counts it.
#pragma once

#include <cstdint>

namespace penstock::gemm {

/// Bytes of memory that the process has now; 0 where the system does not say.
std::int64_t resident_bytes();

/// The most that it has had.
std::int64_t peak_resident_bytes();

}  // namespace penstock::gemm
