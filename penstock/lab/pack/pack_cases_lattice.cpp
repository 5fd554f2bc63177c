// Faces of the four-dimensional lattice of MILC: the types of its trace in the libpack repository, among them the
// example of the seed, and those of DDTBench.
#include <fmt/format.h>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

Type floats(int count) {
  return contiguous(count, Type(MPI_FLOAT));
}

}  // namespace

void add_lattice_cases(std::vector<PackCase>& cases) {
  cases.push_back({.name = "seed_MILC_hvec2_vec8x8x32",
                   .make_type = [] { return hvector(2, 1, 6144, vector(8, 8, 32, floats(6))); },
                   .array_bytes = 2 * 6144,
                   .hand = {hand_nest(HandType::float32, 0, {{2, 1536}, {8, 192}}, 48)}});
  cases.push_back({.name = "milc_hvec2_vec32x2x8",
                   .make_type = [] { return hvector(2, 1, 6144, vector(32, 2, 8, floats(6))); },
                   .array_bytes = 2 * 6144,
                   .hand = {hand_nest(HandType::float32, 0, {{2, 1536}, {32, 48}}, 12)}});
  cases.push_back(
      {.name = "milc_hvec3_vec32x6x8_ctg18",
       .make_type =
           [] { return hvector(2, 1, 18432, hvector(2, 1, 12288, hvector(2, 1, 6144, vector(32, 6, 8, floats(18))))); },
       .array_bytes = 18432 + 12288 + 6144 + 32 * 576,
       .hand = {hand_nest(HandType::float32, 0, {{2, 4608}, {2, 3072}, {2, 1536}, {32, 144}}, 108)},
       .is_overlapping = true});
  for (const int d : {8, 16}) {
    const int d2 = d * d;
    const int d3 = d2 * d;
    cases.push_back(
        {.name = fmt::format("MILC_su3_zdown_{}", d),
         .make_type = [=] { return hvector(2, 1, MPI_Aint{12} * d3 * d, vector(d, d2 / 2, d3 / 2, floats(6))); },
         .array_bytes = std::int64_t{24} * d3 * d,
         .hand = {hand_nest(HandType::float32, 0, {{2, std::int64_t{3} * d3 * d}, {d, 3 * d3}}, 3 * d2)}});
  }
}

}  // namespace penstock::lab
