// The parcels of a tile of C: for each depth a panel of B arrives with the first strip's block of A; each strip is
// multiplied as soon as its block is there; after the last depth it leaves, and when all have left the journal is told.
#include "penstock/gemm/tile_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "penstock/base/checksum.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/gemm/read_ahead.hpp"

namespace penstock::gemm {

using percolate::Arrival;
using percolate::Parcel;
using percolate::Slot;
using percolate::Transfer;

namespace {

/// What passes through a scratch file fills whole pages there.
std::int64_t whole_pages(std::int64_t elements, std::int64_t element_bytes) {
  return round_up(elements * element_bytes, File::scratch_alignment);
}

std::vector<Slot> take_slots(percolate::Slots& slots, const char* name, std::int64_t count, std::int64_t bytes) {
  std::vector<Slot> taken;
  for (std::int64_t i = 0; i < count; ++i) {
    taken.push_back(slots.take("memory", fmt::format("{} {}", name, i), static_cast<std::size_t>(bytes)));
  }
  return taken;
}

}  // namespace

TileProgram::TileProgram(const TileFiles& files, const Tiling& tiling, const Scalars& scalars, int threads,
                         percolate::Slots& slots, journal::Journal& journal)
    : files_(files),
      tiling_(tiling),
      scalars_(scalars),
      product_{.m = files.a->rows(),
               .n = files.b->columns(),
               .k = files.a->columns(),
               .element_bytes = npy::element_bytes(files.a->type())},
      slots_(slots),
      journal_(journal),
      done_(journal.pieces(piece)),
      tile_rows_(divide_up(product_.m, tiling.tile_m)),
      tile_columns_(divide_up(product_.n, tiling.tile_n)),
      a_is_kept_(static_cast<std::size_t>(tile_rows_)),
      b_is_kept_(static_cast<std::size_t>(tile_columns_)) {
  const std::int64_t width = product_.element_bytes;
  const std::int64_t strips = divide_up(tiling.tile_m, tiling.strip);
  c_slots_ = take_slots(slots, "C", strips, tiling.strip * tiling.tile_n * width);
  b_turns_.slots = take_slots(slots, "B", model::panels_of_b, whole_pages(tiling.depth * tiling.tile_n, width));
  a_turns_.slots = take_slots(slots, "A", model::blocks_of_a(threads), whole_pages(tiling.strip * tiling.depth, width));
  finished_ = slots.token("tile");
  kept_ = slots.token("scratch");
  sums_.resize(static_cast<std::size_t>(strips));
  for (std::int64_t row = 0; row < tile_rows_; ++row) {
    for (std::int64_t column = 0; column < tile_columns_; ++column) {
      for (std::int64_t strip = 0; !done_.contains(row * tile_columns_ + column) && strip < strips_of(row); ++strip) {
        const Submatrix box = strip_box(row, column, strip);
        total_flops_ += flops(files.a->type(), static_cast<double>(box.rows), static_cast<double>(box.columns),
                              static_cast<double>(product_.k));
      }
    }
  }
  is_ended_ = product_.m == 0 || product_.n == 0;
}

std::int64_t TileProgram::scratch_a_bytes(const Product& product, const Tiling& tiling) {
  return divide_up(product.m, tiling.tile_m) * divide_up(tiling.tile_m, tiling.strip) *
         divide_up(product.k, tiling.depth) * whole_pages(tiling.strip * tiling.depth, product.element_bytes);
}

std::int64_t TileProgram::scratch_b_bytes(const Product& product, const Tiling& tiling) {
  return divide_up(product.n, tiling.tile_n) * divide_up(product.k, tiling.depth) *
         whole_pages(tiling.depth * tiling.tile_n, product.element_bytes);
}

Submatrix TileProgram::strip_box(std::int64_t row, std::int64_t column, std::int64_t strip) const {
  const std::int64_t first = row * tiling_.tile_m + strip * tiling_.strip;
  const std::int64_t end = std::min({first + tiling_.strip, (row + 1) * tiling_.tile_m, product_.m});
  const std::int64_t left = column * tiling_.tile_n;
  return {.row = first, .column = left, .rows = end - first, .columns = std::min(tiling_.tile_n, product_.n - left)};
}

std::int64_t TileProgram::strips_of(std::int64_t row) const {
  return divide_up(std::min(tiling_.tile_m, product_.m - row * tiling_.tile_m), tiling_.strip);
}

/// A product of no terms has one layer, of depth 0.
std::int64_t TileProgram::layers() const {
  return std::max<std::int64_t>(divide_up(product_.k, tiling_.depth), 1);
}

Arrival TileProgram::arrival(const FileMatrix& matrix, const Submatrix& box, Slot slot, const File* scratch,
                             std::int64_t index, bool is_kept) const {
  if (scratch == nullptr || !is_kept) {
    return {.slot = slot, .transfer = matrix.transfer(box, slots_.bytes(slot).data(), Transfer::Kind::read)};
  }
  const std::span<std::byte> bytes = slots_.bytes(slot);
  return {
      .slot = slot,
      .transfer = {.kind = Transfer::Kind::read,
                   .file = scratch,
                   .offset = index * std::ssize(bytes),
                   .data = bytes.data(),
                   .run_bytes = static_cast<std::size_t>(whole_pages(box.rows * box.columns, product_.element_bytes))},
      .after = kept_};
}

std::optional<Parcel> TileProgram::keep(const char* name, const File* scratch, std::int64_t index, Slot slot,
                                        bool is_kept) const {
  if (scratch == nullptr || is_kept) {
    return std::nullopt;
  }
  const std::span<std::byte> bytes = slots_.bytes(slot);
  return Parcel{.label = fmt::format("keep {} {}", name, index),
                .uses = {slot, kept_},
                .outward = {{.kind = Transfer::Kind::write,
                             .file = scratch,
                             .offset = index * std::ssize(bytes),
                             .data = bytes.data(),
                             .run_bytes = bytes.size()}}};
}

std::optional<Parcel> TileProgram::next() {
  while (pending_.empty()) {
    if (place_.layer == 0 && place_.strip == 0) {
      skip_done_tiles(place_);
    }
    if (is_ended_ || place_.row == tile_rows_) {
      if (std::exchange(is_ended_, true)) {
        return std::nullopt;
      }
      return Parcel{.label = "C comes to the disk",
                    .changes = {finished_},
                    .outward = {{.kind = Transfer::Kind::sync, .file = &files_.c->file()}}};
    }
    if (place_.strip == 0) {
      push_ahead();
    }
    push_strip();
    if (++place_.strip == strips_of(place_.row)) {
      place_.strip = 0;
      if (++place_.layer == layers()) {
        end_tile();
      }
    }
  }
  Parcel parcel = std::move(pending_.front());
  pending_.pop_front();
  return parcel;
}

/// Goes on to the next tile that is to be made, or below the last row.
void TileProgram::skip_done_tiles(Position& tile) const {
  while (tile.row < tile_rows_ && done_.contains(tile.row * tile_columns_ + tile.column)) {
    to_next_tile(tile);
  }
}

void TileProgram::to_next_tile(Position& tile) const {
  if (++tile.column == tile_columns_) {
    tile.column = 0;
    ++tile.row;
  }
}

/// Before the strips of a layer: asks for a part of the layers that are read after those asked for last, so that all of
/// them are asked for by then; in the last layers of a tile, for the first of the next.
void TileProgram::push_ahead() {
  const std::int64_t group = files_.layers_ahead;
  if (group == 0) {
    return;
  }
  if (!std::exchange(has_begun_, true)) {
    prefetch(place_, 0, 0, 1);
  }
  const std::int64_t first = place_.layer / group * group;
  const std::int64_t parts = std::min(group, layers() - first);
  Position tile{.row = place_.row, .column = place_.column};
  if (first + group < layers()) {
    prefetch(tile, first + group, place_.layer - first, parts);
    return;
  }
  to_next_tile(tile);
  skip_done_tiles(tile);
  if (tile.row < tile_rows_) {
    prefetch(tile, 0, place_.layer - first, parts);
  }
}

/// Part `part` of `parts` of what a tile reads from the matrices' own files from a layer on.
void TileProgram::prefetch(const Position& tile, std::int64_t first_layer, std::int64_t part, std::int64_t parts) {
  const std::int64_t first = first_layer * tiling_.depth;
  const std::int64_t depth = std::min(files_.layers_ahead * tiling_.depth, product_.k - first);
  const std::int64_t row = tile.row * tiling_.tile_m;
  const std::int64_t column = tile.column * tiling_.tile_n;
  Parcel parcel{.label = fmt::format("C({},{}) asks for layer {}", tile.row, tile.column, first_layer)};
  const auto ask = [&](const FileMatrix& matrix, const Submatrix& whole) {
    const Submatrix box = part_of(matrix, whole, part, parts);
    if (box.rows > 0 && box.columns > 0) {
      parcel.outward.push_back(matrix.transfer(box, nullptr, Transfer::Kind::read_ahead));
    }
  };
  // What the tile under way keeps, the next one does not read again.
  const bool is_later = tile.row != place_.row || tile.column != place_.column;
  const bool shares_a = is_later && tile.row == place_.row && files_.scratch_a != nullptr;
  const bool shares_b = is_later && tile.column == place_.column && files_.scratch_b != nullptr;
  if (!shares_a && !a_is_kept_[static_cast<std::size_t>(tile.row)]) {
    ask(*files_.a, {.row = row, .column = first, .rows = std::min(tiling_.tile_m, product_.m - row), .columns = depth});
  }
  if (!shares_b && !b_is_kept_[static_cast<std::size_t>(tile.column)]) {
    ask(*files_.b,
        {.row = first, .column = column, .rows = depth, .columns = std::min(tiling_.tile_n, product_.n - column)});
  }
  if (!parcel.outward.empty()) {
    pending_.push_back(std::move(parcel));
  }
}

/// The parcel of the present place, and behind it those that keep its blocks for later.
void TileProgram::push_strip() {
  const Position at = place_;
  const Submatrix c_box = strip_box(at.row, at.column, at.strip);
  const std::int64_t first = at.layer * tiling_.depth;
  const std::int64_t depth = std::min(tiling_.depth, product_.k - first);
  const Submatrix a_box{.row = c_box.row, .column = first, .rows = c_box.rows, .columns = depth};
  const Submatrix b_box{.row = first, .column = c_box.column, .rows = depth, .columns = c_box.columns};
  const Slot c = c_slots_[static_cast<std::size_t>(at.strip)];
  Parcel parcel{.label = fmt::format("C({},{}) strip {} layer {}", at.row, at.column, at.strip, at.layer),
                .changes = {c}};
  if (at.layer == 0 && files_.c_before != nullptr) {
    parcel.inward.push_back({c, files_.c_before->transfer(c_box, slots_.bytes(c).data(), Transfer::Kind::read)});
  }
  Slot a = c;
  std::vector<Parcel> keeping;
  if (depth > 0) {
    const auto row = static_cast<std::size_t>(at.row);
    const auto column = static_cast<std::size_t>(at.column);
    const std::int64_t a_index = (at.row * divide_up(tiling_.tile_m, tiling_.strip) + at.strip) * layers() + at.layer;
    const std::int64_t b_index = at.column * layers() + at.layer;
    if (at.strip == 0) {
      b_slot_ = b_turns_.take();
      parcel.inward.push_back(arrival(*files_.b, b_box, b_slot_, files_.scratch_b, b_index, b_is_kept_[column]));
      if (auto kept = keep("B", files_.scratch_b, b_index, b_slot_, b_is_kept_[column])) {
        keeping.push_back(*std::move(kept));
      }
    } else {
      parcel.uses.push_back(b_slot_);
    }
    a = a_turns_.take();
    parcel.inward.push_back(arrival(*files_.a, a_box, a, files_.scratch_a, a_index, a_is_kept_[row]));
    if (auto kept = keep("A", files_.scratch_a, a_index, a, a_is_kept_[row])) {
      keeping.push_back(*std::move(kept));
    }
  }
  parcel.work = [this, at, a_box, a, b_box, b = b_slot_] { multiply_strip(at, a_box, a, b_box, b); };
  if (at.layer + 1 == layers()) {
    parcel.uses.push_back(finished_);
    parcel.outward.push_back(files_.c->transfer(c_box, slots_.bytes(c).data(), Transfer::Kind::write));
  }
  pending_.push_back(std::move(parcel));
  std::move(keeping.begin(), keeping.end(), std::back_inserter(pending_));
}

void TileProgram::end_tile() {
  const auto strips = static_cast<std::size_t>(strips_of(place_.row));
  pending_.push_back({.label = fmt::format("C({},{}) is complete", place_.row, place_.column),
                      .changes = {finished_},
                      .work = [this, tile = place_.row * tile_columns_ + place_.column, strips] {
                        const std::uint64_t sum = checksum(std::as_bytes(std::span(sums_).first(strips)));
                        journal_.add(piece, tile, {&sum, 1});
                      }});
  const auto row = static_cast<std::size_t>(place_.row);
  const auto column = static_cast<std::size_t>(place_.column);
  if ((files_.scratch_a != nullptr && !a_is_kept_[row]) || (files_.scratch_b != nullptr && !b_is_kept_[column])) {
    pending_.push_back({.label = "scratch is complete", .changes = {kept_}});
  }
  a_is_kept_[row] = files_.scratch_a != nullptr;
  b_is_kept_[column] = files_.scratch_b != nullptr;
  place_.layer = 0;
  to_next_tile(place_);
}

void TileProgram::multiply_strip(const Position& place, const Submatrix& a_box, Slot a, const Submatrix& b_box,
                                 Slot b) {
  Scalars scalars = scalars_;
  if (place.layer > 0) {
    scalars.beta = 1;
  } else if (files_.c_before == nullptr) {
    scalars.beta = 0;
  }
  const npy::DataType type = files_.a->type();
  const std::span<std::byte> c = slots_.bytes(c_slots_[static_cast<std::size_t>(place.strip)]);
  multiply(type, a_box.rows, b_box.columns, a_box.columns, scalars, files_.a->block(a_box, slots_.bytes(a).data()),
           files_.b->block(b_box, slots_.bytes(b).data()), c.data(), b_box.columns);
  if (place.layer + 1 == layers()) {
    const auto bytes = static_cast<std::size_t>(a_box.rows * b_box.columns * product_.element_bytes);
    sums_[static_cast<std::size_t>(place.strip)] = checksum(c.first(bytes));
  }
  done_flops_.fetch_add(flops(type, static_cast<double>(a_box.rows), static_cast<double>(b_box.columns),
                              static_cast<double>(a_box.columns)),
                        std::memory_order_relaxed);
}

std::uint64_t TileProgram::checksum_in_file(std::int64_t tile, const percolate::Slots& slots) const {
  std::vector<std::uint64_t> sums;
  for (std::int64_t strip = 0; strip < strips_of(tile / tile_columns_); ++strip) {
    const Submatrix box = strip_box(tile / tile_columns_, tile % tile_columns_, strip);
    const std::span<std::byte> bytes =
        slots.bytes(c_slots_.front()).first(static_cast<std::size_t>(box.rows * box.columns * product_.element_bytes));
    const Transfer transfer = files_.c->transfer(box, bytes.data(), Transfer::Kind::read);
    for (std::size_t run = 0; run < transfer.runs; ++run) {
      const auto at = static_cast<std::int64_t>(run);
      files_.c->file().read(transfer.offset + at * transfer.file_pitch,
                            std::span(transfer.data + at * transfer.memory_pitch, transfer.run_bytes));
    }
    sums.push_back(checksum(bytes));
  }
  return checksum(std::as_bytes(std::span(sums)));
}

}  // namespace penstock::gemm
