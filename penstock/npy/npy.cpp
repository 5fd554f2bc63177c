#include "penstock/npy/npy.hpp"

#include <fmt/format.h>

#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/npy/header.hpp"

namespace penstock::npy {
namespace {

/// Where element `first` lies in the file; Error unless it and what follows in `bytes` bytes are whole elements of it.
std::int64_t offset_of(const File& file, const Header& header, std::int64_t first, std::size_t bytes) {
  const std::int64_t width = element_bytes(header.type);
  const auto length = static_cast<std::int64_t>(bytes);
  if (length % width != 0) {
    throw Error(
        fmt::format("{} bytes are not a whole number of the {}-byte elements of '{}'", bytes, width, file.path()));
  }
  if (first < 0 || first > header.elements() || length / width > header.elements() - first) {
    throw Error(fmt::format("{} elements from number {} on do not lie within the {} of '{}'", length / width, first,
                            header.elements(), file.path()));
  }
  return header.data_offset + first * width;
}

}  // namespace

Header read_header(const std::string& path, Orders orders) {
  return read_header(File::open(path), orders);
}

std::string header_text(const std::string& path, const Header& header) {
  std::string text = format_header(header.type, header.shape, header.is_fortran_order);
  Header placed = header;
  placed.data_offset = std::ssize(text);
  check_shape(path, placed);
  return text;
}

Reader::Reader(const std::string& path) : file_(File::open(path)), header_(read_header(file_)) {}

void Reader::read(std::int64_t first, std::span<std::byte> bytes) const {
  file_.read(offset_of(file_, header_, first, bytes.size()), bytes);
}

Writer Writer::create(const std::string& path, DataType type, std::span<const std::int64_t> shape) {
  const std::string text = format_header(type, shape);
  Writer writer;
  writer.header_ = {.type = type, .shape = {shape.begin(), shape.end()}, .data_offset = std::ssize(text)};
  check_shape(path, writer.header_);
  writer.draft_.emplace(path);
  const File& file = writer.draft_->file();
  file.reserve(writer.header_.data_offset + writer.header_.data_bytes());
  file.write(0, std::as_bytes(std::span(text)));
  return writer;
}

Writer Writer::open(const std::string& path) {
  Writer writer;
  writer.file_ = File::open_for_writing(Draft::part_path(path));
  writer.header_ = read_header(writer.file_);
  return writer;
}

void Writer::write(std::int64_t first, std::span<const std::byte> bytes) const {
  file().write(offset_of(file(), header_, first, bytes.size()), bytes);
}

void Writer::commit() {
  if (!draft_) {
    throw Error(fmt::format("'{}' is committed by the writer that created it, and by no other", file_.path()));
  }
  draft_->commit();
}

}  // namespace penstock::npy
