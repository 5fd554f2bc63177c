// The joint to the library that transforms rows in cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/fft/fft.hpp"

namespace penstock::fft {

/// What a row is transformed into.
enum class RowKind {
  forward,
  backward,
  real_to_complex,
  complex_to_real,
  redft00,
  redft10,
  redft01,
  redft11,
  rodft00,
  rodft10,
  rodft01,
  rodft11,
};

/// What there is to know about a kind but how it is transformed.
struct RowFacts {
  RowKind inverse;
  bool has_real_input;
  bool has_real_output;
  int period_per_point;  ///< forward then backward multiplies by the period: this times (points + points_more)
  int points_more;
};
const RowFacts& facts_of(RowKind kind) noexcept;

/// The kind of a sine or cosine transform.
RowKind row_kind_of(RealKind kind) noexcept;

/// Rows of `length` points (real points for the real kinds), rows `in_pitch_bytes` and `out_pitch_bytes` apart.
struct RowShape {
  RowKind kind = RowKind::forward;
  std::int64_t length = 0;
  std::int64_t rows = 0;  ///< that a full tile has; fewer may be run
  std::int64_t in_pitch_bytes = 0;
  std::int64_t out_pitch_bytes = 0;
  bool is_in_memory = false;  ///< the input is not in cache yet, and is kept; it may be aligned to row_alignment alone
  bool operator==(const RowShape&) const = default;
};

/// What the rows of an input in memory are aligned to.
inline constexpr std::size_t row_alignment = 16;

/// A planned 1-D transform of rows, out of place, unscaled. Immutable; `run` may be called by many threads at once.
class LocalTransform {
 public:
  virtual ~LocalTransform() = default;
  /// Transforms `rows` <= shape.rows rows from `in` to `out`, both aligned to 64 bytes. The input may be destroyed. Of
  /// an input in memory see RowShape.
  virtual void run(std::byte* in, std::byte* out, std::int64_t rows) const noexcept = 0;
};

/// Plans rows with FFTW in precision Real. Throws Error when FFTW has no plan for the shape.
template <class Real>
std::unique_ptr<LocalTransform> plan_with_fftw(const RowShape& shape, Effort effort);

}  // namespace penstock::fft
