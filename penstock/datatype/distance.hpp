// Distances in bytes, computed so that what overflows 64 bits is refused.
#pragma once

#include <cstdint>

#include "penstock/base/error.hpp"

namespace penstock::datatype {

[[noreturn]] inline void refuse_distance() {
  throw Error("an MPI datatype reaches more than 2^62 bytes from its buffer: use smaller strides or displacements");
}

inline std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    refuse_distance();
  }
  return result;
}

inline std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    refuse_distance();
  }
  return result;
}

}  // namespace penstock::datatype
