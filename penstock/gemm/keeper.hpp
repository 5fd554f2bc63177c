// How a matrix goes from its own file to a scratch file of blocks, in the order in which a product uses these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "penstock/gemm/file_matrix.hpp"
#include "penstock/gemm/work_grid.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::gemm {

/// A dimension cut into parts of `step`, the last one less.
struct Cut {
  std::int64_t extent = 0;
  std::int64_t step = 1;

  std::int64_t parts() const noexcept { return (extent + step - 1) / step; }
  std::int64_t begin(std::int64_t part) const noexcept { return std::min(part * step, extent); }
  std::int64_t end(std::int64_t part) const noexcept { return begin(part + 1); }
  std::int64_t length(std::int64_t part) const noexcept { return end(part) - begin(part); }
};

/// The blocks of op(A) or op(B): `outer` cuts A's rows or B's columns, `layers` what both share. In the scratch file
/// each lies as FileMatrix::transfer brings it to memory; block (o, l) is number o * layers.parts() + l.
///
/// Lines of the matrix's file, whole or in pieces, arrive as many as a slot takes and leave for all blocks that they
/// cross: runs are long on both sides, however narrow the blocks are.
class Keeper {
 public:
  /// The files must outlive it. Blocks are `block_bytes` apart in the scratch file.
  Keeper(const FileMatrix& matrix, const File* scratch, Factor factor, Cut outer, Cut layers, std::int64_t block_bytes);

  /// Whether a line lies in all layers of one outer part; else in all outer parts of one layer.
  bool has_lines_along_layers() const noexcept { return has_lines_along_layers_; }

  /// The outer parts (or layers, where lines lie across them) from `first` to `end` are to be kept next.
  void want(std::int64_t first, std::int64_t end);
  /// How many parcels that will take with slots of so many bytes.
  std::int64_t parcels_left(std::size_t slot_bytes) const;
  /// The next of them, by way of `slot`, whose memory is `bytes`; there is one left. Uses `token`.
  percolate::Parcel next(percolate::Slot slot, std::span<std::byte> bytes, percolate::Slot token);

 private:
  struct Parts {
    std::int64_t next;
    std::int64_t end;
  };
  std::int64_t piece_length(std::size_t slot_bytes) const;
  std::int64_t lines_at_once(std::size_t slot_bytes) const;
  percolate::Transfer arrival(std::int64_t lines, std::int64_t length, std::byte* to) const;
  std::vector<percolate::Transfer> departures(std::int64_t lines, std::int64_t length, std::byte* from) const;

  const FileMatrix* matrix_;
  const File* scratch_;
  Factor factor_;
  bool has_lines_along_layers_;
  Cut across_;  // the lines: of A's rows or B's columns where these lie along the layers, else of the layers
  Cut along_;   // their elements: of the other
  std::int64_t block_bytes_;
  std::int64_t element_bytes_;
  std::deque<Parts> wanted_;  // parts of `across_`
  // What comes next of the first of them.
  std::int64_t line_ = 0;
  std::int64_t from_ = 0;
};

}  // namespace penstock::gemm
