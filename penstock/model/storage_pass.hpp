// The time of a pass over data in storage. Included by model.hpp.
#pragma once

#pragma GCC visibility push(default)

namespace penstock::model {

/// All data are read once, computed on and written once, piece after piece, while other pieces arrive and leave.
struct StoragePass {
  double read_bytes = 0;
  double written_bytes = 0;
  double flops = 0;
  double edge_bytes = 0;  ///< of one piece: nothing is computed while the first arrives and while the last leaves
};

/// The rates of the storage and of the computation.
struct StorageCosts {
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
  double rate_flops = 0;
};

/// The time of a pass, after eq. 4 of Amaral et al. 1999 (seed 4): the larger of the time of moving, and of the time of
/// computing plus that of moving the edges. Reads and writes share the storage, so that their times add up.
double storage_pass_s(const StorageCosts& figures, const StoragePass& pass) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
