// What PENSTOCK_MPI=stats counts, per distinct layout, and the table of it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "penstock/layout/layout.hpp"

namespace penstock::interpose {

/// The uses of all types of one layout. Thread-safe.
struct Tally {
  /// Seconds spent on reading the type and on choosing and compiling its movers.
  void add_preparation(double seconds);

  /// `count` elements at `user` were packed into `bytes` bytes in so many seconds. Now and then has MPI pack them, too.
  void add_pack(std::int64_t bytes, double seconds, std::int64_t count, const void* user);

  /// The first `bytes` packed bytes of `count` elements were unpacked to `user`. Now and then has MPI unpack them, too,
  /// to where they already are.
  void add_unpack(std::int64_t bytes, double seconds, std::int64_t count, const std::byte* packed, void* user);

  /// One direction's sums, and those of the uses that MPI repeated.
  struct Sums {
    std::int64_t uses = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    std::int64_t mpi_bytes = 0;
    double mpi_seconds = 0;

    /// What MPI would have taken for all bytes, at the rate of the sampled uses; 0 without any.
    double estimated_mpi_seconds() const noexcept;
    bool is_sample_due() const noexcept;
  };

  layout::Layout element;
  std::int64_t extent = 0;
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;  // our own duplicate, for MPI's share
  std::mutex mutex;
  double preparation_s = 0;
  Sums packed;
  Sums unpacked;
};

/// All tallies of the process. Thread-safe.
class Tallies {
 public:
  /// The tally of all types of this layout and extent; `type` is one of them. Valid as long as this object.
  Tally& of(const layout::Layout& element, std::int64_t extent, MPI_Datatype type);

  /// The table, a line per layout that was used, most bytes first.
  std::string table();

  /// Frees the duplicates of datatypes, before MPI ends; nothing is sampled from then on.
  void free_types() noexcept;

 private:
  std::mutex mutex_;
  std::list<Tally> tallies_;
};

}  // namespace penstock::interpose
