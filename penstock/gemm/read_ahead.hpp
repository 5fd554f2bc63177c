// Prefetch of inputs into the page cache: the blocks of several layers together, in longer runs than those of one
// layer.
#pragma once

#include <cstdint>

#include "penstock/gemm/file_matrix.hpp"
#include "penstock/model/model.hpp"
#include "penstock/percolate/percolate.hpp"

namespace penstock::gemm {

/// The layers of a tile that the system is asked for in one go, where its page cache has `cache_bytes` bytes for what
/// is asked for and not yet read; 0 where that is too little.
std::int64_t layers_ahead(const model::Product& product, const model::Tiling& tiling, std::uint64_t cache_bytes);

/// The lines of a box in its matrix's file: its rows, or its columns where the matrix is transposed.
std::int64_t lines_of(const FileMatrix& matrix, const Submatrix& box) noexcept;

/// Part `part` of `parts` of a box, cut between its lines. It may be empty.
Submatrix part_of(const FileMatrix& matrix, Submatrix box, std::int64_t part, std::int64_t parts) noexcept;

/// Bytes a second at which a box comes from the file in blocks of so many rows and columns; asked for as a whole first,
/// if `is_asked_for`. Throws Error where it does not come.
double rate_of_blocks(percolate::Engine& engine, const FileMatrix& matrix, const Submatrix& box, std::int64_t rows,
                      std::int64_t columns, bool is_asked_for);

}  // namespace penstock::gemm
