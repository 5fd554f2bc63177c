// Transforms of pencils whose elements are several numbers, each transformed by itself: interleaved fields, and the
// real and imaginary parts of complex numbers where the kind is from real to real.
#pragma once

#include <cstdint>
#include <memory>

#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {

/// A transform of pencils whose elements are `shape.numbers` numbers, by the library's transform of single numbers.
std::unique_ptr<LocalTransform> make_element_transform(const LocalLibrary& library, const PencilShape& shape,
                                                       std::int64_t real_bytes, Effort effort);

}  // namespace penstock::fft
