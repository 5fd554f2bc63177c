#include "penstock/volume/mrc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "penstock/base/error.hpp"
#include "penstock/volume/header_fields.hpp"

namespace penstock::volume {
namespace {

// The bytes at which fields of the standard's table lie.
constexpr std::size_t header_bytes = 1024, mode_at = 12, sampling_at = 28, cell_at = 40, angles_at = 52, axes_at = 64,
                      density_at = 76, space_group_at = 88, extended_at = 92, version_at = 108, map_at = 208,
                      machine_at = 212, rms_at = 216, labels_at = 220, label_at = 224;
constexpr std::string_view map_text = "MAP ";
constexpr std::string_view little_endian{"\x44\x44\0\0", 4};
constexpr std::string_view label = "Penstock";
constexpr std::array<Field, 5> numbers{{{0, 4, 24}, {108, 4}, {196, 4, 3}, {rms_at, 4}, {labels_at, 4}}};

struct Mode {
  std::int32_t number;
  Stored stored;
};
constexpr std::array<Mode, 6> modes{{{0, Stored::int8},
                                     {1, Stored::int16},
                                     {2, Stored::float32},
                                     {4, Stored::complex64},
                                     {6, Stored::uint16},
                                     {12, Stored::float16}}};

/// The machine stamp is what the standard has for it; where it is neither of the two, the number of the mode tells.
bool is_big_endian(const std::string& begin) {
  constexpr int first_of_big_endian = 0x11;
  constexpr int first_of_little_endian = 0x44;
  const int stamp = static_cast<unsigned char>(begin[machine_at]);
  if (stamp == first_of_big_endian || stamp == first_of_little_endian) {
    return stamp == first_of_big_endian;
  }
  constexpr std::uint32_t max_mode = 1 << 10;
  return HeaderFields(begin, false).get<std::uint32_t>(mode_at) > max_mode;
}

}  // namespace

bool is_mrc(const std::string& begin) {
  return begin.size() >= header_bytes && begin.substr(map_at).starts_with("MAP");
}

Description describe_mrc(const std::string& path, const Bytes& bytes) {
  const std::string begin = bytes.begin(header_bytes);
  HeaderFields fields(begin, is_big_endian(begin));
  const auto mode_number = fields.get<std::int32_t>(mode_at);
  const auto mode = std::ranges::find(modes, mode_number, &Mode::number);
  if (mode == modes.end()) {
    refuse_reading(path,
                   fmt::format("its elements are of MRC's mode {}; modes 0, 1, 2, 4, 6 and 12 are read", mode_number));
  }
  Description description{.format = Format::mrc,
                          .elements = {.stored = mode->stored, .is_big_endian = fields.is_big_endian()}};
  for (std::size_t d = 0; d < description.size.size(); ++d) {
    description.size[d] = fields.get<std::int32_t>(0, d);
    if (description.size[d] < 1) {
      refuse_reading(path, fmt::format("direction {} of the volume has {} points; each needs at least 1", d + 1,
                                       description.size[d]));
    }
  }
  const auto extended_bytes = fields.get<std::int32_t>(extended_at);
  if (extended_bytes < 0) {
    refuse_reading(path, "its MRC header is damaged (an extended header of negative length); copy or write it again");
  }
  description.data_offset = static_cast<std::int64_t>(header_bytes) + extended_bytes;
  fields.make_little_endian(numbers);
  description.header = fields.bytes();
  return description;
}

std::string mrc_header(const std::string& path, npy::DataType type, const shape::Extents& size,
                       const std::string& like) {
  const auto mode = std::ranges::find(modes, stored_as(type), &Mode::stored);
  if (mode == modes.end()) {
    throw Error(
        fmt::format("cannot write '{}': MRC has no elements of double precision: choose single, or a file of "
                    "another format",
                    path));
  }
  if (*std::ranges::max_element(size) > std::numeric_limits<std::int32_t>::max()) {
    throw Error(fmt::format("cannot write '{}': MRC counts at most 2^31 - 1 points in a direction", path));
  }
  HeaderFields fields(like.empty() ? std::string(header_bytes, '\0') : like, false);
  for (std::size_t d = 0; d < size.size(); ++d) {
    const auto points = static_cast<std::int32_t>(size[d]);
    fields.set(0, points, d);
    if (like.empty()) {
      fields.set(sampling_at, points, d);
      fields.set(cell_at, static_cast<float>(points), d);  // a voxel of one angstrom
      fields.set(angles_at, 90.0F, d);
      fields.set(axes_at, static_cast<std::int32_t>(d + 1), d);
    }
  }
  if (like.empty()) {
    fields.set<std::int32_t>(space_group_at, 1);  // a volume
  }
  fields.set(mode_at, mode->number);
  // The standard's signs of a file whose least, largest and mean density and their deviation nobody has computed.
  fields.set(density_at, 0.0F, 0);
  fields.set(density_at, -1.0F, 1);
  fields.set(density_at, -2.0F, 2);
  fields.set(rms_at, -1.0F);
  fields.set<std::int32_t>(extended_at, 0);
  constexpr std::int32_t version = 20141;
  fields.set(version_at, version);
  fields.set_text(map_at, map_text);
  fields.set_text(machine_at, little_endian);
  if (like.empty()) {
    constexpr std::size_t label_bytes = 80;
    fields.set<std::int32_t>(labels_at, 1);
    fields.set_text(label_at, std::string(label_bytes, ' '));
    fields.set_text(label_at, label);
  }
  return fields.bytes();
}

}  // namespace penstock::volume
