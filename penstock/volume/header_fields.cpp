#include "penstock/volume/header_fields.hpp"

namespace penstock::volume {

void HeaderFields::make_little_endian(std::span<const Field> fields) {
  if (!is_big_endian_) {
    return;
  }
  for (const Field& field : fields) {
    for (std::size_t i = 0; i < field.count; ++i) {
      const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(field.offset + i * field.width);
      std::reverse(begin, begin + static_cast<std::ptrdiff_t>(field.width));
    }
  }
  is_big_endian_ = false;
}

}  // namespace penstock::volume
