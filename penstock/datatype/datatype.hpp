// Reads MPI datatypes into layouts. Empty in a build without MPI.
#pragma once

#include "penstock/base/config.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>

#include <cstdint>

#include "penstock/layout/layout.hpp"

namespace penstock::datatype {

/// What an MPI datatype names: the bytes of one element relative to the buffer's address, in the order of MPI_Pack, and
/// the distance in bytes from one element of a buffer to the next.
struct Description {
  layout::Layout element;
  std::int64_t extent = 0;

  /// The bytes of `count` elements. Throws Error for a negative count, or where they do not fit a layout.
  layout::Layout of(std::int64_t count) const;
};

/// Reads what `type` was constructed from; it need not be committed and stays the caller's. Any constructor, nested up
/// to `deepest_nesting` times. MPI must be initialised; thread-safe where MPI was initialised for several threads.
/// Throws Error for MPI_DATATYPE_NULL, for a constructor that it does not know, for a layout's limits (more than 2^62
/// bytes away), and where MPI fails and was told to return its errors.
Description describe(MPI_Datatype type);

/// Which constructor made `type`, one of MPI_COMBINER_...; MPI_UNDEFINED where MPI does not say. Also for types made
/// with large counts, of which MPI's older call makes an error.
int combiner_of(MPI_Datatype type) noexcept;

/// How many constructors may stand around one another: what the stack of a thread has room for.
inline constexpr int deepest_nesting = 1000;

}  // namespace penstock::datatype
#endif
