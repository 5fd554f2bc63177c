// The program of a kernel: how a shape is transformed on a device. Private to the module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/transform/device/device_transform.hpp"

namespace penstock::transform {

/// How pencils of a shape are transformed. A work-group takes `pencils` complex pencils, each of which is two real ones
/// where one side is real. They are transformed by passes of `radices`, between which local memory exchanges the points
/// of the items. A length with a prime factor above 13 is transformed by Bluestein's convolution of `points` points.
struct DeviceProgram {
  DeviceShape shape;
  std::int64_t points = 0;  ///< of the passes: the length, or that of the convolution
  std::vector<int> radices;
  std::int64_t pencils = 0;
  std::int64_t items = 0;
  bool exchanges_parts = false;  ///< real parts, then imaginary parts, through local memory for one of them
  int padding_shift = 0;         ///< local memory skips a number after 2^shift, against conflicts of its banks; 0: none

  bool is_convolution() const noexcept { return points != shape.length; }
  bool is_real() const noexcept { return shape.kind == Kind::real_to_complex || shape.kind == Kind::complex_to_real; }
  /// Whether passes exchange points, or the ends do.
  bool has_exchanges() const noexcept { return radices.size() > 1 || is_real() || is_convolution(); }
  /// Real numbers of local memory for one part, padding included, and the bytes for all.
  std::int64_t part_numbers() const noexcept;
  std::uint64_t local_bytes() const noexcept;
};

/// The radices of a length, the largest first: of all lists the one with the cheapest passes. Empty where a prime
/// factor is above 13. Length 1 has radix 1.
std::vector<int> radices_of(std::int64_t length, int max_radix);

/// The program of a shape on a device, or what prevents it, in `obstacle`.
struct DeviceChoice {
  DeviceProgram program;
  std::string obstacle;
};
DeviceChoice choose_program(const device::Properties& properties, const DeviceShape& shape);

/// The kernel's source, and its name. Its parameters are those that DeviceTransform::run gives.
std::string write_source(const DeviceProgram& program);
inline constexpr const char* kernel_name = "transform_pencils";

/// The constants that the kernel reads: roots of unity exp(-2 pi i k / points), and for a convolution the chirp
/// exp(-pi i k^2 / length) and the transform of its conjugate, over points. As real numbers of the shape's precision.
std::vector<std::byte> write_constants(const DeviceProgram& program);
std::uint64_t constants_bytes(const DeviceProgram& program) noexcept;

}  // namespace penstock::transform
