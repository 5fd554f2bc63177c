#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/volume/mrc.hpp"
#include "penstock/volume/nifti.hpp"
#include "penstock/volume/state.hpp"
#include "penstock/volume/volume.hpp"

namespace penstock::volume {
namespace {

constexpr const char* default_dataset = "/field";

/// A name with the dataset that it has where it names none.
Name new_name(const std::string& text) {
  Name name = parse_name(text);
  if (name.dataset.empty() && new_format(name).format == Format::hdf5) {
    name.dataset = default_dataset;
  }
  return name;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Where the elements go while they are written: of a compressed file beside it, as they are.
std::string draft_target(const Name& name) {
  return new_format(name).is_compressed ? name.path + ".raw" : name.path;
}

/// What `like` says is kept where it is of the same format and size.
Surroundings header_of(const Name& name, npy::DataType type, const Extents& size, const Name* like_name,
                       const Description* like) {
  const Format format = new_format(name).format;
  const bool is_alike = like != nullptr && like->format == format && like->size == size;
  const std::string like_header = is_alike ? like->header : "";
  switch (format) {
    case Format::nifti:
      return {.before = nifti_header(type, size, like_header)};
    case Format::mrc:
      return {.before = mrc_header(name.path, type, size, like_header)};
    case Format::hdf5: {
#if PENSTOCK_HAS_HDF5
      const NewDataset dataset{.type = type, .size = size, .like = is_alike ? like_name : nullptr};
      return hdf5_surroundings(name, dataset);
#else
      static_cast<void>(like_name);
      throw Error(fmt::format("cannot write '{}': this build has no HDF5", name.path));
#endif
    }
    case Format::npy:
      break;
  }
  return {.before = npy::header_text(name.path, {.type = type, .shape = {size[2], size[1], size[0]}})};
}

/// Throws Error for a field whose bytes cannot be counted, or that has none.
std::int64_t checked_bytes(const std::string& path, npy::DataType type, const Extents& size) {
  std::int64_t bytes = npy::element_bytes(type);
  for (const std::int64_t extent : size) {
    if (extent < 1 || __builtin_mul_overflow(bytes, extent, &bytes)) {
      throw Error(fmt::format("cannot write '{}': a field of {}x{}x{} points {}", path, size[0], size[1], size[2],
                              extent < 1 ? "has none" : "has more bytes than 63 bits can count"));
    }
  }
  return bytes;
}

}  // namespace

std::string header_text(const std::string& name, npy::DataType type, const Extents& size) {
  const Name parsed = new_name(name);
  const NewFormat format = new_format(parsed);
  checked_bytes(parsed.path, type, size);
  if (format.is_compressed) {
    throw Error(fmt::format(
        "cannot write '{}' in pieces: a compressed file is written from its begin on: leave .gz out", parsed.path));
  }
  if (format.format == Format::hdf5 && exists(parsed.path)) {
    throw Error(fmt::format("'{}' exists, and this work makes a file of its own: name another one", parsed.path));
  }
  Surroundings header = header_of(parsed, type, size, nullptr, nullptr);
  if (!header.after.empty()) {
    throw Error(fmt::format("cannot write '{}' in pieces: HDF5 puts {} bytes after its dataset", parsed.path,
                            header.after.size()));
  }
  return std::move(header.before);
}

struct Writer::State {
  Name name;
  npy::DataType type = npy::DataType::float64;
  Extents size{};
  Place place;
  bool is_creator = false;
  std::optional<Draft> draft;       // the creator's, of a new file; of one that was there, to have it alone
  std::optional<Draft> compressed;  // what the draft is compressed into
  File file;                        // another rank's, or of a file that was there

  const File& open_file() const { return draft && !place.is_within_file ? draft->file() : file; }
  ~State() {
#if PENSTOCK_HAS_HDF5
    if (is_creator && place.is_within_file) {
      discard_dataset(name);
    }
#endif
  }
};

Writer::Writer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Writer Writer::create(const std::string& name, npy::DataType type, const Extents& size, const Reader* like) {
  auto state = std::make_unique<State>();
  state->name = new_name(name);
  state->type = type;
  state->size = size;
  const std::string& path = state->name.path;
  const std::int64_t bytes = checked_bytes(path, type, size);
#if PENSTOCK_HAS_HDF5
  if (new_format(state->name).format == Format::hdf5 && exists(path)) {
    state->draft.emplace(path);
    const bool is_alike = like != nullptr && like->state_->dataset && like->size() == size;
    state->place = {.data_offset = add_dataset(
                        state->name, {.type = type, .size = size, .like = is_alike ? &like->state_->name : nullptr}),
                    .is_within_file = true};
    state->is_creator = true;
    state->file = File::open_for_writing(path);
    state->file.reserve(std::max(state->file.size(), state->place.data_offset + bytes));
    return Writer(std::move(state));
  }
#endif
#if !PENSTOCK_HAS_ZLIB
  if (new_format(state->name).is_compressed) {
    throw Error(fmt::format("cannot write '{}': this build has no zlib: leave .gz out", path));
  }
#endif
  const Surroundings header = header_of(state->name, type, size, like != nullptr ? &like->state_->name : nullptr,
                                        like != nullptr ? &like->state_->description : nullptr);
  state->place.data_offset = std::ssize(header.before);
  if (new_format(state->name).is_compressed) {
    state->compressed.emplace(path);
  }
  state->draft.emplace(draft_target(state->name));
  state->is_creator = true;
  const std::int64_t end = state->place.data_offset + bytes;
  const File& file = state->draft->file();
  file.reserve(end + std::ssize(header.after));
  file.write(0, std::as_bytes(std::span(header.before)));
  file.write(end, std::as_bytes(std::span(header.after)));
  return Writer(std::move(state));
}

Writer Writer::open(const std::string& name, npy::DataType type, const Extents& size, const Place& place) {
  auto state = std::make_unique<State>();
  state->name = new_name(name);
  state->type = type;
  state->size = size;
  state->place = place;
  state->file =
      File::open_for_writing(place.is_within_file ? state->name.path : Draft::part_path(draft_target(state->name)));
  return Writer(std::move(state));
}

npy::DataType Writer::type() const noexcept {
  return state_->type;
}

const Writer::Place& Writer::place() const noexcept {
  return state_->place;
}

std::vector<std::string> Writer::unfinished_paths() const {
  std::vector<std::string> paths;
  for (const std::optional<Draft>* draft : {&state_->draft, &state_->compressed}) {
    if (*draft) {
      paths.push_back((*draft)->file().path());
    }
  }
  return paths;
}

void Writer::write_box(const Box& box, std::span<const std::byte> bytes) const {
  const std::int64_t element_bytes = npy::element_bytes(state_->type);
  check_box(state_->name.path, state_->size, box, element_bytes, bytes.size());
  for_each_run(state_->size, box, [&](std::int64_t first, std::int64_t count, std::int64_t done) {
    state_->open_file().write(
        state_->place.data_offset + first * element_bytes,
        bytes.subspan(static_cast<std::size_t>(done * element_bytes), static_cast<std::size_t>(count * element_bytes)));
  });
}

void Writer::commit() {
  if (!state_ || !state_->is_creator) {
    throw Error("a file is committed once, by the writer that created it");
  }
  state_->is_creator = false;
#if PENSTOCK_HAS_HDF5
  if (state_->place.is_within_file) {
    state_->file.sync();
    commit_dataset(state_->name);
    state_->file.sync();
    state_->draft.reset();
    return;
  }
#endif
#if PENSTOCK_HAS_ZLIB
  if (state_->compressed) {
    compress(state_->draft->file(), state_->compressed->file());
    state_->compressed->commit();
    state_->compressed.reset();
    state_->draft.reset();
    return;
  }
#endif
  state_->draft->commit();
  state_->draft.reset();  // and with it its lock
}

}  // namespace penstock::volume
