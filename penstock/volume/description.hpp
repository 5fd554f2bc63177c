// What a file says of its field. Private to volume.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/shape/shape.hpp"
#include "penstock/volume/elements.hpp"
#include "penstock/volume/name.hpp"

namespace penstock::volume {

struct Description {
  Format format = Format::npy;
  shape::Extents size{};
  Elements elements;
  std::int64_t data_offset = 0;  ///< of point 0, where the points lie in one piece
  /// Of NIfTI and MRC: the header, little-endian, from which that of a result is made.
  std::string header = {};
};

/// The bytes around the points of a new file. Those after them are HDF5's.
struct Surroundings {
  std::string before;
  std::string after = {};
};

/// Throws Error: "cannot read 'path': problem".
[[noreturn]] void refuse_reading(const std::string& path, std::string_view problem);

}  // namespace penstock::volume
