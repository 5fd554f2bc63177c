// Faces of the grids of the NAS benchmarks LU and MG, with the sizes of DDTBench and of the libpack repository's trace.
#include <fmt/format.h>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

void add_lu_cases(std::vector<PackCase>& cases) {
  for (const int d : {12, 64, 162, 1020}) {
    cases.push_back({.name = fmt::format("NAS_LU_x_{}", d),
                     .make_type = [=] { return contiguous(5 * d, Type(MPI_DOUBLE)); },
                     .array_bytes = std::int64_t{40} * d,
                     .hand = {hand_nest(HandType::float64, 0, {}, 5 * d)}});
  }
  for (const int d : {12, 64, 162, 1020}) {
    const std::int64_t offset = std::int64_t{40} * (2 * d + 2);
    cases.push_back({.name = fmt::format("NAS_LU_y_{}", d),
                     .make_type = [=] { return vector(d, 1, d + 2, contiguous(5, Type(MPI_DOUBLE))); },
                     .offset = offset,
                     .array_bytes = std::int64_t{40} * (d + 2) * (d + 2),
                     .hand = {hand_nest(HandType::float64, offset, {{d, 5 * (d + 2)}}, 5)}});
  }
  cases.push_back(
      {.name = "LU_A4_hv2_hv64_v32x5",
       .make_type = [] { return hvector(2, 1, 40, hvector(64, 1, 51840, vector(32, 5, 180, Type(MPI_DOUBLE)))); },
       .array_bytes = std::int64_t{64} * 51840,
       .hand = {hand_nest(HandType::float64, 0, {{2, 5}, {64, 6480}, {32, 180}}, 5)}});
}

void add_mg_cases(std::vector<PackCase>& cases) {
  struct SolverGrid {
    int d1, d2, d3;
  };
  for (const auto& [d1, d2, d3] :
       {SolverGrid{34, 18, 18}, SolverGrid{130, 66, 66}, SolverGrid{258, 130, 130}, SolverGrid{514, 258, 258}}) {
    const std::int64_t plane = std::int64_t{d1} * d2;
    const std::int64_t bytes = 8 * plane * d3;
    const auto add = [&, name = d1](char face, std::function<Type()> make_type, HandLoop hand) {
      cases.push_back({.name = fmt::format("NAS_MG_{}_{}", face, name),
                       .make_type = std::move(make_type),
                       .array_bytes = bytes,
                       .hand = {std::move(hand)}});
    };
    // Structured bindings cannot be captured in C++20 by every compiler; copies can.
    const int n1 = d1;
    const int n2 = d2;
    const int n3 = d3;
    add(
        'x', [=] { return hvector(n3 - 2, 1, 8 * plane, vector(n2 - 2, 1, n1, Type(MPI_DOUBLE))); },
        hand_nest(HandType::float64, 0, {{n3 - 2, plane}, {n2 - 2, n1}}, 1));
    add(
        'y', [=] { return vector(n3 - 2, n1 - 2, n1 * n2, Type(MPI_DOUBLE)); },
        hand_nest(HandType::float64, 0, {{n3 - 2, plane}}, n1 - 2));
    add(
        'z', [=] { return vector(n2 - 2, n1 - 2, n1, Type(MPI_DOUBLE)); },
        hand_nest(HandType::float64, 0, {{n2 - 2, n1}}, n1 - 2));
  }
}

}  // namespace

void add_solver_cases(std::vector<PackCase>& cases) {
  add_lu_cases(cases);
  add_mg_cases(cases);
}

}  // namespace penstock::lab
