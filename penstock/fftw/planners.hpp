// From the arguments of FFTW's planners to plans of ours.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "penstock/fftw/request.hpp"

namespace penstock::fftw {

/// What all of FFTW's planners have in common.
struct Asked {
  std::string_view function;
  std::int64_t real_bytes;
  void* in;
  void* out;
  unsigned flags;
  const void* return_address;
};

/// The kinds of transforms that FFTW has planners for.
enum class Kind { complex_forward, complex_backward, real_to_complex, complex_to_real, real_to_real };

/// A transform over the ranks of a communicator (FFTW's plan_many_*): `n` from the slowest dimension to the fastest.
struct AskedOfRanks {
  Kind kind;
  std::span<const std::ptrdiff_t> n;
  std::ptrdiff_t tuples;
  std::ptrdiff_t in_block;  ///< 0: FFTW's default
  std::ptrdiff_t out_block;
  MPI_Comm communicator;
  const int* kinds = nullptr;  ///< FFTW's numbers, of real_to_real
};

/// A dimension of arrays of one process: its length and its strides, in numbers.
struct Dimension {
  std::ptrdiff_t n;
  std::ptrdiff_t in_stride;
  std::ptrdiff_t out_stride;
};

/// A transform in one process (FFTW's plan_guru64_*).
struct AskedAlone {
  Kind kind;
  std::span<const Dimension> dimensions;
  std::span<const Dimension> repeated;
  const int* kinds = nullptr;
};

/// A plan as FFTW's pointer; nullptr where the call is to be passed on, which is counted. Collective over the
/// communicator.
void* serve(const Asked& asked, const AskedOfRanks& transform);
/// A transposition over ranks (FFTW's plan_many_transpose).
void* serve_transposition(const Asked& asked, std::ptrdiff_t n0, std::ptrdiff_t n1, std::ptrdiff_t tuples,
                          std::ptrdiff_t block0, std::ptrdiff_t block1, MPI_Comm communicator);
void* serve(const Asked& asked, const AskedAlone& transform);

/// The threads that the program has asked FFTW for.
void set_threads(std::int64_t real_bytes, int threads) noexcept;

}  // namespace penstock::fftw
