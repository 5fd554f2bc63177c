// Pencils that lie anywhere in memory.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace penstock::transform {

/// Point k of pencil p, a real number or a complex one with its parts side by side, lies at base + offsets[k] + p *
/// pencil_stride. Offsets and stride are in bytes and may be negative; every number is aligned as its parts are.
template <class Byte>
struct Pencils {
  Byte* base = nullptr;
  const std::int64_t* offsets = nullptr;  ///< of each point
  std::int64_t pencil_stride = 0;
};

}  // namespace penstock::transform

#pragma GCC visibility pop
