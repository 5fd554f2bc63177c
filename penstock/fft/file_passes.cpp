// A slab is copied from planes to bricks in memory, a pass over it that storage leaves time for: so every request to
// the scratch file is for whole pages in one run, past the page cache.
#include "penstock/fft/file_passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/base/checksum.hpp"

namespace penstock::fft {

using percolate::Parcel;
using percolate::Slot;
using percolate::Transfer;

namespace {

std::vector<Slot> take_slots(percolate::Slots& slots, const char* name, std::int64_t count, std::int64_t bytes) {
  std::vector<Slot> taken;
  for (std::int64_t i = 0; i < count; ++i) {
    taken.push_back(slots.take("memory", fmt::format("{} {}", name, i), static_cast<std::size_t>(bytes)));
  }
  return taken;
}

std::uint64_t sum_of(const std::byte* data, std::int64_t bytes) {
  return checksum({data, static_cast<std::size_t>(bytes)});
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& sums) {
  return checksum(std::as_bytes(std::span(sums)));
}

/// The points of a column in some planes, from or to the output, dense in memory.
Transfer in_output(const PassSetting& setting, Transfer::Kind kind, std::int64_t first_plane, std::int64_t planes,
                   std::int64_t column, std::byte* data) {
  const FileCuts& cuts = setting.cuts;
  const std::int64_t width = cuts.element_bytes();
  const std::int64_t run_bytes = cuts.points_of(column) * width;
  return {.kind = kind,
          .file = setting.files.output,
          .offset =
              setting.files.output_offset + (first_plane * cuts.plane_points() + column * cuts.tiling().points) * width,
          .data = data,
          .run_bytes = static_cast<std::size_t>(run_bytes),
          .runs = static_cast<std::size_t>(planes),
          .file_pitch = cuts.plane_points() * width,
          .memory_pitch = run_bytes};
}

std::vector<LinePart> parts_along_z(const FileCuts& cuts, std::int64_t column) {
  std::vector<LinePart> parts;
  for (std::int64_t slab = 0; slab < cuts.slabs(); ++slab) {
    parts.push_back({.offset = slab * cuts.brick_bytes(),
                     .points = cuts.planes_of(slab),
                     .point_stride = cuts.points_of(column) * cuts.element_bytes(),
                     .line_stride = cuts.element_bytes()});
  }
  return parts;
}

}  // namespace

/// A tile, lent to one thread for one call.
class FieldTransforms::Loan {
 public:
  explicit Loan(const FieldTransforms& owner) : owner_(owner) {
    const std::lock_guard lock(owner_.mutex_);
    tile_ = std::move(owner_.tiles_.back());
    owner_.tiles_.pop_back();
  }
  ~Loan() {
    const std::lock_guard lock(owner_.mutex_);
    owner_.tiles_.push_back(std::move(tile_));
  }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  std::span<std::byte> bytes() const noexcept { return {tile_.data(), tile_.size()}; }

 private:
  const FieldTransforms& owner_;
  Memory tile_;
};

FieldTransforms::FieldTransforms(const Extents& size, npy::DataType type, const FileCuts& cuts, bool is_backward,
                                 int threads)
    : x_(type, is_backward,
         {{.points = size[0], .point_stride = cuts.element_bytes(), .line_stride = size[0] * cuts.element_bytes()}},
         size[1]),
      y_(type, is_backward,
         {{.points = size[1], .point_stride = size[0] * cuts.element_bytes(), .line_stride = cuts.element_bytes()}},
         size[0]),
      z_(type, is_backward, parts_along_z(cuts, 0), cuts.points_of(0)),
      z_last_(type, is_backward, parts_along_z(cuts, cuts.columns() - 1), cuts.points_of(cuts.columns() - 1)),
      last_column_(cuts.columns() - 1) {
  const std::size_t bytes = std::max({x_.tile_bytes(), y_.tile_bytes(), z_.tile_bytes(), z_last_.tile_bytes()});
  for (int i = 0; i < threads; ++i) {
    tiles_.emplace_back(bytes);
    tile_bytes_ += static_cast<std::int64_t>(bytes);
  }
}

std::int64_t FieldTransforms::bytes() const noexcept {
  return tile_bytes_;
}

void FieldTransforms::run_plane(std::byte* plane) const {
  const Loan tile(*this);
  x_.run(plane, 1, tile.bytes());
  y_.run(plane, 1, tile.bytes());
}

void FieldTransforms::run_column(std::byte* bricks, std::int64_t column, double factor) const {
  const Loan tile(*this);
  (column == last_column_ ? z_last_ : z_).run(bricks, factor, tile.bytes());
}

std::optional<Parcel> PassProgram::next() {
  if (pending_.empty()) {
    if (drawn_ == pieces_.size()) {
      return std::nullopt;
    }
    push(pieces_[drawn_], drawn_);
    ++drawn_;
  }
  Parcel parcel = std::move(pending_.front());
  pending_.pop_front();
  return parcel;
}

SlabPass::SlabPass(const PassSetting& setting, std::vector<std::int64_t> slabs, percolate::Slots& slots)
    : PassProgram(setting, std::move(slabs)), slots_(slots) {
  const SlotCounts counts(setting.threads);
  arriving_ = take_slots(slots, "slab", counts.slabs, cuts().slab_bytes());
  leaving_ = take_slots(slots, "bricks", counts.brick_slabs, cuts().slab_bricks_bytes());
  told_ = slots.token("journal");
  sums_.resize(leaving_.size());
}

void SlabPass::push(std::int64_t slab, std::size_t turn) {
  const Slot from = arriving_[turn % arriving_.size()];
  const std::size_t place = turn % leaving_.size();
  const Slot to = leaving_[place];
  const std::int64_t slab_bytes = cuts().planes_of(slab) * cuts().plane_points() * cuts().element_bytes();
  std::byte* const pages = slots_.bytes(from).data();
  std::byte* const planes = pages + (setting_.files.input_offset + begin_of(slab)) % File::scratch_alignment;
  std::byte* const bricks = slots_.bytes(to).data();
  pending_.push_back({.label = fmt::format("slab {}", slab),
                      .inward = {{.slot = from, .transfer = from_input(slab, pages)}},
                      .changes = {from, to},
                      .work = [this, slab, planes, bricks, place] { transform(slab, planes, bricks, sums_[place]); }});
  // Parcels of their own: the slab's slot is free while the bricks are on their way.
  pending_.push_back({.label = fmt::format("bricks of slab {}", slab),
                      .changes = {to},
                      .outward = {{.kind = Transfer::Kind::write,
                                   .file = setting_.files.scratch,
                                   .offset = cuts().brick_offset(slab, 0),
                                   .data = bricks,
                                   .run_bytes = static_cast<std::size_t>(cuts().brick_bytes()),
                                   .runs = static_cast<std::size_t>(cuts().columns()),
                                   .file_pitch = cuts().column_bytes(),
                                   .memory_pitch = cuts().brick_bytes()}}});
  pending_.push_back({.label = fmt::format("slab {} is complete", slab),
                      .uses = {to},
                      .changes = {told_},
                      .work = [this, slab, place, slab_bytes] {
                        setting_.journal->add(brick_piece, cuts().brick_number(slab, 0), sums_[place]);
                        *setting_.done_bytes += slab_bytes;
                      }});
}

/// The pages that hold a slab, past the page cache; the last of the file, which is no whole page, through it.
Transfer SlabPass::from_input(std::int64_t slab, std::byte* pages) const {
  const PassFiles& files = setting_.files;
  const std::int64_t begin = files.input_offset + begin_of(slab);
  const std::int64_t bytes = cuts().planes_of(slab) * cuts().plane_points() * cuts().element_bytes();
  const std::int64_t lead = begin % File::scratch_alignment;
  const std::int64_t whole_bytes =
      (lead + bytes + File::scratch_alignment - 1) / File::scratch_alignment * File::scratch_alignment;
  if (begin - lead + whole_bytes > files.input_bytes) {
    return {.kind = Transfer::Kind::read,
            .file = files.input,
            .offset = begin,
            .data = pages + lead,
            .run_bytes = static_cast<std::size_t>(bytes)};
  }
  return {.kind = Transfer::Kind::read,
          .file = files.input_direct,
          .offset = begin - lead,
          .data = pages,
          .run_bytes = static_cast<std::size_t>(whole_bytes)};
}

void SlabPass::transform(std::int64_t slab, std::byte* planes, std::byte* bricks,
                         std::vector<std::uint64_t>& sums) const {
  const std::int64_t width = cuts().element_bytes();
  const std::int64_t plane_bytes = cuts().plane_points() * width;
  for (std::int64_t i = 0; i < cuts().planes_of(slab); ++i) {
    std::byte* const plane = planes + i * plane_bytes;
    setting_.transforms->run_plane(plane);
    for (std::int64_t column = 0; column < cuts().columns(); ++column) {
      const std::int64_t bytes = cuts().points_of(column) * width;
      std::memcpy(bricks + column * cuts().brick_bytes() + i * bytes, plane + column * cuts().tiling().points * width,
                  static_cast<std::size_t>(bytes));
    }
    *setting_.done_bytes += plane_bytes;
  }
  sums.clear();
  for (std::int64_t column = 0; column < cuts().columns(); ++column) {
    sums.push_back(sum_of(bricks + column * cuts().brick_bytes(), cuts().dense_bytes(slab, column)));
  }
}

ColumnPass::ColumnPass(const PassSetting& setting, std::vector<std::int64_t> columns, percolate::Slots& slots)
    : PassProgram(setting, std::move(columns)),
      slots_(slots),
      bricks_(setting.journal->pieces(brick_piece)),
      is_torn_(static_cast<std::size_t>(cuts().slabs())) {
  columns_ = take_slots(slots, "column", SlotCounts(setting.threads).columns, cuts().column_bytes());
  told_ = slots.token("journal");
  made_.resize(columns_.size());
}

/// Compares the bricks with the journal, and keeps in mind those that are not what was written.
bool ColumnPass::is_whole(std::int64_t column, const std::byte* bricks) {
  bool is_whole = true;
  for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
    const std::uint64_t sum = sum_of(bricks + slab * cuts().brick_bytes(), cuts().dense_bytes(slab, column));
    const auto told = bricks_.find(cuts().brick_number(slab, column));
    if (told == bricks_.end() || told->second != sum) {
      const std::lock_guard lock(mutex_);
      is_torn_[static_cast<std::size_t>(slab)] = true;
      ++torn_bricks_;
      is_whole = false;
    }
  }
  if (!is_whole) {
    const std::lock_guard lock(mutex_);
    torn_columns_.push_back(column);
  }
  return is_whole;
}

void ColumnPass::push(std::int64_t column, std::size_t turn) {
  const std::size_t place = turn % columns_.size();
  const Slot slot = columns_[place];
  std::byte* const bricks = slots_.bytes(slot).data();
  const std::int64_t half_bytes = cuts().planes() * cuts().points_of(column) * cuts().element_bytes();
  Parcel parcel{.label = fmt::format("column {}", column),
                .inward = {{.slot = slot,
                            .transfer = {.kind = Transfer::Kind::read,
                                         .file = setting_.files.scratch,
                                         .offset = cuts().brick_offset(0, column),
                                         .data = bricks,
                                         .run_bytes = static_cast<std::size_t>(cuts().column_bytes())}}},
                .changes = {slot},
                .work = [this, column, bricks, place, half_bytes] {
                  Made& made = made_[place];
                  made.is_whole = is_whole(column, bricks);
                  setting_.transforms->run_column(bricks, column, setting_.factor);
                  std::vector<std::uint64_t> sums;
                  for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
                    sums.push_back(sum_of(bricks + slab * cuts().brick_bytes(), cuts().dense_bytes(slab, column)));
                  }
                  made.sum = sum_of(sums);
                  *setting_.done_bytes += half_bytes;
                }};
  for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
    parcel.outward.push_back(in_output(setting_, Transfer::Kind::write, slab * cuts().tiling().planes,
                                       cuts().planes_of(slab), column, bricks + slab * cuts().brick_bytes()));
  }
  pending_.push_back(std::move(parcel));
  pending_.push_back({.label = fmt::format("column {} is complete", column),
                      .uses = {slot},
                      .changes = {told_},
                      .work = [this, column, place, half_bytes] {
                        if (made_[place].is_whole) {
                          setting_.journal->add(column_piece, column, {&made_[place].sum, 1});
                        }
                        *setting_.done_bytes += half_bytes;
                      }});
}

std::vector<std::int64_t> ColumnPass::torn_slabs() const {
  std::vector<std::int64_t> slabs;
  for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
    if (is_torn_[static_cast<std::size_t>(slab)]) {
      slabs.push_back(slab);
    }
  }
  return slabs;
}

ColumnCheck::ColumnCheck(const PassSetting& setting, std::vector<std::int64_t> columns, percolate::Slots& slots)
    : PassProgram(setting, std::move(columns)), slots_(slots) {
  columns_ = take_slots(slots, "column", SlotCounts(setting.threads).columns, cuts().column_bytes());
}

void ColumnCheck::push(std::int64_t column, std::size_t turn) {
  const Slot slot = columns_[turn % columns_.size()];
  std::byte* const points = slots_.bytes(slot).data();
  pending_.push_back(
      {.label = fmt::format("check of column {}", column),
       .inward = {{.slot = slot,
                   .transfer = in_output(setting_, Transfer::Kind::read, 0, cuts().planes(), column, points)}},
       .work = [this, column, points] {
         std::vector<std::uint64_t> sums;
         const std::byte* brick = points;
         for (std::int64_t slab = 0; slab < cuts().slabs(); ++slab) {
           sums.push_back(sum_of(brick, cuts().dense_bytes(slab, column)));
           brick += cuts().dense_bytes(slab, column);
         }
         if (sum_of(sums) != setting_.journal->pieces(column_piece).at(column)) {
           const std::lock_guard lock(mutex_);
           torn_columns_.push_back(column);
         }
       }});
}

}  // namespace penstock::fft
