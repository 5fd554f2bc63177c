// Matrices of double complex: the two halves of DDTBench's FFT2D on two ranks, and whole transposes.
#include <fmt/format.h>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

Type complex_number() {
  return contiguous(2, Type(MPI_DOUBLE));
}

/// The columns of a matrix of rows of `n` numbers, one after the other: `p` of them, of `p` numbers.
PackCase columns_case(std::string name, int p, int n) {
  return {.name = std::move(name),
          .group = PackGroup::transpose,
          .make_type = [=] { return contiguous(p, resized(vector(p, 1, n, complex_number()), 16)); },
          .array_bytes = std::int64_t{16} * p * n,
          .hand = {hand_nest(HandType::complex128, 0, {{p, 1}, {p, n}}, 1)}};
}

}  // namespace

void add_transpose_cases(std::vector<PackCase>& cases) {
  for (const int n : {256, 1024}) {
    const int p = n / 2;
    cases.push_back({.name = fmt::format("FFT2D_gather_{}", n),
                     .make_type = [=] { return resized(vector(p, p, n, complex_number()), MPI_Aint{16} * p); },
                     .array_bytes = std::int64_t{16} * p * n,
                     .hand = {hand_nest(HandType::complex128, 0, {{p, n}}, p)}});
    cases.push_back(columns_case(fmt::format("FFT2D_scatter_{}", n), p, n));
  }
  for (const int n : {64, 256, 1024, 2048}) {
    cases.push_back(columns_case(fmt::format("transpose_z_{}", n), n, n));
  }
}

}  // namespace penstock::lab
