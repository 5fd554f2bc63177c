// Transforms of pencils whose elements are several numbers, each transformed by itself: interleaved fields, and the
// real and imaginary parts of complex numbers where the kind is from real to real.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {

/// As the library's own, where elements are one number; else by its transform of adjacent numbers.
std::size_t scratch_bytes(const LocalLibrary& library, const PencilShape& shape, std::int64_t real_bytes);
std::unique_ptr<LocalTransform> plan_pencils(const LocalLibrary& library, const PencilShape& shape,
                                             std::int64_t real_bytes, Effort effort);

}  // namespace penstock::fft
