#include "penstock/volume/elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace penstock::volume {
namespace {

/// IEEE 754 binary16, of which only the value is wanted.
struct Half {
  std::uint16_t bits;
  explicit operator double() const noexcept {
    constexpr int fraction_bits = 10;
    constexpr int bias = 15;
    constexpr int all_ones = 31;
    const int exponent = (bits >> fraction_bits) & all_ones;
    const double fraction = std::ldexp(static_cast<double>(bits & 0x3ff), -fraction_bits);
    const double magnitude = exponent == all_ones ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                             : exponent == 0      ? std::ldexp(fraction, 1 - bias)
                                                  : std::ldexp(1 + fraction, exponent - bias);
    return (bits >> 15) != 0 ? -magnitude : magnitude;
  }
};

template <class Number>
Number load(const std::byte* at, bool is_big_endian) noexcept {
  std::array<std::byte, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), at, sizeof(Number));
  if (is_big_endian) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<Number>(bytes);
}

/// Numbers, of which a complex element has two.
template <class Number, class Real>
void convert_numbers(const Elements& from, std::span<const std::byte> stored, std::span<std::byte> elements) {
  const std::size_t count = stored.size() / sizeof(Number);
  const bool is_scaled = from.slope != 1 || from.intercept != 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = load<Number>(stored.data() + i * sizeof(Number), from.is_big_endian);
    const Real real = is_scaled ? static_cast<Real>(from.slope * static_cast<double>(number) + from.intercept)
                                : static_cast<Real>(static_cast<double>(number));
    std::memcpy(elements.data() + i * sizeof(Real), &real, sizeof(Real));
  }
}

}  // namespace

npy::DataType Elements::type() const noexcept {
  switch (stored) {
    case Stored::int8:
    case Stored::uint8:
    case Stored::int16:
    case Stored::uint16:
    case Stored::float16:
    case Stored::float32:
      return npy::DataType::float32;
    case Stored::int32:
    case Stored::uint32:
    case Stored::int64:
    case Stored::uint64:
    case Stored::float64:
      return npy::DataType::float64;
    case Stored::complex64:
      return npy::DataType::complex64;
    case Stored::complex128:
      break;
  }
  return npy::DataType::complex128;
}

std::int64_t Elements::bytes() const noexcept {
  switch (stored) {
    case Stored::int8:
    case Stored::uint8:
      return 1;
    case Stored::int16:
    case Stored::uint16:
    case Stored::float16:
      return 2;
    case Stored::int32:
    case Stored::uint32:
    case Stored::float32:
      return 4;
    case Stored::int64:
    case Stored::uint64:
    case Stored::float64:
    case Stored::complex64:
      return 8;
    case Stored::complex128:
      break;
  }
  return 16;
}

std::string_view Elements::obstacle() const noexcept {
  if (stored_as(type()) != stored) {
    return stored == Stored::float16 ? "in half precision" : "integers";
  }
  return is_big_endian ? "big-endian" : slope != 1 || intercept != 0 ? "scaled" : "";
}

Stored stored_as(npy::DataType type) noexcept {
  switch (type) {
    case npy::DataType::float32:
      return Stored::float32;
    case npy::DataType::float64:
      return Stored::float64;
    case npy::DataType::complex64:
      return Stored::complex64;
    case npy::DataType::complex128:
      break;
  }
  return Stored::complex128;
}

void convert(const Elements& from, std::span<const std::byte> stored, std::span<std::byte> elements) {
  switch (from.stored) {
    case Stored::int8:
      return convert_numbers<std::int8_t, float>(from, stored, elements);
    case Stored::uint8:
      return convert_numbers<std::uint8_t, float>(from, stored, elements);
    case Stored::int16:
      return convert_numbers<std::int16_t, float>(from, stored, elements);
    case Stored::uint16:
      return convert_numbers<std::uint16_t, float>(from, stored, elements);
    case Stored::float16:
      return convert_numbers<Half, float>(from, stored, elements);
    case Stored::float32:
    case Stored::complex64:
      return convert_numbers<float, float>(from, stored, elements);
    case Stored::int32:
      return convert_numbers<std::int32_t, double>(from, stored, elements);
    case Stored::uint32:
      return convert_numbers<std::uint32_t, double>(from, stored, elements);
    case Stored::int64:
      return convert_numbers<std::int64_t, double>(from, stored, elements);
    case Stored::uint64:
      return convert_numbers<std::uint64_t, double>(from, stored, elements);
    case Stored::float64:
    case Stored::complex128:
      return convert_numbers<double, double>(from, stored, elements);
  }
}

}  // namespace penstock::volume
