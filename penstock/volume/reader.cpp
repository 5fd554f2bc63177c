#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/volume/bytes.hpp"
#include "penstock/volume/mrc.hpp"
#include "penstock/volume/nifti.hpp"
#include "penstock/volume/state.hpp"
#include "penstock/volume/volume.hpp"

namespace penstock::volume {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{1} << 20;  // as much is converted at a time

/// Enough of a file to know its format by.
constexpr std::size_t begin_bytes = 1024;

Description describe_npy(const std::string& path) {
  const npy::Header header = npy::read_header(path);
  const auto& shape = header.shape;
  if (shape.size() != 3) {
    throw Error(fmt::format("{}: an array of {} dimensions; a field has three, with the shape (nz, ny, nx)", path,
                            shape.size()));
  }
  if (header.elements() == 0) {
    throw Error(fmt::format("{}: an array of shape ({}, {}, {}) has no elements; each direction needs at least 1 point",
                            path, shape[0], shape[1], shape[2]));
  }
  return {.format = Format::npy,
          .size = {shape[2], shape[1], shape[0]},
          .elements = {.stored = stored_as(header.type)},
          .data_offset = header.data_offset};
}

/// Throws Error where the bytes of a field cannot be counted, and where it lies beyond the end of its file.
void check_length(const std::string& path, const Description& description, std::optional<std::int64_t> file_bytes) {
  std::int64_t end = npy::element_bytes(description.elements.type());  // at least those stored
  bool has_overflowed = false;
  for (const std::int64_t extent : description.size) {
    has_overflowed = has_overflowed || __builtin_mul_overflow(end, extent, &end);
  }
  if (has_overflowed || __builtin_add_overflow(end, description.data_offset, &end)) {
    refuse_reading(path, "it would have more bytes than 63 bits can count; its header is damaged");
  }
  const auto& size = description.size;
  end = description.data_offset + size[0] * size[1] * size[2] * description.elements.bytes();
  if (file_bytes && *file_bytes < end) {
    refuse_reading(path,
                   fmt::format("a field of {}x{}x{} points ends at byte {}, and the file has {}; copy or write it "
                               "again",
                               size[0], size[1], size[2], end, *file_bytes));
  }
}

}  // namespace

std::unique_ptr<Reader::State> Reader::State::open(const std::string& text) {
  auto state = std::make_unique<State>();
  state->name = parse_name(text);
  const std::string& path = state->name.path;
  state->bytes = open_bytes(path);
  const std::string begin = state->bytes->begin(begin_bytes);
  if (is_hdf5(begin) || !state->name.dataset.empty()) {  // one with a user block is known by the name
#if PENSTOCK_HAS_HDF5
    state->dataset = describe_dataset(state->name);
    state->name.dataset = state->dataset->name;
    state->description = state->dataset->description;
    state->obstacle = state->dataset->obstacle;
    check_length(path, state->description, state->obstacle.empty() ? state->bytes->size() : std::nullopt);
    if (state->obstacle.empty()) {
      state->obstacle = state->description.elements.obstacle();
    }
    return state;
#else
    refuse_reading(path, "this build has no HDF5");
#endif
  }
  if (!begin.starts_with("\x93NUMPY") && !is_nifti(begin) && !is_mrc(begin) && !path.ends_with(".npy")) {
    refuse_reading(path, "it is none of a .npy, NIfTI (.nii, .nii.gz), MRC and HDF5 file");
  }
  state->description = is_nifti(begin) ? describe_nifti(path, *state->bytes)
                       : is_mrc(begin) ? describe_mrc(path, *state->bytes)
                                       : describe_npy(path);
  state->obstacle = state->bytes->is_compressed() ? "compressed" : state->description.elements.obstacle();
  check_length(path, state->description, state->bytes->size());
  return state;
}

Reader::Reader(const std::string& name) : state_(State::open(name)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const Extents& Reader::size() const noexcept {
  return state_->description.size;
}

npy::DataType Reader::type() const noexcept {
  return state_->description.elements.type();
}

std::string_view Reader::obstacle() const noexcept {
  return state_->obstacle;
}

std::int64_t Reader::data_offset() const noexcept {
  return state_->description.data_offset;
}

void Reader::read_box(const Box& box, std::span<std::byte> bytes) const {
  const Description& description = state_->description;
  check_box(state_->name.path, description.size, box, npy::element_bytes(type()), bytes.size());
#if PENSTOCK_HAS_HDF5
  if (state_->dataset && !state_->dataset->obstacle.empty()) {
    if (!bytes.empty()) {
      read_dataset(state_->name.path, *state_->dataset, box, bytes);
    }
    return;
  }
#endif
  const Elements& elements = description.elements;
  const std::int64_t stored_bytes = elements.bytes();
  const std::int64_t given_bytes = npy::element_bytes(type());
  const bool is_as_given = elements.obstacle().empty();
  std::vector<std::byte> stored;
  for_each_run(description.size, box, [&](std::int64_t first, std::int64_t count, std::int64_t done) {
    const auto given =
        bytes.subspan(static_cast<std::size_t>(done * given_bytes), static_cast<std::size_t>(count * given_bytes));
    const std::int64_t offset = description.data_offset + first * stored_bytes;
    if (is_as_given) {
      state_->bytes->read(offset, given);
      return;
    }
    for (std::int64_t at = 0; at < count;) {
      const std::int64_t piece = std::min(count - at, chunk_bytes / stored_bytes);
      stored.resize(static_cast<std::size_t>(piece * stored_bytes));
      state_->bytes->read(offset + at * stored_bytes, stored);
      convert(elements, stored,
              given.subspan(static_cast<std::size_t>(at * given_bytes), static_cast<std::size_t>(piece * given_bytes)));
      at += piece;
    }
  });
}

}  // namespace penstock::volume
