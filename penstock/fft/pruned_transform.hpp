// Transforms of pencils whose spectrum is kept in part: the modes of low wavenumbers.
#pragma once

#include <cstdint>
#include <memory>

#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {

/// A transform of pencils with `shape.modes` modes, fewer than `shape.length`, by the library's transform of whole
/// ones.
std::unique_ptr<LocalTransform> make_pruned_transform(const LocalLibrary& library, const PencilShape& shape,
                                                      std::int64_t real_bytes, Effort effort);

}  // namespace penstock::fft
