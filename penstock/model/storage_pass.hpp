// The time of a pass over data in storage. Included by model.hpp.
#pragma once

namespace penstock::model {

/// Everything is read once, worked on and written once, piece after piece, while others arrive and leave.
struct StoragePass {
  double read_bytes = 0;
  double written_bytes = 0;
  double flops = 0;
  double edge_bytes = 0;  ///< until the first piece is there, and while the last leaves, nothing is computed
};

/// What moves, and what computes.
struct StorageCosts {
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double rate_flops = 0;
};

/// After the seed's equation for percolation (Amaral et al. 1999, eq. 4): of moving and computing the longer, and of
/// the other what cannot overlap with it. Reading and writing share the storage.
double storage_pass_s(const StorageCosts& figures, const StoragePass& pass) noexcept;

}  // namespace penstock::model
