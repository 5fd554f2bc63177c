#include "penstock/npy/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/base/numbers.hpp"

namespace penstock::npy {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they lie in memory");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::int64_t prefix_bytes = 8;          // the magic string and the two bytes of the version
constexpr std::int64_t max_text_bytes = 1 << 20;  // of the dictionary: far above any true one

struct Kind {
  DataType type;
  std::string_view descr;
  std::string_view name;
  std::int64_t element_bytes;
};
constexpr std::array<Kind, 4> kinds{{{DataType::float32, "<f4", "float32", 4},
                                     {DataType::float64, "<f8", "float64", 8},
                                     {DataType::complex64, "<c8", "complex64", 8},
                                     {DataType::complex128, "<c16", "complex128", 16}}};

const Kind& kind_of(DataType type) noexcept {
  return kinds[static_cast<std::size_t>(type)];
}

/// Reads the part of Python's literals that headers are made of.
class Literals {
 public:
  Literals(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  [[noreturn]] void refuse(std::string_view problem) const {
    throw Error(fmt::format("cannot read '{}': its .npy header is damaged ({}); write the file again with numpy.save",
                            path_, problem));
  }

  bool accept(char wanted) {
    skip_blanks();
    if (text_.empty() || text_.front() != wanted) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) {
      refuse(fmt::format("no '{}' where one belongs", wanted));
    }
  }

  bool is_next(char wanted) {
    skip_blanks();
    return text_.starts_with(wanted);
  }

  std::string_view string() {
    const char quote = is_next('"') ? '"' : '\'';
    expect(quote);
    const std::size_t end = text_.find(quote);
    if (end == std::string_view::npos) {
      refuse("a string without its end");
    }
    const std::string_view content = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.starts_with(word)) {
        text_.remove_prefix(word.size());
        return value;
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',') && !is_next(')')) {
        refuse("the shape is not a list of integers");
      }
    }
    return values;
  }

 private:
  std::int64_t integer() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (code == std::errc::result_out_of_range) {
      refuse("an extent of more than 63 bits in the shape");
    }
    if (code != std::errc()) {
      refuse("the shape is not a list of integers");
    }
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    accept('L');  // Python 2 marked its long integers so
    return value;
  }

  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  const std::string& path_;
  std::string_view text_;
};

DataType type_of(const std::string& path, std::string_view descr) {
  const bool is_big_endian = descr.starts_with('>');
  for (const Kind& kind : kinds) {
    if (descr == kind.descr) {
      return kind.type;
    }
    if (is_big_endian && descr.substr(1) == kind.descr.substr(1)) {
      throw Error(
          fmt::format("cannot read '{}': its elements ('{}') are big-endian; write them little-endian, with "
                      "a.astype('{}')",
                      path, descr, kind.descr));
    }
  }
  throw Error(
      fmt::format("cannot read '{}': its elements are '{}', and only float32, float64, complex64 and complex128 "
                  "are accepted; convert them, with a.astype('float32') or one of the others",
                  path, descr));
}

/// The dictionary { 'descr': ..., 'fortran_order': ..., 'shape': ... }, its keys in any order.
Header parse_dictionary(const std::string& path, std::string_view text, Orders orders) {
  Literals literals(path, text);
  std::optional<DataType> type;
  std::optional<bool> is_fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
  literals.expect('{');
  while (!literals.accept('}')) {
    const std::string_view key = literals.string();
    literals.expect(':');
    if (key == "descr") {
      type = type_of(path, literals.is_next('[') ? "structured" : literals.string());
    } else if (key == "fortran_order") {
      is_fortran_order = literals.boolean();
    } else if (key == "shape") {
      shape = literals.tuple();
    } else {
      literals.refuse(fmt::format("the unknown key '{}'", key));
    }
    if (!literals.accept(',') && !literals.is_next('}')) {
      literals.refuse("no end of the dictionary");
    }
  }
  if (!type || !is_fortran_order || !shape) {
    literals.refuse("one of descr, fortran_order and shape is missing");
  }
  if (*is_fortran_order && orders == Orders::c) {
    throw Error(
        fmt::format("cannot read '{}': the array lies in Fortran order; write it in C order, with "
                    "numpy.save(path, numpy.ascontiguousarray(a))",
                    path));
  }
  return {.type = *type, .shape = *std::move(shape), .is_fortran_order = *is_fortran_order};
}

std::string read_bytes(const File& file, std::int64_t offset, std::int64_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  file.read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

std::string_view name(DataType type) noexcept {
  return kind_of(type).name;
}

std::int64_t element_bytes(DataType type) noexcept {
  return kind_of(type).element_bytes;
}

bool is_complex(DataType type) noexcept {
  return type == DataType::complex64 || type == DataType::complex128;
}

bool is_single(DataType type) noexcept {
  return type == DataType::float32 || type == DataType::complex64;
}

std::int64_t Header::elements() const noexcept {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) {
    product *= extent;
  }
  return product;
}

Header read_header(const File& file, Orders orders) {
  const std::string& path = file.path();
  const std::int64_t file_bytes = file.size();
  const auto refuse_truncated = [&] {
    throw Error(
        fmt::format("cannot read '{}': the file ends, after {} bytes, within its .npy header; copy or write it "
                    "again",
                    path, file_bytes));
  };
  const std::string prefix = read_bytes(file, 0, std::min(file_bytes, prefix_bytes));
  if (!prefix.starts_with(magic)) {
    throw Error(
        fmt::format("cannot read '{}': it is not a .npy file (it does not begin with \\x93NUMPY); make one with "
                    "numpy.save",
                    path));
  }
  if (std::ssize(prefix) < prefix_bytes) {
    refuse_truncated();
  }
  const int version = static_cast<unsigned char>(prefix[6]);
  if (version < 1 || version > 3) {
    throw Error(
        fmt::format("cannot read '{}': it is a .npy file of version {}, and versions 1, 2 and 3 are known; "
                    "write it with numpy.save",
                    path, version));
  }
  const std::int64_t length_bytes = version == 1 ? 2 : 4;
  const std::int64_t text_offset = prefix_bytes + length_bytes;
  if (file_bytes < text_offset) {
    refuse_truncated();
  }
  std::int64_t text_bytes = 0;
  int shift = 0;
  for (const char byte : read_bytes(file, prefix_bytes, length_bytes)) {
    text_bytes |= std::int64_t{static_cast<unsigned char>(byte)} << shift;
    shift += 8;
  }
  if (file_bytes - text_offset < text_bytes) {
    refuse_truncated();
  }
  if (text_bytes > max_text_bytes) {
    throw Error(
        fmt::format("cannot read '{}': its .npy header is {} bytes long, and at most {} are accepted; write it "
                    "again with numpy.save",
                    path, text_bytes, max_text_bytes));
  }
  Header header = parse_dictionary(path, read_bytes(file, text_offset, text_bytes), orders);
  header.data_offset = text_offset + text_bytes;
  check_shape(path, header);
  if (file_bytes - header.data_offset < header.data_bytes()) {
    throw Error(fmt::format(
        "cannot read '{}': its shape ({}) of {} needs {} bytes of data, but only {} follow the "
        "header; copy or write it again",
        path, fmt::join(header.shape, ", "), name(header.type), header.data_bytes(), file_bytes - header.data_offset));
  }
  return header;
}

std::string format_header(DataType type, std::span<const std::int64_t> shape, bool is_fortran_order) {
  const std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", kind_of(type).descr,
                  is_fortran_order ? "True" : "False", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr std::size_t alignment = 64;
  constexpr std::size_t before = prefix_bytes + 2;
  const std::size_t data_offset = round_up(before + dictionary.size() + 1, alignment);
  const std::size_t text_bytes = data_offset - before;
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(text_bytes % 256), static_cast<char>(text_bytes / 256)};
  header += dictionary;
  header.resize(data_offset - 1, ' ');
  header += '\n';
  return header;
}

void check_shape(const std::string& path, const Header& header) {
  // 32 is what NumPy allowed before its version 2; it also keeps the header within the 64 KiB of version 1.
  constexpr std::size_t max_dimensions = 32;
  const auto refuse = [&](std::string_view problem) {
    throw Error(fmt::format("the shape ({}) of '{}' cannot be: {}", fmt::join(header.shape, ", "), path, problem));
  };
  if (header.shape.size() > max_dimensions) {
    refuse(fmt::format("{} dimensions, and at most {} are accepted", header.shape.size(), max_dimensions));
  }
  std::int64_t bytes = element_bytes(header.type);
  bool has_overflowed = false;
  for (const std::int64_t extent : header.shape) {
    if (extent < 0) {
      refuse("an extent is negative; give each as 0 or more");
    }
    // An extent of 0 among the others does not excuse them: their products would still overflow where they are used.
    has_overflowed = has_overflowed || __builtin_mul_overflow(bytes, std::max<std::int64_t>(extent, 1), &bytes);
  }
  if (has_overflowed || __builtin_add_overflow(bytes, header.data_offset, &bytes)) {
    refuse("it is more bytes than 63 bits can count; split the array");
  }
}

}  // namespace penstock::npy
