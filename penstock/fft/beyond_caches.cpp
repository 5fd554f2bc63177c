// Which transforms of one process are worth a plan of ours.
#include <cstdint>

#include "penstock/fft/plan.hpp"
#include "penstock/machine/machine.hpp"

namespace penstock::fft {

bool is_beyond_caches(double field_bytes, int threads) {
  constexpr double min_caches = 4;
  static const std::int64_t cache_l2_bytes = machine::detect().node.cache_l2_bytes;
  return field_bytes >= min_caches * static_cast<double>(cache_l2_bytes) * threads;
}

}  // namespace penstock::fft
