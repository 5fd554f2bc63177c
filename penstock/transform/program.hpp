// The forward transform of any length as data that is walked: a list of passes, from rows of the caller, through rows
// of the work buffer, to rows of the caller. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/transform/algorithms.hpp"
#include "penstock/transform/passes.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::transform {

/// Numbers that vectors are loaded from, in whole lines.
template <class Real>
struct alignas(64) Line {
  static constexpr std::size_t count = 64 / sizeof(Real);
  Real numbers[count];
};

/// Some rows that a pass reads or writes, by their numbers: points of the caller's pencils, or rows of the program's
/// own. Any list may have rows that the program keeps, the first ones of its own.
struct RowList {
  enum class Owner : std::uint8_t { source, destination, program };
  static constexpr std::int32_t zero = -1;     ///< reads as zeros
  static constexpr std::int32_t nowhere = -2;  ///< what is stored there is not read
  static constexpr std::int64_t kept_rows = 2;

  static constexpr std::int64_t kept_row(std::int32_t number) { return -1 - number; }

  Owner owner = Owner::source;
  std::size_t begin = 0;  ///< in `Program::rows`
  std::size_t count = 0;
};

/// One pass. Its lists begin at the places given in the program's arrays.
template <class Real>
struct Step {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const RadixPasses<Real>* passes = nullptr;  ///< none of rader (its first point) and combine
  enum class Kind : std::uint8_t { first, middle, last, rader, combine } kind = Kind::first;
  std::size_t from = none;  ///< of a first pass: its list in `Program::lists`; none: all points in their order
  std::size_t to = none;    ///< of a last pass, likewise
  std::size_t blocks = 0;   ///< in `Program::places`
  std::int64_t block_count = 0;
  std::size_t inner = 0;
  std::int64_t inner_count = 0;
  std::int64_t leg_rows = 0;
  std::size_t roots = 0;  ///< in `Program::roots`
  std::size_t factors = none;
  bool is_of_one = true;     ///< transform, not of several
  std::int64_t sum_row = 0;  ///< of Rader's first points: the row of the program's own that holds the first one's sum
  Real sum_factor = 1;       ///< the same; `leg_rows` from sum to sum, `inner_count` of them
};

/// The transform of `length` points. Immutable.
template <class Real>
struct Program {
  std::int64_t length = 0;
  std::vector<Step<Real>> steps;
  std::vector<RowList> lists;
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> places;
  std::vector<Real> roots;
  std::int64_t work_rows = 0;  ///< of the work buffer
  std::int64_t own_rows = 0;
  bool has_zero_row = false;  ///< lists name the row of zeros
  std::int64_t pairs_row =
      0;  ///< the first of `length` rows of its own that hold pairs of real pencils as complex ones
  std::int64_t passes_length = 1;  ///< the most points that are transformed by passes of their radices alone
  std::string text;                ///< how the length is taken apart, for people
};

/// One row pass. Of real pencils some are from or to the half in the scratch: half as many complex points.
template <class Real>
struct RowStep {
  RowFunction<Real> pass = nullptr;
  bool is_from_half = false;
  bool is_to_half = false;
  std::int64_t block_count = 0;
  std::int64_t inner_pairs = 0;
  std::size_t roots = 0;  ///< in `RowProgram::roots`, a number; none of a ragged last pass
  std::int64_t butterflies = 0;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t from = none;  ///< of a ragged pass, in `RowProgram::places`; see RowWork
  std::size_t to = none;
  std::int64_t from_leg_bytes = 0;
  std::int64_t to_leg_bytes = 0;
  bool is_from_work = false;
  bool is_to_work = false;
  Real from_sign = 1;
  Real to_sign = 1;
  std::int64_t ahead_bytes_at_once = 0;  ///< that each butterfly asks for, of the next pencil
};

/// The transform of a pencil whose points follow one another. Immutable.
template <class Real>
struct RowProgram {
  std::vector<RowStep<Real>> steps;  ///< none where the length has no row passes
  std::vector<std::int32_t> blocks;  ///< of the last pass, in bytes
  /// Of ragged passes, for each vector of butterflies: where their first legs lie, in bytes. The second is negative
  /// where they follow one another.
  std::vector<std::int32_t> places;
  std::vector<Line<Real>> roots;
  std::int64_t ahead_bytes = 0;    ///< that each pass asks for, of the next pencil
  std::int64_t passes_length = 1;  ///< that the passes of radices have: in vectors, of ragged ones in points
  std::string text;
};

/// How a length is taken apart, where there are several ways.
struct Variant {
  std::vector<int> radices{};  ///< of the passes for so many points as their product; none: those that cost least
  bool is_by_rows = true;      ///< of contiguous pencils: by passes of their own, where there are any
};

/// Of a length that has them, by the passes of `table`.
template <class Real>
RowProgram<Real> make_row_program(Kind kind, std::int64_t length, const PassTable<Real>& table, const Variant& variant);

/// The algorithms that the passes of a table allow, where those of the product of `preferred` points are given.
template <class Real>
Algorithms algorithms_with(const PassTable<Real>& table, Vectors vectors, const std::vector<int>& preferred = {}) {
  std::vector<int> radices;
  for (const RadixPasses<Real>& passes : table.radices) {
    radices.push_back(passes.radix);
  }
  return {vectors, std::move(radices), table.vector_registers, preferred};
}

/// Makes the program of a kind and `length` points, 1 or more, by the passes of `table`, which must outlive it. Complex
/// ones go from source to destination, those of real_to_complex to `pairs_row`, of complex_to_real from there; sines
/// and cosines take real pencils in pairs, and give them so. `row_bytes` is what rows of the work buffer will mostly
/// have.
template <class Real>
Program<Real> make_program(Kind kind, std::int64_t length, const PassTable<Real>& table, std::int64_t row_bytes,
                           const Variant& variant);

}  // namespace penstock::transform
