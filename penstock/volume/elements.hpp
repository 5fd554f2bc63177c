// How files store the elements of fields, and what numbers these stand for. Private to volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "penstock/npy/npy.hpp"

namespace penstock::volume {

enum class Stored {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  complex64,
  complex128
};

/// Elements as they are stored; each stands for slope * stored + intercept.
struct Elements {
  Stored stored = Stored::float64;
  bool is_big_endian = false;
  double slope = 1;
  double intercept = 0;

  /// The type in which they are given.
  npy::DataType type() const noexcept;
  /// The size of one in the file.
  std::int64_t bytes() const noexcept;
  /// What keeps the file's bytes from being elements of `type`, as the end of a sentence; else empty.
  std::string_view obstacle() const noexcept;
};

/// The elements that are stored so without being converted.
Stored stored_as(npy::DataType type) noexcept;

/// Fills `elements` with the numbers that the bytes `stored` stand for, as many as there are. The two do not overlap.
void convert(const Elements& from, std::span<const std::byte> stored, std::span<std::byte> elements);

}  // namespace penstock::volume
