// The numbers in a binary header, at their bytes. Private to volume.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "penstock/volume/byte_order.hpp"

namespace penstock::volume {

/// Some numbers of `width` bytes in a header, from byte `offset` on.
struct Field {
  std::size_t offset = 0;
  std::size_t width = 0;
  std::size_t count = 1;
};

/// A header's bytes, as long as its format has it. Offsets must lie within.
class HeaderFields {
 public:
  HeaderFields(std::string bytes, bool is_big_endian) : bytes_(std::move(bytes)), is_big_endian_(is_big_endian) {}

  const std::string& bytes() const noexcept { return bytes_; }
  bool is_big_endian() const noexcept { return is_big_endian_; }

  /// Number `index` of those at `offset`.
  template <class Number>
  Number get(std::size_t offset, std::size_t index = 0) const {
    return number_at<Number>(bytes_.data() + offset + index * sizeof(Number), is_big_endian_);
  }

  template <class Number>
  void set(std::size_t offset, Number number, std::size_t index = 0) {
    auto raw = std::bit_cast<std::array<char, sizeof(Number)>>(number);
    if (is_big_endian_) {
      std::reverse(raw.begin(), raw.end());
    }
    std::memcpy(bytes_.data() + offset + index * sizeof(Number), raw.data(), sizeof(Number));
  }

  std::string_view text(std::size_t offset, std::size_t count) const {
    return std::string_view(bytes_).substr(offset, count);
  }
  void set_text(std::size_t offset, std::string_view text) { bytes_.replace(offset, text.size(), text); }

  /// Makes a big-endian header little-endian; `fields` are its numbers.
  void make_little_endian(std::span<const Field> fields);

 private:
  std::string bytes_;
  bool is_big_endian_ = false;
};

}  // namespace penstock::volume
