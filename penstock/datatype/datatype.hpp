// Reads MPI datatypes into layouts. Empty in a build without MPI.
#pragma once

#include "penstock/base/config.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "penstock/layout/layout.hpp"

#pragma GCC visibility push(default)

namespace penstock::datatype {

/// What an MPI datatype names: the bytes of one element relative to the buffer's address, in the order of MPI_Pack, and
/// the distance in bytes from one element of a buffer to the next.
struct Description {
  layout::Layout element;
  std::int64_t extent = 0;

  /// The bytes of `count` elements. Throws Error for a negative count, and beyond the limits of Layout.
  layout::Layout of(std::int64_t count) const;
};

/// Describes `type` by the constructors that it was made with, which may be nested up to `deepest_nesting` times.
/// `type` need not be committed and stays the caller's. MPI must be initialised; thread-safe where MPI was initialised
/// for several threads. Throws Error for MPI_DATATYPE_NULL, for an unknown constructor, for deeper nesting, beyond the
/// limits of Layout (2^62 bytes away), and where MPI fails and was told to return its errors.
Description describe(MPI_Datatype type);

/// The predefined datatypes that `type` is made of, each once. Throws Error as describe does.
std::vector<MPI_Datatype> basics_of(MPI_Datatype type);

/// The constructor that made `type`, one of MPI_COMBINER_...; MPI_UNDEFINED where MPI reports none. Works also for
/// types made with large counts, for which MPI_Type_get_envelope returns an error.
int combiner_of(MPI_Datatype type) noexcept;

/// The maximum number of constructors nested in one another: what the stack of a thread has room for.
inline constexpr int deepest_nesting = 1000;

}  // namespace penstock::datatype

#pragma GCC visibility pop
#endif
