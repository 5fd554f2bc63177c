// Fields and spectra written to one file by all ranks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::field {
namespace {

// As much as is brought into the file's order at a time: many times a disk's favourite write, little beside the field.
constexpr std::int64_t chunk_bytes = std::int64_t{8} << 20;

/// The bytes of `chunk`, a box inside of `part`'s, in the file's order [z][y][x]; the origin is the part's array.
layout::Layout layout_of(const Distribution& part, const fft::Box& chunk, std::int64_t element_bytes) {
  const fft::Extents strides = part.strides();
  const auto level = [&](std::size_t d) { return layout::Level{chunk.extent[d], strides[d] * element_bytes}; };
  const std::array levels{level(2), level(1), level(0)};
  const std::int64_t offset = part.position(chunk.lower[0], chunk.lower[1], chunk.lower[2]) * element_bytes;
  return layout::Layout::nest(offset, levels, element_bytes);
}

}  // namespace

struct OutputFile::State {
  const gas::Team* team;
  std::optional<volume::Writer> writer;
};

OutputFile::OutputFile(const gas::Team& team, const std::string& name, npy::DataType type, const Extents& points,
                       const std::string& like)
    : state_(std::make_unique<State>(&team, std::nullopt)) {
  volume::Writer::Place place;
  team.barrier();  // HDF5 lets nobody write a file that another rank still reads
  team.together([&] {
    if (team.rank() == 0) {
      std::optional<volume::Reader> original;
      if (!like.empty()) {
        original.emplace(like);
      }
      state_->writer = volume::Writer::create(name, type, points, original ? &*original : nullptr);
      place = state_->writer->place();
    }
  });
  place = team.all_gather(place).front();
  team.together([&] {
    if (team.rank() != 0) {
      state_->writer = volume::Writer::open(name, type, points, place);
    }
  });
}

OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile& OutputFile::operator=(OutputFile&&) noexcept = default;

std::vector<std::string> OutputFile::unfinished_paths() const {
  return state_->writer ? state_->writer->unfinished_paths() : std::vector<std::string>();
}

void OutputFile::write(const Distribution& part, std::span<const std::byte> elements) {
  state_->team->together([&] {
    const std::int64_t element_bytes = npy::element_bytes(state_->writer->type());
    const auto& [lower, extent] = part.box;
    if (part.box.count() == 0) {
      return;
    }
    if (const std::int64_t bytes = part.elements() * element_bytes; std::ssize(elements) < bytes) {
      throw Error(fmt::format("rank {} gives {} bytes for its part of a file, which has {}", state_->team->rank(),
                              elements.size(), bytes));
    }
    // A contiguous chunk is written as it lies; another one is brought into the file's order first.
    const std::int64_t plane_bytes = extent[0] * extent[1] * element_bytes;
    const std::int64_t planes = std::clamp<std::int64_t>(chunk_bytes / plane_bytes, 1, extent[2]);
    std::vector<std::byte> buffer;
    for (std::int64_t z = 0; z < extent[2]; z += planes) {
      fft::Box chunk = part.box;
      chunk.lower[2] += z;
      chunk.extent[2] = std::min(planes, extent[2] - z);
      const layout::Layout layout = layout_of(part, chunk, element_bytes);
      std::span<const std::byte> bytes =
          elements.subspan(static_cast<std::size_t>(layout.lower_bound()), static_cast<std::size_t>(layout.bytes()));
      if (!layout.is_contiguous()) {
        buffer.resize(static_cast<std::size_t>(layout.bytes()));
        mover::Mover::compile(layout, layout::Layout::contiguous(layout.bytes()))(elements.data(), buffer.data());
        bytes = buffer;
      }
      state_->writer->write_box(chunk, bytes);
    }
  });
}

void OutputFile::commit() {
  const gas::Team& team = *state_->team;
  team.together([&] {
    if (team.rank() != 0) {
      state_->writer.reset();
    }
  });
  team.together([&] {
    if (state_->writer) {
      state_->writer->commit();
      state_->writer.reset();
    }
  });
}

}  // namespace penstock::field
