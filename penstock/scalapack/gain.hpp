// Which products are worth bringing their matrices into blocks.
#pragma once

namespace penstock::scalapack {

/// Whether an m x n x k product over so many ranks is faster by ours than by ScaLAPACK's own. The same on all ranks, as
/// it has to be.
bool may_gain(int m, int n, int k, int ranks) noexcept;

}  // namespace penstock::scalapack
