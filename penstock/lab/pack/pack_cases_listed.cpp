// Types of index lists: the atoms that leave a rank of LAMMPS and the mesh points of SPECFEM3D, as DDTBench has them,
// and random blocks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "penstock/lab/pack/pack_cases.hpp"

namespace penstock::lab {
namespace {

/// The first `count` of a shuffle of 0 to `of` - 1, the same in every run (Fisher and Yates).
std::vector<int> shuffled(int count, int of, std::mt19937& random) {
  std::vector<int> list(static_cast<std::size_t>(of));
  std::iota(list.begin(), list.end(), 0);
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1], list[random() % i]);
  }
  list.resize(static_cast<std::size_t>(count));
  return list;
}

std::vector<int> times_three(std::vector<int> list) {
  for (int& entry : list) {
    entry *= 3;
  }
  return list;
}

/// A vector of three and `scalars` numbers of each of `n` among `atoms` atoms, every property in an array of its own.
PackCase atoms_case(const char* style, int n, int atoms, int scalars) {
  std::mt19937 random(1);
  const std::vector<int> list = shuffled(n, atoms, random);
  PackCase made{.name = fmt::format("LAMMPS_{}_{}", style, n), .group = PackGroup::indexed};
  std::vector<MPI_Aint> displacements;
  for (int property = 0; property <= scalars; ++property) {
    displacements.push_back(made.array_bytes);
    append(made.hand, hand_list(HandType::float64, made.array_bytes, list, property == 0 ? 3 : 1));
    made.array_bytes += std::int64_t{8} * atoms * (property == 0 ? 3 : 1);
  }
  made.make_type = [=] {
    std::vector<Type> members;
    members.push_back(indexed_block(3, times_three(list), Type(MPI_DOUBLE)));
    for (int property = 0; property < scalars; ++property) {
      members.push_back(indexed_block(1, list, Type(MPI_DOUBLE)));
    }
    return structure(displacements, members);
  };
  return made;
}

PackCase ocean_case(int n, int points) {
  std::mt19937 random(1);
  const std::vector<int> list = shuffled(n, points, random);
  return {.name = fmt::format("SPECFEM3D_oc_{}", n),
          .group = PackGroup::indexed,
          .make_type = [=] { return indexed_block(1, list, Type(MPI_FLOAT)); },
          .array_bytes = std::int64_t{4} * points,
          .hand = {hand_list(HandType::float32, 0, list, 1)}};
}

/// Vectors of three from the crust and mantle, then from the inner core.
PackCase mantle_case(int mantle, int mantle_points, int core, int core_points) {
  std::mt19937 random(1);
  const std::vector<int> first = shuffled(mantle, mantle_points, random);
  const std::vector<int> second = shuffled(core, core_points, random);
  const std::int64_t core_start = std::int64_t{12} * mantle_points;
  PackCase made{.name = fmt::format("SPECFEM3D_cm_{}", mantle), .group = PackGroup::indexed};
  made.make_type = [=] {
    std::vector<Type> members;
    members.push_back(indexed_block(3, times_three(first), Type(MPI_FLOAT)));
    members.push_back(indexed_block(3, times_three(second), Type(MPI_FLOAT)));
    return structure({0, core_start}, members);
  };
  made.array_bytes = core_start + std::int64_t{12} * core_points;
  append(made.hand, hand_list(HandType::float32, 0, first, 3));
  append(made.hand, hand_list(HandType::float32, core_start, second, 3));
  return made;
}

/// 512 blocks of 1 to 64 floats, each at a random place of a slot of its own.
PackCase blocks_case(bool is_sorted) {
  constexpr int blocks = 512;
  constexpr int slot = 96;  // floats: the longest block and the farthest place fit
  std::mt19937 random(1);
  const std::vector<int> order = shuffled(blocks, blocks, random);
  HandLoop hand{.shape = HandShape::blocks, .type = HandType::float32};
  std::vector<MPI_Aint> displacements;
  for (int i = 0; i < blocks; ++i) {
    hand.lengths.push_back(static_cast<int>(1 + random() % 64));
    const int place = is_sorted ? i : order[static_cast<std::size_t>(i)];
    hand.index.push_back(place * slot + static_cast<int>(random() % 32));
    displacements.push_back(MPI_Aint{4} * hand.index.back());
  }
  return {.name = fmt::format("hindexed_rand_1-64f{}", is_sorted ? "_sorted" : ""),
          .group = PackGroup::indexed,
          .make_type = [=, lengths = hand.lengths] { return hindexed(lengths, displacements, Type(MPI_FLOAT)); },
          .array_bytes = std::int64_t{4} * blocks * slot,
          .hand = {hand}};
}

}  // namespace

void add_listed_cases(std::vector<PackCase>& cases) {
  cases.push_back(atoms_case("full", 3062, 3534, 5));
  cases.push_back(atoms_case("full", 1662, 1907, 5));
  cases.push_back(atoms_case("atomic", 243, 4084, 3));
  cases.push_back(atoms_case("atomic", 114, 1217, 3));
  cases.push_back(ocean_case(3225, 88881));
  cases.push_back(ocean_case(493, 3697));
  cases.push_back(mantle_case(11797, 834917, 3009, 51153));
  cases.push_back(mantle_case(1957, 39929, 245, 1225));
  cases.push_back({.name = "SPECFEM3D_mt_7600",
                   .make_type = [] { return vector(7600, 1, 2, contiguous(3, Type(MPI_FLOAT))); },
                   .array_bytes = 24 * 7600,
                   .hand = {hand_nest(HandType::float32, 0, {{7600, 6}}, 3)}});
  cases.push_back(blocks_case(false));
  cases.push_back(blocks_case(true));
}

}  // namespace penstock::lab
