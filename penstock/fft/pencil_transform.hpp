// Transforms of whatever pencils stages have, by the transforms of a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {

/// As the library's own, of pencils of single numbers with all modes; of others by such ones.
std::size_t scratch_bytes(const LocalLibrary& library, const PencilShape& shape, std::int64_t real_bytes);
std::unique_ptr<LocalTransform> plan_pencils(const LocalLibrary& library, const PencilShape& shape,
                                             std::int64_t real_bytes, Effort effort);

}  // namespace penstock::fft
