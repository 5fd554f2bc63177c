#include "penstock/scalapack/gain.hpp"

namespace penstock::scalapack {

// One rank has nothing to move: ScaLAPACK's own multiplies the matrices where they lie, and was the faster at all
// sizes.
//
// Over ranks ours moves each element once, before the product, and ScaLAPACK's own while it multiplies, some columns
// after the others. Both take memory's time, so that what decides is how many multiplications there are for each
// element that is brought. Measured on Zen 4, 2 ranks, 2 cores, blocks of 32 to 128, in turn (times faster, of
// medians): 0.8 at 190, 0.8 to 1.2 at 250, 1.0 at 290, 1.0 to 1.1 at 320, 1.03 to 1.2 from 340 on. A core that
// multiplies slower than memory moves does so for both.
//
// Ours begins with some messages between all ranks: 0.4 ms with 2 ranks, 1 ms with 4 on 2 cores. A core multiplied 27e9
// doubles a second: 2^28 take 10 ms.
bool may_gain(int m, int n, int k, int ranks) noexcept {
  constexpr double min_multiplications_each = 384;
  constexpr double min_multiplications_of_rank = 1 << 28;
  const double rows = m;
  const double columns = n;
  const double depth = k;
  const double brought = rows * depth + depth * columns + 2 * rows * columns;
  const double multiplications = rows * columns * depth;
  return ranks > 1 && multiplications >= min_multiplications_each * brought &&
         multiplications >= min_multiplications_of_rank * ranks;
}

}  // namespace penstock::scalapack
