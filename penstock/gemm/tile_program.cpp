// The parcels of a tile of C: for each depth a panel of B arrives with the first strip's block of A; each strip is
// multiplied as soon as its block is there; after the last depth it leaves, and when all have left the journal is told.
// Between them are those that bring to the scratch files what comes next.
#include "penstock/gemm/tile_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/base/checksum.hpp"

namespace penstock::gemm {

using model::ceiling;
using percolate::Arrival;
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

/// Layers of a matrix whose lines lie across them that are in the scratch file before they are used: one that arrives
/// and one that is written.
constexpr std::int64_t layers_ahead = 2;

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
      tile_rows_(ceiling(product_.m, tiling.tile_m)),
      tile_columns_(ceiling(product_.n, tiling.tile_n)) {
  const std::int64_t width = product_.element_bytes;
  const std::int64_t strips = ceiling(tiling.tile_m, tiling.strip);
  c_slots_ = take_slots(slots, "C", strips, tiling.strip * tiling.tile_n * width);
  b_turns_.slots = take_slots(slots, "B", model::panels_of_b, model::block_bytes(tiling.depth * tiling.tile_n, width));
  a_turns_.slots =
      take_slots(slots, "A", model::blocks_of_a(threads), model::block_bytes(tiling.strip * tiling.depth, width));
  line_turns_.slots = take_slots(slots, "lines", model::groups_of_lines, model::group_bytes(product_, tiling));
  finished_ = slots.token("tile");
  kept_ = slots.token("scratch");
  const Cut layers{.extent = product_.k, .step = tiling.depth};
  const auto keep = [&](std::optional<Keeping>& keeping, const FileMatrix& matrix, const File* scratch, Factor factor,
                        const Cut& outer, Slot slot, std::int64_t tiles) {
    if (scratch != nullptr) {
      keeping.emplace(Keeper(matrix, scratch, factor, outer, layers, std::ssize(slots.bytes(slot))),
                      std::vector<bool>(static_cast<std::size_t>(tiles)));
    }
  };
  keep(keeping_a_, *files.a, files.scratch_a, Factor::a, {.extent = product_.m, .step = tiling.strip},
       a_turns_.slots.front(), tile_rows_);
  keep(keeping_b_, *files.b, files.scratch_b, Factor::b, {.extent = product_.n, .step = tiling.tile_n},
       b_turns_.slots.front(), tile_columns_);
  sums_.resize(static_cast<std::size_t>(strips));
  for (std::int64_t row = 0; row < tile_rows_; ++row) {
    for (std::int64_t column = 0; column < tile_columns_; ++column) {
      for (std::int64_t strip = 0; !done_.contains(row * tile_columns_ + column) && strip < strips_of(row); ++strip) {
        const Box box = strip_box(row, column, strip);
        total_flops_ += flops(files.a->type(), static_cast<double>(box.rows), static_cast<double>(box.columns),
                              static_cast<double>(product_.k));
      }
    }
  }
  is_ended_ = product_.m == 0 || product_.n == 0;
}

std::int64_t TileProgram::scratch_a_bytes(const Product& product, const Tiling& tiling) {
  return ceiling(product.m, tiling.tile_m) * ceiling(tiling.tile_m, tiling.strip) * ceiling(product.k, tiling.depth) *
         model::block_bytes(tiling.strip * tiling.depth, product.element_bytes);
}

std::int64_t TileProgram::scratch_b_bytes(const Product& product, const Tiling& tiling) {
  return ceiling(product.n, tiling.tile_n) * ceiling(product.k, tiling.depth) *
         model::block_bytes(tiling.depth * tiling.tile_n, product.element_bytes);
}

Box TileProgram::strip_box(std::int64_t row, std::int64_t column, std::int64_t strip) const {
  const std::int64_t first = row * tiling_.tile_m + strip * tiling_.strip;
  const std::int64_t end = std::min({first + tiling_.strip, (row + 1) * tiling_.tile_m, product_.m});
  const std::int64_t left = column * tiling_.tile_n;
  return {.row = first, .column = left, .rows = end - first, .columns = std::min(tiling_.tile_n, product_.n - left)};
}

std::int64_t TileProgram::strips_of(std::int64_t row) const {
  return ceiling(std::min(tiling_.tile_m, product_.m - row * tiling_.tile_m), tiling_.strip);
}

/// A product of no terms has one layer, of depth 0.
std::int64_t TileProgram::layers() const {
  return std::max<std::int64_t>(ceiling(product_.k, tiling_.depth), 1);
}

Arrival TileProgram::arrival(const FileMatrix& matrix, const Box& box, Slot slot, const File* scratch,
                             std::int64_t index) const {
  const std::span<std::byte> bytes = slots_.bytes(slot);
  if (scratch == nullptr) {
    return {.slot = slot, .transfer = matrix.transfer(box, bytes.data(), Transfer::Kind::read)};
  }
  return {.slot = slot,
          .transfer = {.kind = Transfer::Kind::read,
                       .file = scratch,
                       .offset = index * std::ssize(bytes),
                       .data = bytes.data(),
                       .run_bytes = static_cast<std::size_t>(
                           model::block_bytes(box.rows * box.columns, product_.element_bytes))},
          .after = kept_};
}

std::optional<Parcel> TileProgram::next() {
  while (pending_.empty()) {
    if (is_ended_ || !skip_done_tiles()) {
      if (std::exchange(is_ended_, true)) {
        return std::nullopt;
      }
      return Parcel{.label = "C comes to the disk",
                    .changes = {finished_},
                    .outward = {{.kind = Transfer::Kind::sync, .file = &files_.c->file()}}};
    }
    if (keep_first()) {
      continue;
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

/// The tile from that of `place` on which is to be made; beyond the last row where there is none.
TileProgram::Place TileProgram::to_make(Place place) const {
  while (place.row < tile_rows_ && done_.contains(place.row * tile_columns_ + place.column)) {
    place = after(place);
  }
  return place;
}

TileProgram::Place TileProgram::after(Place tile) const {
  const bool is_last = tile.column + 1 == tile_columns_;
  return {.row = is_last ? tile.row + 1 : tile.row, .column = is_last ? 0 : tile.column + 1};
}

/// Goes on to the next tile that is to be made; false where there is none.
bool TileProgram::skip_done_tiles() {
  if (place_.layer == 0 && place_.strip == 0) {
    place_ = to_make(place_);
  }
  return place_.row < tile_rows_;
}

/// Brings to the scratch files what the first tile begins with, a parcel at a time; false when that is done.
bool TileProgram::keep_first() {
  if (has_begun_) {
    return false;
  }
  const std::array<std::optional<Keeping>*, 2> keepings{&keeping_a_, &keeping_b_};
  if (!std::exchange(has_wanted_, true)) {
    want_for(place_);
    for (std::optional<Keeping>* keeping : keepings) {
      if (*keeping && !(*keeping)->keeper.has_lines_along_layers()) {
        (*keeping)->keeper.want(0, std::min(layers_ahead, layers()));
      }
    }
  }
  for (std::optional<Keeping>* keeping : keepings) {
    if (*keeping && left((*keeping)->keeper, a_turns_) > 0) {
      keep((*keeping)->keeper, 1, a_turns_);
      return true;
    }
  }
  has_begun_ = is_first_tile_ = true;
  tell_of_kept();
  return false;
}

/// What goes to the scratch files from now on: what the next tile needs, or the next row, and these do not have. Of a
/// matrix whose lines lie across the layers all goes with the first tile, a layer at a time.
void TileProgram::want_for_later() {
  for (const Place next : {to_make(after(place_)), to_make({.row = place_.row + 1})}) {
    if (next.row < tile_rows_) {
      want_for(next);
    }
  }
}

void TileProgram::want_for(const Place& tile) {
  const auto want = [](std::optional<Keeping>& keeping, std::int64_t of, std::int64_t first, std::int64_t end) {
    if (keeping && keeping->keeper.has_lines_along_layers() && !keeping->has[static_cast<std::size_t>(of)]) {
      keeping->has[static_cast<std::size_t>(of)] = true;
      keeping->keeper.want(first, end);
    }
  };
  const std::int64_t first_strip = tile.row * ceiling(tiling_.tile_m, tiling_.strip);
  want(keeping_a_, tile.row, first_strip, first_strip + strips_of(tile.row));
  want(keeping_b_, tile.column, tile.column, tile.column + 1);
}

/// A strip's part of what goes to the scratch files until it is needed: of A until the next row of tiles, of B until
/// the next tile, or of either until the layer after the next.
void TileProgram::keep_some() {
  const std::int64_t strips = strips_of(place_.row);
  const std::int64_t in_layer = strips - place_.strip;
  const std::int64_t in_tile = in_layer + (layers() - 1 - place_.layer) * strips;
  std::int64_t in_row = in_tile;
  for (Place tile = to_make(after(place_)); tile.row == place_.row; tile = to_make(after(tile))) {
    in_row += layers() * strips;
  }
  const auto keep_part = [&](std::optional<Keeping>& keeping, std::int64_t strips_left) {
    if (!keeping) {
      return;
    }
    Keeper& keeper = keeping->keeper;
    if (!keeper.has_lines_along_layers()) {
      const std::int64_t layer = place_.layer + layers_ahead;
      if (is_first_tile_ && place_.strip == 0 && layer < layers()) {
        keeper.want(layer, layer + 1);
      }
      strips_left = in_layer;
    }
    keep(keeper, ceiling(left(keeper, line_turns_), strips_left), line_turns_);
  };
  keep_part(keeping_a_, in_row);
  keep_part(keeping_b_, in_tile);
  if (place_.strip == 0) {
    tell_of_kept();
  }
}

void TileProgram::keep(Keeper& keeper, std::int64_t parcels, Turns& turns) {
  for (std::int64_t i = 0; i < parcels; ++i) {
    const Slot slot = turns.take();
    pending_.push_back(keeper.next(slot, slots_.bytes(slot), kept_));
    has_kept_ = true;
  }
}

/// What arrives from the scratch files from here on comes after all that was kept before.
void TileProgram::tell_of_kept() {
  if (std::exchange(has_kept_, false)) {
    pending_.push_back({.label = "scratch is complete so far", .changes = {kept_}});
  }
}

/// The parcel of the present place, and behind it some that keep what is wanted later.
void TileProgram::push_strip() {
  const Place at = place_;
  if (at.layer == 0 && at.strip == 0) {
    want_for_later();
  }
  const Box c_box = strip_box(at.row, at.column, at.strip);
  const std::int64_t first = at.layer * tiling_.depth;
  const std::int64_t depth = std::min(tiling_.depth, product_.k - first);
  const Box a_box{.row = c_box.row, .column = first, .rows = c_box.rows, .columns = depth};
  const Box b_box{.row = first, .column = c_box.column, .rows = depth, .columns = c_box.columns};
  const Slot c = c_slots_[static_cast<std::size_t>(at.strip)];
  Parcel parcel{.label = fmt::format("C({},{}) strip {} layer {}", at.row, at.column, at.strip, at.layer),
                .changes = {c}};
  if (at.layer == 0 && files_.c_before != nullptr) {
    parcel.inward.push_back({c, files_.c_before->transfer(c_box, slots_.bytes(c).data(), Transfer::Kind::read)});
  }
  Slot a = c;
  if (depth > 0) {
    if (at.strip == 0) {
      b_slot_ = b_turns_.take();
      parcel.inward.push_back(arrival(*files_.b, b_box, b_slot_, files_.scratch_b, at.column * layers() + at.layer));
    } else {
      parcel.uses.push_back(b_slot_);
    }
    a = a_turns_.take();
    const std::int64_t strip = at.row * ceiling(tiling_.tile_m, tiling_.strip) + at.strip;
    parcel.inward.push_back(arrival(*files_.a, a_box, a, files_.scratch_a, strip * layers() + at.layer));
  }
  parcel.work = [this, at, a_box, a, b_box, b = b_slot_] { multiply_strip(at, a_box, a, b_box, b); };
  if (at.layer + 1 == layers()) {
    parcel.uses.push_back(finished_);
    parcel.outward.push_back(files_.c->transfer(c_box, slots_.bytes(c).data(), Transfer::Kind::write));
  }
  pending_.push_back(std::move(parcel));
  keep_some();
}

void TileProgram::end_tile() {
  const auto strips = static_cast<std::size_t>(strips_of(place_.row));
  pending_.push_back({.label = fmt::format("C({},{}) is complete", place_.row, place_.column),
                      .changes = {finished_},
                      .work = [this, tile = place_.row * tile_columns_ + place_.column, strips] {
                        const std::uint64_t sum = checksum(std::as_bytes(std::span(sums_).first(strips)));
                        journal_.add(piece, tile, {&sum, 1});
                      }});
  tell_of_kept();
  is_first_tile_ = false;
  place_ = after(place_);
}

void TileProgram::multiply_strip(const Place& place, const Box& a_box, Slot a, const Box& b_box, Slot b) {
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
    const Box box = strip_box(tile / tile_columns_, tile % tile_columns_, strip);
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
