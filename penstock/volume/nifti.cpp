#include "penstock/volume/nifti.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "penstock/base/error.hpp"
#include "penstock/volume/header_fields.hpp"

namespace penstock::volume {
namespace {

// The bytes at which fields of nifti1.h and nifti2.h lie.
namespace first {
constexpr std::size_t bytes = 348, dim = 40, datatype = 70, bitpix = 72, pixdim = 76, vox_offset = 108, slope = 112,
                      inter = 116, cal = 124, magic = 344;
constexpr std::string_view single_file{"n+1\0", 4}, pair{"ni1\0", 4};
constexpr std::array<Field, 12> numbers{{{0, 4},
                                         {32, 4},
                                         {36, 2},
                                         {dim, 2, 8},
                                         {56, 4, 3},
                                         {68, 2, 4},
                                         {pixdim, 4, 8},
                                         {vox_offset, 4, 3},
                                         {120, 2},
                                         {cal, 4, 6},
                                         {252, 2, 2},
                                         {256, 4, 18}}};
}  // namespace first
namespace second {
constexpr std::size_t bytes = 540, magic = 4, datatype = 12, bitpix = 14, dim = 16, pixdim = 104, vox_offset = 168,
                      slope = 176, inter = 184, cal = 192;
constexpr std::string_view single_file{"n+2\0\r\n\032\n", 8}, pair{"ni2\0\r\n\032\n", 8};
constexpr std::array<Field, 8> numbers{
    {{0, 4}, {datatype, 2, 2}, {dim, 8, 8}, {80, 8, 11}, {vox_offset, 8, 9}, {344, 4, 2}, {352, 8, 18}, {496, 4, 3}}};
}  // namespace second

constexpr std::size_t extension_flag_bytes = 4;

struct Code {
  std::int16_t datatype;
  Stored stored;
};
constexpr std::array<Code, 12> codes{{{2, Stored::uint8},
                                      {4, Stored::int16},
                                      {8, Stored::int32},
                                      {16, Stored::float32},
                                      {32, Stored::complex64},
                                      {64, Stored::float64},
                                      {256, Stored::int8},
                                      {512, Stored::uint16},
                                      {768, Stored::uint32},
                                      {1024, Stored::int64},
                                      {1280, Stored::uint64},
                                      {1792, Stored::complex128}}};

/// Which of the two a file is, and its byte order; nothing where it is neither.
struct Version {
  bool is_first = true;
  bool is_big_endian = false;
};
std::optional<Version> version_of(const std::string& begin) {
  for (const bool is_big_endian : {false, true}) {
    if (begin.size() < first::bytes) {
      break;
    }
    const HeaderFields fields(begin, is_big_endian);
    const auto header_bytes = static_cast<std::size_t>(fields.get<std::int32_t>(0));
    const auto is = [&](std::size_t offset, std::string_view magic) { return begin.substr(offset).starts_with(magic); };
    if (header_bytes == first::bytes && (is(first::magic, first::single_file) || is(first::magic, first::pair))) {
      return Version{.is_first = true, .is_big_endian = is_big_endian};
    }
    if (header_bytes == second::bytes && (is(second::magic, second::single_file) || is(second::magic, second::pair))) {
      return Version{.is_first = false, .is_big_endian = is_big_endian};
    }
  }
  return std::nullopt;
}

struct Dimensions {
  std::array<std::int64_t, 8> of{};  // their number, then the extents
};

Dimensions dimensions_of(const HeaderFields& fields, bool is_first) {
  Dimensions dimensions;
  for (std::size_t i = 0; i < dimensions.of.size(); ++i) {
    dimensions.of[i] = is_first ? fields.get<std::int16_t>(first::dim, i) : fields.get<std::int64_t>(second::dim, i);
  }
  return dimensions;
}

shape::Extents size_of(const std::string& path, const Dimensions& dimensions) {
  const std::int64_t count = dimensions.of[0];
  if (count < 1 || count > 7) {
    refuse_reading(path, fmt::format("its NIfTI header is damaged ({} dimensions); copy or write it again", count));
  }
  shape::Extents size{1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(count); ++d) {
    const std::int64_t extent = dimensions.of[d + 1];
    if (extent < 1) {
      refuse_reading(path,
                     fmt::format("direction {} of the volume has {} points; each needs at least 1", d + 1, extent));
    }
    if (d < size.size()) {
      size[d] = extent;
    } else if (extent > 1) {
      refuse_reading(
          path, fmt::format("it has {} volumes along dimension {}; a field is one: write them as files of their own",
                            extent, d + 1));
    }
  }
  return size;
}

}  // namespace

bool is_nifti(const std::string& begin) {
  return version_of(begin).has_value();
}

Description describe_nifti(const std::string& path, const Bytes& bytes) {
  const Version version = version_of(bytes.begin(first::bytes)).value();
  const std::size_t header_bytes = version.is_first ? first::bytes : second::bytes;
  HeaderFields fields(bytes.begin(header_bytes), version.is_big_endian);
  if (fields.bytes().size() < header_bytes) {
    refuse_reading(path, "the file ends within its NIfTI header; copy or write it again");
  }
  if (version.is_first ? fields.text(first::magic, 4) == first::pair : fields.text(second::magic, 8) == second::pair) {
    refuse_reading(path, "it is the header of a pair of files (.hdr and .img); write the volume as one file, .nii");
  }
  const auto datatype = fields.get<std::int16_t>(version.is_first ? first::datatype : second::datatype);
  const auto code = std::ranges::find(codes, datatype, &Code::datatype);
  if (code == codes.end()) {
    refuse_reading(
        path, fmt::format("its elements are of NIfTI's data type {}, which are no numbers of 8 to 64 bits", datatype));
  }
  const double offset = version.is_first ? fields.get<float>(first::vox_offset)
                                         : static_cast<double>(fields.get<std::int64_t>(second::vox_offset));
  double slope = version.is_first ? fields.get<float>(first::slope) : fields.get<double>(second::slope);
  double inter = version.is_first ? fields.get<float>(first::inter) : fields.get<double>(second::inter);
  if (slope == 0 || !std::isfinite(slope)) {  // the standard: then there is no scaling
    slope = 1;
    inter = 0;
  }
  Description description{.format = Format::nifti,
                          .size = size_of(path, dimensions_of(fields, version.is_first)),
                          .elements = {.stored = code->stored,
                                       .is_big_endian = version.is_big_endian,
                                       .slope = slope,
                                       .intercept = std::isfinite(inter) ? inter : 0}};
  if (!(offset >= static_cast<double>(header_bytes)) || offset != std::floor(offset) || offset > 0x1p53) {
    refuse_reading(path,
                   fmt::format("its NIfTI header is damaged (data at byte {:g}); copy or write it again", offset));
  }
  description.data_offset = static_cast<std::int64_t>(offset);
  if (version.is_first) {
    fields.make_little_endian(first::numbers);
  } else {
    fields.make_little_endian(second::numbers);
  }
  description.header = fields.bytes();
  return description;
}

std::string nifti_header(npy::DataType type, const shape::Extents& size, const std::string& like) {
  const bool is_first = like.empty() ? *std::ranges::max_element(size) <= std::numeric_limits<std::int16_t>::max()
                                     : like.size() == first::bytes;
  const std::size_t header_bytes = is_first ? first::bytes : second::bytes;
  HeaderFields fields(like.empty() ? std::string(header_bytes, '\0') : like, false);
  const auto code = std::ranges::find(codes, stored_as(type), &Code::stored);
  constexpr int bits_of_byte = 8;
  const auto bitpix = static_cast<std::int16_t>(bits_of_byte * npy::element_bytes(type));
  const std::size_t data_offset = header_bytes + extension_flag_bytes;
  const std::array<std::int64_t, 8> dimensions{3, size[0], size[1], size[2], 1, 1, 1, 1};
  if (is_first) {
    fields.set<std::int32_t>(0, first::bytes);
    fields.set_text(first::magic, first::single_file);
    fields.set(first::datatype, code->datatype);
    fields.set(first::bitpix, bitpix);
    fields.set(first::vox_offset, static_cast<float>(data_offset));
    fields.set(first::slope, 1.0F);
    fields.set(first::inter, 0.0F);
    for (std::size_t i = 0; i < 2; ++i) {
      fields.set(first::cal, 0.0F, i);  // the range that viewers show: not that of the new values
    }
  } else {
    fields.set<std::int32_t>(0, second::bytes);
    fields.set_text(second::magic, second::single_file);
    fields.set(second::datatype, code->datatype);
    fields.set(second::bitpix, bitpix);
    fields.set<std::int64_t>(second::vox_offset, static_cast<std::int64_t>(data_offset));
    fields.set(second::slope, 1.0);
    fields.set(second::inter, 0.0);
    for (std::size_t i = 0; i < 2; ++i) {
      fields.set(second::cal, 0.0, i);
    }
  }
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (is_first) {
      fields.set(first::dim, static_cast<std::int16_t>(dimensions[i]), i);
    } else {
      fields.set(second::dim, dimensions[i], i);
    }
    if (like.empty() && is_first) {
      fields.set(first::pixdim, 1.0F, i);
    } else if (like.empty()) {
      fields.set(second::pixdim, 1.0, i);
    }
  }
  return fields.bytes() + std::string(extension_flag_bytes, '\0');
}

}  // namespace penstock::volume
