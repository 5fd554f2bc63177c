// What a 3-D FFT costs at least on processors that share one memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace penstock::model {

/// A 3-D FFT as far as its cost goes.
struct Fft {
  std::array<std::int64_t, 3> size{};           ///< nx, ny, nz: points in real space
  bool is_real = false;                         ///< real to complex, else complex to complex
  std::int64_t real_bytes = 8;                  ///< 8 for double precision, 4 for single
  std::int64_t fields = 1;                      ///< transformed per call
  std::array<bool, 3> along{true, true, true};  ///< the directions transformed: x, y, z
};

/// What the ranks of a run have together. A rate of 0 is not known, and limits nothing.
struct Resources {
  double memory_bandwidth_bytes_per_s = 0;  ///< read plus written
  double fft_rate_flops = 0;                ///< 1-D transforms in cache, by the convention of fft_flops
  std::int64_t cache_bytes = 0;             ///< last-level cache
};

/// The points of a direction that is transformed, 1 of one that is not.
std::array<std::int64_t, 3> transformed_lengths(const Fft& fft) noexcept;

/// The operations of a transform by the convention of 5 N log2 N with N points, half of that for real fields: what
/// rates are reckoned by, whatever an algorithm really executes. Where not all directions are transformed the logarithm
/// is that of the points in those that are.
double fft_flops(const Fft& fft) noexcept;

/// The least bytes that a transform moves between memory and cache. A plane that fits into the cache is transformed in
/// two directions at once, so that three directions take two passes, and one or two take one; each pass reads and
/// writes every element, 4 x 16 N bytes for double complex. Nothing, where the field and the exchange's copy of it stay
/// in cache.
double fft_memory_bytes(const Fft& fft, std::int64_t cache_bytes) noexcept;

/// How fast a transform can be at best, where moving and computing overlap entirely. The network between nodes is not
/// counted.
struct FftLimit {
  double memory_s = 0;      ///< its bytes at the memory's bandwidth
  double arithmetic_s = 0;  ///< its operations at the rate in cache
  double limit_s() const noexcept;
  bool is_bound_by_memory() const noexcept { return memory_s > arithmetic_s; }
};

/// The limit of one call, in one direction.
FftLimit fft_limit(const Fft& fft, const Resources& resources) noexcept;

/// The limit of one stage of it, which transforms along one direction (0 to 2; none where it only moves), and moves
/// `memory_bytes` between memory and cache on all ranks together.
FftLimit fft_stage_limit(const Fft& fft, std::optional<std::size_t> along, double memory_bytes,
                         const Resources& resources) noexcept;

}  // namespace penstock::model
