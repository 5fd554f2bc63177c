// The bytes that a layout names, one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/layout/layout.hpp"

namespace penstock::layout {

using Offsets = std::vector<std::int64_t>;

/// In the order of the layout.
inline Offsets bytes_of(const Layout& layout) {
  Offsets bytes;
  for (RunWalk walk(layout); !walk.is_done(); walk.next()) {
    for (std::int64_t i = 0; i < walk.run().bytes; ++i) {
      bytes.push_back(walk.run().offset + i);
    }
  }
  return bytes;
}

}  // namespace penstock::layout
