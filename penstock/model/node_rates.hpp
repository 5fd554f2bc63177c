// What a node reaches for a given work, from the curves of a calibrated machine or, where it has none, its single
// figures.
#pragma once

#include <cstdint>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// The kind of a 1-D transform.
struct FftKind {
  bool is_real = false;
  std::int64_t real_bytes = 8;  ///< 8 for double precision, 4 for single
};

/// Operations per second of one core in transforms of `length` points in cache, all cores at work, by the convention of
/// 5 n log2 n, half of that for real ones. Between two measured lengths the rate of like lengths (powers of two, those
/// with prime factors up to 13, others) is interpolated over the logarithm. 0 where nothing is known.
double fft_rate_per_core(const machine::Node& node, std::int64_t length, const FftKind& kind) noexcept;

/// Bytes read plus bytes written a second when so many threads of the node move tiles between arrays of
/// `working_set_bytes` bytes together: the time of a byte interpolated over the logarithm of the bytes, of the largest
/// number of threads measured that is not above. Without such figures a share of memory's bandwidth by threads, and
/// infinity for what stays in cache.
double tile_bandwidth(const machine::Node& node, std::int64_t threads, double working_set_bytes) noexcept;

}  // namespace penstock::model
