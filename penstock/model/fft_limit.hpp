// The minimum time of a 3-D FFT on processors that share one memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace penstock::model {

/// The properties of a 3-D FFT on which its cost depends.
struct Fft {
  std::array<std::int64_t, 3> size{};           ///< nx, ny, nz: points in real space
  bool is_real = false;                         ///< real to complex, else complex to complex
  std::int64_t real_bytes = 8;                  ///< 8 for double precision, 4 for single
  std::int64_t fields = 1;                      ///< the number of fields transformed per call
  std::array<bool, 3> along{true, true, true};  ///< the directions transformed: x, y, z
};

/// The resources of all ranks of a run together. A rate of 0 is not known, and limits nothing.
struct Resources {
  double memory_bandwidth_bytes_per_s = 0;  ///< read plus written
  double fft_rate_flops = 0;                ///< 1-D transforms in cache, by the convention of fft_flops
  std::int64_t cache_bytes = 0;             ///< last-level cache
};

/// For each direction its number of points, or 1 where the direction is not transformed.
std::array<std::int64_t, 3> transformed_lengths(const Fft& fft) noexcept;

/// The operations of a call by convention: 5 N log2 N for a field of N points, half of that for a real one. All FFT
/// rates here count these operations, not those that an algorithm executes. Where only some directions are transformed,
/// the logarithm is that of the product of their lengths.
double fft_flops(const Fft& fft) noexcept;

/// The minimum of bytes that a transform moves between memory and cache. A plane in cache is transformed along two
/// directions in one pass, so that three directions take two passes, and one or two take one. Each pass reads and
/// writes every element: two passes over N double complex elements move 4 x 16 N bytes. 0 where the fields and as large
/// a copy, for the exchange, fit into `cache_bytes`.
double fft_memory_bytes(const Fft& fft, std::int64_t cache_bytes) noexcept;

/// The minimum time of a transform, where memory traffic and arithmetic overlap entirely. The network between nodes is
/// not counted.
struct FftLimit {
  double memory_s = 0;      ///< of the bytes moved, at the memory's bandwidth
  double arithmetic_s = 0;  ///< of the operations, at the rate in cache
  double limit_s() const noexcept;
  bool is_bound_by_memory() const noexcept { return memory_s > arithmetic_s; }
};

/// The limit of one call, forward or backward.
FftLimit fft_limit(const Fft& fft, const Resources& resources) noexcept;

/// The limit of one stage of a call. The stage transforms along direction `along` (0 to 2; none where it only moves
/// data), and moves `memory_bytes` between memory and cache on all ranks together.
FftLimit fft_stage_limit(const Fft& fft, std::optional<std::size_t> along, double memory_bytes,
                         const Resources& resources) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
