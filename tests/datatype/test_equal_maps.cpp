// Types that name the same bytes in the same order become equal layouts, however they were made.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "owned_type.hpp"
#include "penstock/datatype/datatype.hpp"

namespace penstock::datatype {
namespace {

void expect_all_equal(const std::vector<MPI_Datatype>& types) {
  const Description first = describe(types.front());
  for (std::size_t i = 1; i < types.size(); ++i) {
    const Description other = describe(types[i]);
    EXPECT_EQ(first.element, other.element) << "type " << i;
    EXPECT_EQ(first.element.hash(), other.element.hash()) << "type " << i;
  }
}

TEST(EqualMaps, EightIntegersInARow) {
  const OwnedType pairs = make(MPI_Type_contiguous, 2, MPI_INT);
  const int lengths[] = {3, 0, 5};
  const int places[] = {0, 70, 3};
  const MPI_Aint displacements[] = {0, 70, 12};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT};
  const OwnedType contiguous = make(MPI_Type_contiguous, 4, pairs);
  const OwnedType vector = make(MPI_Type_vector, 4, 2, 2, MPI_INT);
  const OwnedType indexed = make(MPI_Type_indexed, 3, lengths, places, MPI_INT);
  const OwnedType members = make(MPI_Type_create_struct, 3, lengths, displacements, types);
  const OwnedType twice = make(MPI_Type_dup, vector);
  expect_all_equal({contiguous, vector, indexed, members, twice});
  EXPECT_TRUE(describe(indexed).element.is_contiguous());
}

TEST(EqualMaps, AFaceOfABox) {
  const int sizes[] = {6, 5, 4};
  const int reversed_sizes[] = {4, 5, 6};
  const int extents[] = {6, 5, 1};
  const int reversed_extents[] = {1, 5, 6};
  const int starts[] = {0, 0, 0};
  const OwnedType in_c = make(MPI_Type_create_subarray, 3, sizes, extents, starts, MPI_ORDER_C, MPI_DOUBLE);
  const OwnedType in_fortran =
      make(MPI_Type_create_subarray, 3, reversed_sizes, reversed_extents, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE);
  const OwnedType vector = make(MPI_Type_vector, 30, 1, 4, MPI_DOUBLE);
  const OwnedType row = make(MPI_Type_create_hvector, 5, 1, MPI_Aint(32), MPI_DOUBLE);
  const OwnedType rows = make(MPI_Type_create_hvector, 6, 1, MPI_Aint(160), row);
  std::array<int, 30> places{};
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = static_cast<int>(4 * i);
  }
  const OwnedType list = make(MPI_Type_create_indexed_block, 30, 1, places.data(), MPI_DOUBLE);
  const OwnedType wide = make(MPI_Type_create_resized, MPI_DOUBLE, MPI_Aint(0), MPI_Aint(32));
  const OwnedType spread = make(MPI_Type_contiguous, 30, wide);
  const int grid[] = {1, 1, 4};
  const int distributions[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
  const int blocks[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 1};
  const OwnedType dealt =
      make(MPI_Type_create_darray, 4, 0, 3, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_DOUBLE);
  expect_all_equal({in_c, in_fortran, vector, rows, list, spread, dealt});
  EXPECT_EQ(describe(list).element.levels().size(), 1U);
}

TEST(EqualMaps, StructsOfLoops) {
  const OwnedType column = make(MPI_Type_vector, 100, 1, 3, MPI_DOUBLE);
  const int lengths[] = {1, 1};
  const MPI_Aint displacements[] = {0, 8};
  const MPI_Datatype types[] = {column, column};
  const OwnedType members = make(MPI_Type_create_struct, 2, lengths, displacements, types);
  const OwnedType vector = make(MPI_Type_create_hvector, 2, 1, MPI_Aint(8), column);
  const OwnedType list = make(MPI_Type_create_hindexed_block, 2, 1, displacements, column);
  expect_all_equal({members, vector, list});
}

TEST(EqualMaps, OrderMakesADifference) {
  const int up[] = {0, 2};
  const int down[] = {2, 0};
  const OwnedType ascending = make(MPI_Type_create_indexed_block, 2, 1, up, MPI_INT);
  const OwnedType descending = make(MPI_Type_create_indexed_block, 2, 1, down, MPI_INT);
  EXPECT_NE(describe(ascending).element, describe(descending).element);
}

}  // namespace
}  // namespace penstock::datatype
