// The counts of PENSTOCK_MPI=stats for each distinct layout, and their table.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "penstock/layout/layout.hpp"

namespace penstock::interpose {

/// The uses of all types that have one layout. Thread-safe.
struct Tally {
  /// Adds seconds that were spent on reading a type and on choosing and compiling its movers.
  void add_preparation(double seconds);

  /// Adds a use: `count` elements at `user` were packed into `bytes` bytes in `seconds`. Some uses are a sample: MPI
  /// packs the same elements too, and is timed.
  void add_pack(std::int64_t bytes, double seconds, std::int64_t count, const void* user);

  /// Adds a use: the first `bytes` packed bytes of `count` elements were unpacked to `user`. In a sample MPI unpacks
  /// them too, to where they already are.
  void add_unpack(std::int64_t bytes, double seconds, std::int64_t count, const std::byte* packed, void* user);

  /// Whether MPI repeats the use of this number, counted from 1.
  static bool is_sample_due(std::int64_t use) noexcept {
    // The second use is the first one with warm caches, here and there; then often enough to follow changes for some 2%
    // of the time.
    return use == 2 || use % 64 == 0;
  }

  /// The sums of one direction, and of the uses that MPI repeated.
  struct Sums {
    std::int64_t uses = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
    std::int64_t mpi_bytes = 0;
    double mpi_seconds = 0;

    /// The seconds that MPI would have taken for all bytes, at the rate of the samples; 0 without samples.
    double estimated_mpi_seconds() const noexcept;
    bool is_sample_due() const noexcept { return Tally::is_sample_due(uses); }
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
  /// The tally of all types with this layout and extent; `type` is one of them. The reference is valid as long as this
  /// object.
  Tally& of(const layout::Layout& element, std::int64_t extent, MPI_Datatype type);

  /// Adds an exchange of `bytes` bytes that this rank sent, and the seconds that MPI took for it; 0 where MPI did not
  /// repeat it.
  void add_exchange(std::int64_t bytes, double seconds, double mpi_seconds);

  /// The table: a line for each layout that was used, the most bytes first, and one for all exchanges.
  std::string table();

  /// Frees the duplicates of datatypes before MPI ends; no use is sampled after that.
  void free_types() noexcept;

 private:
  std::mutex mutex_;
  std::list<Tally> tallies_;
  Tally::Sums exchanges_;
};

}  // namespace penstock::interpose
