// What a program asks FFTW for, as a plan of ours would do it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "penstock/fft/fft.hpp"

namespace penstock::fftw {

/// A transform in up to three directions, of one rank's point of view. FFTW's last dimension, which is contiguous, is
/// x.
struct Request {
  std::string function;  ///< that was called, for the table of calls
  fft::Type type = fft::Type::c2c;
  std::int64_t real_bytes = 8;
  bool is_backward = false;  ///< from the spectrum; the input is Plan's output then
  std::array<std::optional<fft::RealKind>, 3> kinds{};
  fft::Extents size{1, 1, 1};
  std::array<bool, 3> along{false, false, false};
  std::array<int, 3> sequence{0, 1, 2};
  fft::Distribution in{};
  fft::Distribution out{};
  int tuples = 1;                ///< numbers beside each other for each point, transformed alike
  std::int64_t repetitions = 1;  ///< fields one after the other
  std::int64_t in_distance = 0;  ///< from one to the next, in numbers
  std::int64_t out_distance = 0;
  int threads = 1;
  bool may_measure = false;

  const fft::Distribution& space() const noexcept { return is_backward ? out : in; }
  const fft::Distribution& spectrum() const noexcept { return is_backward ? in : out; }
  /// Bytes of a number of the input and of the output.
  std::int64_t in_bytes() const noexcept;
  std::int64_t out_bytes() const noexcept;
  /// The options of the plan, which does both directions.
  fft::Options options(int ranks) const;
  /// What two requests have in common that one plan can serve, on this rank.
  std::string key() const;
  /// Arithmetic operations, by the convention of 5 N log2 N for complex numbers.
  double operations() const noexcept;
};

}  // namespace penstock::fftw
