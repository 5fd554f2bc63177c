// A slab is copied between planes and bricks in memory, a pass over it that storage leaves time for: so every request
// to the scratch file is for whole pages in one run, past the page cache.
#include "penstock/fft/files/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "penstock/base/checksum.hpp"

namespace penstock::fft {
namespace {

std::uint64_t sum_of(const std::byte* data, std::int64_t bytes) {
  return checksum({data, static_cast<std::size_t>(bytes)});
}

transform::Kind kind_along_x(const FileShape& shape, bool is_backward) {
  if (shape.is_real) {
    return is_backward ? transform::Kind::complex_to_real : transform::Kind::real_to_complex;
  }
  return is_backward ? transform::Kind::backward : transform::Kind::forward;
}

LineTransform along_x(const FileCuts& cuts, bool is_backward) {
  const FileShape& shape = cuts.shape();
  const auto rows = [](std::int64_t points, std::int64_t bytes) {
    return std::vector<LinePart>{{.points = points, .point_stride = bytes, .line_stride = points * bytes}};
  };
  const std::vector<LinePart> space = rows(shape.points[0], shape.space_element_bytes());
  const std::vector<LinePart> spectrum = rows(shape.spectrum_row_points(), cuts.element_bytes());
  const bool is_from_spectrum = shape.is_real && is_backward;
  return {{.kind = kind_along_x(shape, is_backward), .type = shape.type, .points = shape.points[0]},
          is_from_spectrum ? spectrum : space,
          is_from_spectrum ? space : spectrum,
          shape.points[1]};
}

/// In place.
LineTransform along(const FileCuts& cuts, bool is_backward, const std::vector<LinePart>& parts, std::int64_t points,
                    std::int64_t lines) {
  return {{.kind = is_backward ? transform::Kind::backward : transform::Kind::forward,
           .type = cuts.shape().type,
           .points = points},
          parts,
          parts,
          lines};
}

LineTransform along_y(const FileCuts& cuts, bool is_backward) {
  const std::int64_t row_points = cuts.shape().spectrum_row_points();
  const std::int64_t points = cuts.shape().points[1];
  return along(
      cuts, is_backward,
      {{.points = points, .point_stride = row_points * cuts.element_bytes(), .line_stride = cuts.element_bytes()}},
      points, row_points);
}

LineTransform along_z(const FileCuts& cuts, bool is_backward, std::int64_t column) {
  std::vector<LinePart> parts;
  for (std::int64_t slab = 0; slab < cuts.slabs(); ++slab) {
    parts.push_back({.offset = slab * cuts.brick_bytes(),
                     .points = cuts.planes_of(slab),
                     .point_stride = cuts.points_of(column) * cuts.element_bytes(),
                     .line_stride = cuts.element_bytes()});
  }
  return along(cuts, is_backward, parts, cuts.planes(), cuts.points_of(column));
}

/// Planes; in memory and in files they follow one another.
class Slabs final : public Pieces {
 public:
  Slabs(const PassSetting& setting, percolate::Slots& slots, bool is_first)
      : Pieces(setting, slots, is_first, setting.cuts.slabs(), setting.cuts.columns()) {
    const SlotCounts counts(setting.threads);
    take_places(counts.slabs, cuts().slab_bytes(), cuts().slab_bricks_bytes());
    const std::int64_t beside = cuts().plane_beside_bytes();
    for (std::int64_t i = 0; beside > 0 && i < counts.planes_beside; ++i) {
      planes_beside_.add(
          slots.bytes(slots.take("memory", fmt::format("plane {}", i), static_cast<std::size_t>(beside))));
    }
  }

  std::string_view name() const noexcept override { return "slab"; }

  std::vector<Transfer> field_transfers(Transfer::Kind kind, std::int64_t slab, std::size_t place) const override {
    const PassFiles& files = setting_.files;
    const std::int64_t bytes = field_bytes(slab);
    Transfer transfer{.kind = kind,
                      .file = is_first() ? files.input : files.output,
                      .offset = begin_of(slab),
                      .data = planes(slab, place),
                      .run_bytes = static_cast<std::size_t>(bytes)};
    if (is_first()) {
      // The pages that hold it, past the page cache; the last of the file, which is no whole page, through it.
      const std::int64_t lead = begin_of(slab) % File::scratch_alignment;
      const std::int64_t whole_bytes = round_up(lead + bytes, File::scratch_alignment);
      if (begin_of(slab) - lead + whole_bytes <= files.input_bytes) {
        transfer.file = files.input_direct;
        transfer.offset -= lead;
        transfer.data -= lead;
        transfer.run_bytes = static_cast<std::size_t>(whole_bytes);
      }
    }
    return {transfer};
  }

  void to_bricks(std::int64_t slab, std::size_t place) override {
    for_each_plane(slab, place, [&](std::byte* space, std::byte* spectrum, std::int64_t plane) {
      setting_.transforms->to_spectrum(space, spectrum);
      for_each_brick(plane, place, [&](std::byte* brick, std::int64_t offset, std::size_t bytes) {
        std::memcpy(brick, spectrum + offset, bytes);
      });
    });
  }

  void from_bricks(std::int64_t slab, std::size_t place) override {
    for_each_plane(slab, place, [&](std::byte* space, std::byte* spectrum, std::int64_t plane) {
      for_each_brick(plane, place, [&](const std::byte* brick, std::int64_t offset, std::size_t bytes) {
        std::memcpy(spectrum + offset, brick, bytes);
      });
      setting_.transforms->to_space(spectrum, space, setting_.factor);
    });
  }

  std::int64_t field_bytes(std::int64_t slab) const noexcept override {
    return cuts().planes_of(slab) * cuts().space_plane_bytes();
  }
  std::int64_t bricks_bytes(std::int64_t slab) const noexcept override {
    return cuts().planes_of(slab) * cuts().plane_bytes();
  }
  std::uint64_t field_sum(std::int64_t slab, std::size_t place) const override {
    return sum_of(planes(slab, place), field_bytes(slab));
  }

 private:
  std::int64_t brick_bytes(std::int64_t slab, std::int64_t column) const noexcept override {
    return cuts().dense_bytes(slab, column);
  }
  /// In the field's file.
  std::int64_t begin_of(std::int64_t slab) const noexcept {
    return (is_first() ? setting_.files.input_offset : setting_.files.output_offset) +
           slab * cuts().tiling().planes * cuts().space_plane_bytes();
  }
  /// In memory: as far into a page as in the file.
  std::byte* planes(std::int64_t slab, std::size_t place) const {
    return field_memory(place) + begin_of(slab) % File::scratch_alignment;
  }
  /// Calls `visit(space, spectrum, plane)`, and counts.
  template <class Visit>
  void for_each_plane(std::int64_t slab, std::size_t place, const Visit& visit) {
    std::optional<Lender::Loan> beside;
    if (cuts().plane_beside_bytes() > 0) {
      beside.emplace(planes_beside_);
    }
    for (std::int64_t plane = 0; plane < cuts().planes_of(slab); ++plane) {
      std::byte* const space = planes(slab, place) + plane * cuts().space_plane_bytes();
      visit(space, beside ? beside->bytes().data() : space, plane);
      *setting_.done_bytes += cuts().space_plane_bytes();
    }
  }
  /// Calls `visit(memory, offset, bytes)` for what each brick of a slab has of a plane: where it is, and where in the
  /// plane.
  template <class Visit>
  void for_each_brick(std::int64_t plane, std::size_t place, const Visit& visit) const {
    const std::int64_t width = cuts().element_bytes();
    for (std::int64_t column = 0; column < cuts().columns(); ++column) {
      const std::int64_t bytes = cuts().points_of(column) * width;
      visit(bricks_memory(place) + column * cuts().brick_bytes() + plane * bytes,
            column * cuts().tiling().points * width, static_cast<std::size_t>(bytes));
    }
  }

  Lender planes_beside_;
};

/// Some points of each plane; in memory always in bricks.
class Columns final : public Pieces {
 public:
  Columns(const PassSetting& setting, percolate::Slots& slots, bool is_first)
      : Pieces(setting, slots, is_first, setting.cuts.columns(), setting.cuts.slabs()) {
    take_places(SlotCounts(setting.threads).columns, 0, cuts().column_bytes());
  }

  std::string_view name() const noexcept override { return "column"; }

  std::vector<Transfer> field_transfers(Transfer::Kind kind, std::int64_t column, std::size_t place) const override {
    const PassFiles& files = setting_.files;
    const std::int64_t width = cuts().element_bytes();
    const std::int64_t run_bytes = cuts().points_of(column) * width;
    const std::int64_t begin =
        (is_first() ? files.input_offset : files.output_offset) + column * cuts().tiling().points * width;
    std::vector<Transfer> transfers;
    for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
      transfers.push_back({.kind = kind,
                           .file = is_first() ? files.input : files.output,
                           .offset = begin + slab * cuts().tiling().planes * cuts().plane_bytes(),
                           .data = bricks_memory(place) + slab * cuts().brick_bytes(),
                           .run_bytes = static_cast<std::size_t>(run_bytes),
                           .runs = static_cast<std::size_t>(cuts().planes_of(slab)),
                           .file_pitch = cuts().plane_bytes(),
                           .memory_pitch = run_bytes});
    }
    return transfers;
  }

  void to_bricks(std::int64_t column, std::size_t place) override { transform(column, place, 1); }
  void from_bricks(std::int64_t column, std::size_t place) override { transform(column, place, setting_.factor); }

  std::int64_t field_bytes(std::int64_t column) const noexcept override {
    return cuts().planes() * cuts().points_of(column) * cuts().element_bytes();
  }
  std::int64_t bricks_bytes(std::int64_t column) const noexcept override { return field_bytes(column); }
  std::uint64_t field_sum(std::int64_t column, std::size_t place) const override {
    const std::vector<std::uint64_t> sums = brick_sums(column, place);
    return checksum(std::as_bytes(std::span(sums)));
  }

 private:
  std::int64_t brick_bytes(std::int64_t column, std::int64_t slab) const noexcept override {
    return cuts().dense_bytes(slab, column);
  }
  void transform(std::int64_t column, std::size_t place, double factor) {
    setting_.transforms->run_column(bricks_memory(place), column, factor);
    *setting_.done_bytes += field_bytes(column);
  }
};

}  // namespace

Lender::Loan::Loan(Lender& lender) : lender_(lender) {
  const std::lock_guard lock(lender_.mutex_);
  bytes_ = lender_.parts_.back();
  lender_.parts_.pop_back();
}

Lender::Loan::~Loan() {
  const std::lock_guard lock(lender_.mutex_);
  lender_.parts_.push_back(bytes_);
}

FieldTransforms::FieldTransforms(const FileCuts& cuts, bool is_backward, int threads)
    : x_(along_x(cuts, is_backward)),
      y_(along_y(cuts, is_backward)),
      z_(along_z(cuts, is_backward, 0)),
      z_last_(along_z(cuts, is_backward, cuts.columns() - 1)),
      last_column_(cuts.columns() - 1) {
  const std::size_t bytes = std::max({x_.tile_bytes(), y_.tile_bytes(), z_.tile_bytes(), z_last_.tile_bytes()});
  for (int i = 0; i < threads; ++i) {
    const Memory& tile = tiles_.emplace_back(bytes);
    lender_.add({tile.data(), tile.size()});
  }
}

void FieldTransforms::to_spectrum(const std::byte* space, std::byte* spectrum) const {
  const Lender::Loan tile(lender_);
  x_.run(space, spectrum, 1, tile.bytes());
  y_.run(spectrum, spectrum, 1, tile.bytes());
}

void FieldTransforms::to_space(std::byte* spectrum, std::byte* space, double factor) const {
  const Lender::Loan tile(lender_);
  y_.run(spectrum, spectrum, 1, tile.bytes());
  x_.run(spectrum, space, factor, tile.bytes());
}

void FieldTransforms::run_column(std::byte* bricks, std::int64_t column, double factor) const {
  const Lender::Loan tile(lender_);
  (column == last_column_ ? z_last_ : z_).run(bricks, bricks, factor, tile.bytes());
}

Pieces::Pieces(const PassSetting& setting, percolate::Slots& slots, bool is_first, std::int64_t count,
               std::int64_t others)
    : setting_(setting), slots_(slots), is_first_(is_first), count_(count), others_(others) {}

void Pieces::take_places(std::int64_t places, std::int64_t field_bytes, std::int64_t bricks_bytes) {
  const auto take = [&](std::string_view what, std::int64_t i, std::int64_t bytes) {
    return slots_.take("memory", fmt::format("{} {}", what, i), static_cast<std::size_t>(bytes));
  };
  for (std::int64_t i = 0; i < places; ++i) {
    bricks_slots_.push_back(take(fmt::format("bricks of a {}", name()), i, bricks_bytes));
    field_slots_.push_back(field_bytes == 0 ? bricks_slots_.back() : take(name(), i, field_bytes));
  }
}

percolate::Transfer Pieces::scratch_transfer(Transfer::Kind kind, std::int64_t piece, std::size_t place) const {
  const std::int64_t bytes = cuts().brick_bytes();
  Transfer transfer{.kind = kind, .file = setting_.files.scratch, .data = bricks_memory(place)};
  if (is_first_) {
    transfer.offset = piece * bytes;
    transfer.run_bytes = static_cast<std::size_t>(bytes);
    transfer.runs = static_cast<std::size_t>(others_);
    transfer.file_pitch = count_ * bytes;
    transfer.memory_pitch = bytes;
  } else {
    transfer.offset = piece * others_ * bytes;
    transfer.run_bytes = static_cast<std::size_t>(others_ * bytes);
  }
  return transfer;
}

std::vector<std::uint64_t> Pieces::brick_sums(std::int64_t piece, std::size_t place) const {
  std::vector<std::uint64_t> sums;
  for (std::int64_t other = 0; other < others_; ++other) {
    sums.push_back(sum_of(bricks_memory(place) + other * cuts().brick_bytes(), brick_bytes(piece, other)));
  }
  return sums;
}

std::unique_ptr<Pieces> make_pieces(const PassSetting& setting, percolate::Slots& slots, bool is_first) {
  if (is_first == setting.begins_with_columns) {
    return std::make_unique<Columns>(setting, slots, is_first);
  }
  return std::make_unique<Slabs>(setting, slots, is_first);
}

}  // namespace penstock::fft
