#include "penstock/volume/elements.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "penstock/volume/byte_order.hpp"

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

struct Kind {
  Stored stored;
  std::int64_t bytes;
  npy::DataType given;
};
/// In the order of Stored.
constexpr std::array<Kind, 13> kinds{{{Stored::int8, 1, npy::DataType::float32},
                                      {Stored::uint8, 1, npy::DataType::float32},
                                      {Stored::int16, 2, npy::DataType::float32},
                                      {Stored::uint16, 2, npy::DataType::float32},
                                      {Stored::int32, 4, npy::DataType::float64},
                                      {Stored::uint32, 4, npy::DataType::float64},
                                      {Stored::int64, 8, npy::DataType::float64},
                                      {Stored::uint64, 8, npy::DataType::float64},
                                      {Stored::float16, 2, npy::DataType::float32},
                                      {Stored::float32, 4, npy::DataType::float32},
                                      {Stored::float64, 8, npy::DataType::float64},
                                      {Stored::complex64, 8, npy::DataType::complex64},
                                      {Stored::complex128, 16, npy::DataType::complex128}}};

/// Numbers, of which a complex element has two.
template <class Number, class Real>
void convert_numbers(const Elements& from, std::span<const std::byte> stored, std::span<std::byte> elements) {
  const std::size_t count = stored.size() / sizeof(Number);
  const bool is_scaled = from.slope != 1 || from.intercept != 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = number_at<Number>(stored.data() + i * sizeof(Number), from.is_big_endian);
    const Real real = is_scaled ? static_cast<Real>(from.slope * static_cast<double>(number) + from.intercept)
                                : static_cast<Real>(static_cast<double>(number));
    std::memcpy(elements.data() + i * sizeof(Real), &real, sizeof(Real));
  }
}

}  // namespace

npy::DataType Elements::type() const noexcept {
  return kinds[static_cast<std::size_t>(stored)].given;
}

std::int64_t Elements::bytes() const noexcept {
  return kinds[static_cast<std::size_t>(stored)].bytes;
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
