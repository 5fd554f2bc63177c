// MPI datatypes that packed bytes travel as.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

namespace penstock::interpose {

/// The last bytes of a message that travels gapped lie so much further on, and are as many.
inline constexpr std::int64_t gap_bytes = 64;

/// Committed datatypes by their size, made once and kept until MPI ends. Thread-safe.
class WireTypes {
 public:
  // The longest messages that travel through shared memory at once, gap or not: Open MPI's btl_vader_eager_limit of
  // 4096 bytes less its headers, and 8 KiB in MPICH over UCX, measured. With a gap these are slower.
#ifdef OPEN_MPI
  static constexpr std::int64_t max_eager_bytes = 4096 - 128;
#else
  static constexpr std::int64_t max_eager_bytes = 8192;
#endif

  WireTypes();

  /// Whether packed messages of so many bytes should be sent and received with a gap: see
  /// docs/decisions/mpi-datatypes.md. Where all ranks share a node, both MPIs move what is not contiguous through
  /// shared memory at cache speed, but have the kernel copy what is (CMA), page by page.
  bool is_gap_faster(std::int64_t bytes) const noexcept {
    return are_gaps_faster_ && bytes > max_eager_bytes;
  }

  /// `bytes` bytes of which the last `gap_bytes` begin `gap_bytes` later than they would; MPI_DATATYPE_NULL where MPI
  /// makes none, or after too many sizes.
  MPI_Datatype gapped(std::int64_t bytes) noexcept {
    return find_or_make(gapped_, bytes, true);
  }

  /// An element of `bytes` contiguous bytes; MPI_DATATYPE_NULL as above.
  MPI_Datatype contiguous(std::int64_t bytes) noexcept {
    return find_or_make(contiguous_, bytes, false);
  }

  /// Frees all of them, before MPI ends.
  void free_all() noexcept;

 private:
  using BySize = std::unordered_map<std::int64_t, MPI_Datatype>;

  static constexpr std::size_t max_types = 4096;

  MPI_Datatype find_or_make(BySize& types, std::int64_t bytes, bool has_gap) noexcept;

  const bool are_gaps_faster_;
  std::shared_mutex mutex_;
  BySize gapped_;
  BySize contiguous_;
};

}  // namespace penstock::interpose
