// The datatypes that packing is measured with: those of published benchmarks and applications, each with its array and
// the loops that a programmer would write instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/lab/pack/pack.hpp"
#include "penstock/lab/pack/pack_hand.hpp"
#include "penstock/lab/pack/pack_types.hpp"

namespace penstock::lab {

/// One datatype as a program would use it.
struct PackCase {
  std::string name;
  PackGroup group = PackGroup::strided;
  std::function<Type()> make_type{};  ///< not yet committed
  std::int64_t offset = 0;            ///< bytes from the array's start to the buffer that MPI is given
  std::int64_t array_bytes = 0;       ///< of the array that the type lies in
  std::vector<HandLoop> hand{};       ///< one after the other, they pack what the type names
  bool is_overlapping = false;        ///< names bytes twice, so that MPI allows no unpacking into it
};

// Those of the files pack_cases_*.cpp.
void add_lattice_cases(std::vector<PackCase>& cases);    ///< MILC and the seed's example
void add_weather_cases(std::vector<PackCase>& cases);    ///< WRF
void add_solver_cases(std::vector<PackCase>& cases);     ///< NAS LU and MG
void add_listed_cases(std::vector<PackCase>& cases);     ///< LAMMPS, SPECFEM3D, random blocks
void add_array_cases(std::vector<PackCase>& cases);      ///< plain vectors and subarrays
void add_transpose_cases(std::vector<PackCase>& cases);  ///< FFT2D and whole transposes

/// All of them, in the order of their sources.
std::vector<PackCase> pack_cases();

/// A loop written by hand: its stride in elements.
struct Loop {
  std::int64_t extent;
  std::int64_t stride;
};

/// Loops around runs of `run` elements, from `array_offset` bytes.
HandLoop hand_nest(HandType type, std::int64_t array_offset, const std::vector<Loop>& loops, std::int64_t run);

/// The elements of the list (or the vectors of three elements, where `run` is 3), from `array_offset` bytes.
HandLoop hand_list(HandType type, std::int64_t array_offset, std::vector<int> index, std::int64_t run);

/// The bytes that a loop packs.
std::int64_t packed_bytes(const HandLoop& loop);

/// Appends a loop that packs after the others.
void append(std::vector<HandLoop>& loops, HandLoop loop);

}  // namespace penstock::lab
