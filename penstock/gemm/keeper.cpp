// Groups of whole lines: one run on the way to memory, and for each block that they cross a few rows of it on the way
// out.
#include "penstock/gemm/keeper.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "penstock/model/model.hpp"

namespace penstock::gemm {

using model::ceiling;
using percolate::Parcel;
using percolate::Slot;
using percolate::Transfer;

Keeper::Keeper(const FileMatrix& matrix, const File* scratch, Factor factor, Cut outer, Cut layers,
               std::int64_t block_bytes)
    : matrix_(&matrix),
      scratch_(scratch),
      factor_(factor),
      // Neighbours in the file are neighbours in a row of A or in a column of B.
      has_lines_along_layers_((factor == Factor::a) != matrix.is_transposed()),
      across_(has_lines_along_layers_ ? outer : layers),
      along_(has_lines_along_layers_ ? layers : outer),
      block_bytes_(block_bytes),
      element_bytes_(npy::element_bytes(matrix.type())) {}

void Keeper::want(std::int64_t first, std::int64_t end) {
  if (first < end && across_.extent > 0 && along_.extent > 0) {
    wanted_.push_back({.next = first, .end = end});
  }
}

/// So many elements of each line that runs are about as long on the way in as on the way out: where r bytes of each
/// arrive in a slot of s, blocks of rows of b bytes get s / r b bytes at a time, so that r is the root of s b.
std::int64_t Keeper::piece_length(std::size_t slot_bytes) const {
  const auto row = static_cast<double>(std::min(along_.step, along_.extent));
  const auto slot = static_cast<double>(slot_bytes) / static_cast<double>(element_bytes_);
  const auto rows = static_cast<std::int64_t>(std::round(std::sqrt(slot / row)));
  return std::clamp<std::int64_t>(rows * along_.step, 1, std::min(along_.extent, static_cast<std::int64_t>(slot)));
}

std::int64_t Keeper::lines_at_once(std::size_t slot_bytes) const {
  return std::max<std::int64_t>(static_cast<std::int64_t>(slot_bytes) / element_bytes_ / piece_length(slot_bytes), 1);
}

std::int64_t Keeper::parcels_left(std::size_t slot_bytes) const {
  if (wanted_.empty()) {
    return 0;
  }
  const std::int64_t length = piece_length(slot_bytes);
  const std::int64_t lines = lines_at_once(slot_bytes);
  const std::int64_t pieces = ceiling(along_.extent, length);
  std::int64_t count = -(line_ / lines * pieces + from_ / length);
  for (const Parts& parts : wanted_) {
    for (std::int64_t part = parts.next; part < parts.end; ++part) {
      count += ceiling(across_.length(part), lines) * pieces;
    }
  }
  return count;
}

Parcel Keeper::next(Slot slot, std::span<std::byte> bytes, Slot token) {
  Parts& parts = wanted_.front();
  const std::int64_t length = std::min(piece_length(bytes.size()), along_.extent - from_);
  const std::int64_t lines = std::min(lines_at_once(bytes.size()), across_.length(parts.next) - line_);
  Parcel parcel{
      .label = fmt::format("keep {}, lines {} of part {}", factor_ == Factor::a ? "A" : "B", line_, parts.next),
      .inward = {{.slot = slot, .transfer = arrival(lines, length, bytes.data())}},
      .uses = {token},
      .outward = departures(lines, length, bytes.data())};
  from_ += length;
  if (from_ == along_.extent) {
    from_ = 0;
    line_ += lines;
  }
  if (line_ == across_.length(parts.next)) {
    line_ = 0;
    if (++parts.next == parts.end) {
      wanted_.pop_front();
    }
  }
  return parcel;
}

Transfer Keeper::arrival(std::int64_t lines, std::int64_t length, std::byte* to) const {
  const std::int64_t line = across_.begin(wanted_.front().next) + line_;
  const bool are_rows = !matrix_->is_transposed();
  return matrix_->transfer(are_rows ? Box{.row = line, .column = from_, .rows = lines, .columns = length}
                                    : Box{.row = from_, .column = line, .rows = length, .columns = lines},
                           to, Transfer::Kind::read);
}

std::vector<Transfer> Keeper::departures(std::int64_t lines, std::int64_t length, std::byte* from) const {
  std::vector<Transfer> departures;
  const std::int64_t part = wanted_.front().next;
  const std::int64_t end = from_ + length;
  for (std::int64_t block = from_ / along_.step; along_.begin(block) < end; ++block) {
    const std::int64_t first = std::max(along_.begin(block), from_);
    const std::int64_t line_bytes = along_.length(block) * element_bytes_;
    const std::int64_t number =
        has_lines_along_layers_ ? part * along_.parts() + block : block * across_.parts() + part;
    departures.push_back(
        {.kind = Transfer::Kind::write,
         .file = scratch_,
         .offset = number * block_bytes_ + line_ * line_bytes + (first - along_.begin(block)) * element_bytes_,
         .data = from + (first - from_) * element_bytes_,
         .run_bytes = static_cast<std::size_t>((std::min(along_.end(block), end) - first) * element_bytes_),
         .runs = static_cast<std::size_t>(lines),
         .file_pitch = line_bytes,
         .memory_pitch = length * element_bytes_});
  }
  return departures;
}

}  // namespace penstock::gemm
