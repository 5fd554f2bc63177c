#include "penstock/npy/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void check_box(const File& file, const Header& header, std::span<const std::int64_t> start,
               std::span<const std::int64_t> extent, std::size_t bytes) {
  bool lies_within = start.size() == header.shape.size() && extent.size() == header.shape.size();
  std::int64_t box_bytes = element_bytes(header.type);
  for (std::size_t d = 0; lies_within && d < header.shape.size(); ++d) {
    lies_within =
        start[d] >= 0 && extent[d] >= 0 && start[d] <= header.shape[d] && extent[d] <= header.shape[d] - start[d];
    box_bytes *= extent[d];
  }
  if (!lies_within) {
    throw Error(fmt::format("a box of ({}) elements at ({}) does not lie within the ({}) of '{}'",
                            fmt::join(extent, ", "), fmt::join(start, ", "), fmt::join(header.shape, ", "),
                            file.path()));
  }
  if (static_cast<std::size_t>(box_bytes) != bytes) {
    throw Error(fmt::format("a box of ({}) elements of '{}' is {} bytes, and {} were given", fmt::join(extent, ", "),
                            file.path(), box_bytes, bytes));
  }
}

/// Calls `visit(first, piece)` for each contiguous run of the box, in order: `first` is the number of its first element
/// in the array, `piece` the part of `bytes` that belongs to it. One system call a run: dimensions that the box spans
/// whole are joined with the one before them.
template <class Byte, class Visit>
void for_each_run(const Header& header, std::span<const std::int64_t> start, std::span<const std::int64_t> extent,
                  std::span<Byte> bytes, Visit visit) {
  if (bytes.empty()) {
    return;
  }
  std::size_t outer = header.shape.size();  // the dimensions walked below; the others are within a run
  std::int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= extent[outer];
    if (extent[outer] != header.shape[outer]) {
      break;
    }
  }
  const auto run_bytes = static_cast<std::size_t>(run * element_bytes(header.type));
  std::vector<std::int64_t> index(start.begin(), start.end());
  for (; !bytes.empty(); bytes = bytes.subspan(run_bytes)) {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      first = first * header.shape[d] + index[d];
    }
    visit(first, bytes.first(run_bytes));
    for (std::size_t d = outer; d-- > 0;) {
      if (++index[d] < start[d] + extent[d]) {
        break;
      }
      index[d] = start[d];
    }
  }
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

void Reader::read_box(std::span<const std::int64_t> start, std::span<const std::int64_t> extent,
                      std::span<std::byte> bytes) const {
  check_box(file_, header_, start, extent, bytes.size());
  for_each_run(header_, start, extent, bytes,
               [&](std::int64_t first, std::span<std::byte> piece) { read(first, piece); });
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

void Writer::write_box(std::span<const std::int64_t> start, std::span<const std::int64_t> extent,
                       std::span<const std::byte> bytes) const {
  check_box(file(), header_, start, extent, bytes.size());
  for_each_run(header_, start, extent, bytes,
               [&](std::int64_t first, std::span<const std::byte> piece) { write(first, piece); });
}

void Writer::commit() {
  if (!draft_) {
    throw Error(fmt::format("'{}' is committed by the writer that created it, and by no other", file_.path()));
  }
  draft_->commit();
}

}  // namespace penstock::npy
