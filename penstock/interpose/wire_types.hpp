// The MPI datatypes as which packed bytes are sent and received.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <shared_mutex>
#include <unordered_map>

namespace penstock::interpose {

/// The gap of a message that travels gapped: its last `gap_bytes` bytes lie `gap_bytes` further on.
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

  /// Whether packed messages of `bytes` bytes should be sent and received with a gap: see
  /// docs/decisions/mpi-datatypes.md. Where all ranks share a node, Open MPI and MPICH move data that are not
  /// contiguous through shared memory at cache speed, but have the kernel copy contiguous data (CMA), page by page.
  bool is_gap_faster(std::int64_t bytes) const noexcept {
    return are_gaps_faster_ && bytes > max_eager_bytes;
  }

  /// A datatype of `bytes` bytes, of which the last `gap_bytes` lie `gap_bytes` further on. MPI_DATATYPE_NULL where MPI
  /// cannot make it, or after too many sizes.
  MPI_Datatype gapped(std::int64_t bytes) noexcept {
    return find_or_make(gapped_, bytes, true);
  }

  /// A datatype of one element of `bytes` contiguous bytes; MPI_DATATYPE_NULL as for `gapped`.
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
