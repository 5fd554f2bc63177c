// Each constructor of MPI, by example: the bytes named in their order, and the extent.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "owned_type.hpp"
#include "penstock/base/error.hpp"
#include "penstock/datatype/datatype.hpp"
#include "tests/fails_with.hpp"

namespace penstock::datatype {
namespace {

using layout::Layout;
using layout::Level;

/// Whether `type` names elements of `bytes` bytes at `offsets`, in that order, and is `extent` bytes long.
void expect_elements(MPI_Datatype type, std::int64_t bytes, std::initializer_list<std::int64_t> offsets,
                     std::int64_t extent) {
  std::vector<layout::Run> runs;
  for (const std::int64_t offset : offsets) {
    runs.push_back({offset, bytes});
  }
  const Description description = describe(type);
  EXPECT_EQ(description.element, Layout::indexed(runs));
  EXPECT_EQ(description.extent, extent);
}

TEST(Constructors, NamedTypesAreTheirBytes) {
  for (const MPI_Datatype type : {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,
                                  MPI_C_BOOL, MPI_INT64_T, MPI_C_DOUBLE_COMPLEX, MPI_BYTE, MPI_PACKED, MPI_AINT}) {
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    EXPECT_EQ(describe(type).element, Layout::contiguous(bytes));
    EXPECT_EQ(describe(type).extent, bytes);
  }
}

TEST(Constructors, PairsOfValueAndIndexLeaveTheHolesOfTheirStructures) {
  struct ShortInt {
    short value;
    int index;
  };
  EXPECT_EQ(describe(MPI_SHORT_INT).element,
            Layout::indexed({{layout::Run{0, sizeof(short)}, layout::Run{offsetof(ShortInt, index), sizeof(int)}}}));
  EXPECT_EQ(describe(MPI_SHORT_INT).extent, static_cast<std::int64_t>(sizeof(ShortInt)));
  EXPECT_EQ(describe(MPI_DOUBLE_INT).element, Layout::contiguous(sizeof(double) + sizeof(int)));
  EXPECT_EQ(describe(MPI_DOUBLE_INT).extent, 16);
  EXPECT_EQ(describe(MPI_LONG_DOUBLE_INT).element, Layout::contiguous(sizeof(long double) + sizeof(int)));
  EXPECT_EQ(describe(MPI_LONG_DOUBLE_INT).of(2).upper_bound(), 52);
  EXPECT_EQ(describe(MPI_2INT).element, Layout::contiguous(8));
}

TEST(Constructors, TypesOfFortranAreTheirBytes) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Datatype complex = MPI_DATATYPE_NULL;
  MPI_Datatype integer = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real);
  MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &complex);
  MPI_Type_create_f90_integer(9, &integer);
  EXPECT_EQ(describe(real).element, Layout::contiguous(8));
  EXPECT_EQ(describe(complex).element, Layout::contiguous(8));
  EXPECT_EQ(describe(integer).element, Layout::contiguous(4));
  expect_elements(make(MPI_Type_vector, 2, 1, 3, real), 8, {0, 24}, 32);
}

TEST(Constructors, DupAndResizedNameTheSameBytes) {
  const OwnedType vector = make(MPI_Type_vector, 2, 1, 2, MPI_INT);
  expect_elements(make(MPI_Type_dup, vector), 4, {0, 8}, 12);
  expect_elements(make(MPI_Type_create_resized, vector, MPI_Aint(-4), MPI_Aint(20)), 4, {0, 8}, 20);
}

TEST(Constructors, ContiguousStepsByTheExtent) {
  const OwnedType wide = make(MPI_Type_create_resized, MPI_INT, MPI_Aint(-8), MPI_Aint(12));
  expect_elements(make(MPI_Type_contiguous, 3, wide), 4, {0, 12, 24}, 36);
}

TEST(Constructors, VectorsStepByExtentsAndHvectorsByBytes) {
  expect_elements(make(MPI_Type_vector, 2, 2, -3, MPI_SHORT), 2, {0, 2, -6, -4}, 10);
  expect_elements(make(MPI_Type_create_hvector, 3, 1, MPI_Aint(-5), MPI_SHORT), 2, {0, -5, -10}, 12);
}

TEST(Constructors, IndexedListsKeepTheirOrderAndSkipEmptyBlocks) {
  const int lengths[] = {2, 0, 1, 1};
  const int indices[] = {3, 9, -1, 1};
  const MPI_Aint displacements[] = {7, 100, -2, 3};
  expect_elements(make(MPI_Type_indexed, 4, lengths, indices, MPI_INT), 4, {12, 16, -4, 4}, 24);
  expect_elements(make(MPI_Type_create_hindexed, 4, lengths, displacements, MPI_CHAR), 1, {7, 8, -2, 3}, 11);
  expect_elements(make(MPI_Type_create_indexed_block, 3, 2, indices, MPI_CHAR), 1, {3, 4, 9, 10, -1, 0}, 12);
  expect_elements(make(MPI_Type_create_hindexed_block, 3, 1, displacements, MPI_CHAR), 1, {7, 100, -2}, 103);
}

TEST(Constructors, IndexedListsOfElementsWithHoles) {
  const OwnedType wide = make(MPI_Type_create_resized, MPI_SHORT, MPI_Aint(0), MPI_Aint(8));
  const int lengths[] = {1, 3};
  const int indices[] = {2, -2};
  expect_elements(make(MPI_Type_indexed, 2, lengths, indices, wide), 2, {16, -16, -8, 0}, 40);
  expect_elements(make(MPI_Type_create_indexed_block, 2, 2, indices, wide), 2, {16, 24, -16, -8}, 48);
}

TEST(Constructors, StructsOfMembersOfAnyType) {
  const OwnedType vector = make(MPI_Type_vector, 2, 1, 2, MPI_SHORT);
  const int lengths[] = {1, 2, 0, 1};
  const MPI_Aint displacements[] = {20, -16, 77, 4};
  const MPI_Datatype types[] = {MPI_DOUBLE, vector, MPI_INT, MPI_CHAR};
  const Description description = describe(make(MPI_Type_create_struct, 4, lengths, displacements, types));
  EXPECT_EQ(description.element, Layout::indexed({{layout::Run{20, 8}, layout::Run{-16, 2}, layout::Run{-12, 2},
                                                   layout::Run{-10, 2}, layout::Run{-6, 2}, layout::Run{4, 1}}}));
}

TEST(Constructors, SubarraysInBothOrders) {
  const int sizes[] = {3, 4};
  const int extents[] = {2, 2};
  const int starts[] = {1, 2};
  expect_elements(make(MPI_Type_create_subarray, 2, sizes, extents, starts, MPI_ORDER_C, MPI_CHAR), 1, {6, 7, 10, 11},
                  12);
  expect_elements(make(MPI_Type_create_subarray, 2, sizes, extents, starts, MPI_ORDER_FORTRAN, MPI_CHAR), 1,
                  {7, 8, 10, 11}, 12);
}

TEST(Constructors, DarraysDealBlocksInRowMajorGrids) {
  // Process 3 of a grid of 2 x 2 has coordinates (1, 1): rows 3 and 4, and columns 2, 3 and 6.
  const int sizes[] = {5, 7};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int blocks[] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  const int grid[] = {2, 2};
  expect_elements(make(MPI_Type_create_darray, 4, 3, 2, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_CHAR), 1,
                  {23, 24, 27, 30, 31, 34}, 35);
  expect_elements(
      make(MPI_Type_create_darray, 4, 3, 2, sizes, distributions, blocks, grid, MPI_ORDER_FORTRAN, MPI_CHAR), 1,
      {13, 14, 18, 19, 33, 34}, 35);
}

TEST(Constructors, DarraysWithoutAnyElementOfThisProcess) {
  const int sizes[] = {3, 4};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
  const int blocks[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {3, 1};
  const OwnedType rest =
      make(MPI_Type_create_darray, 3, 1, 2, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_INT);
  EXPECT_EQ(describe(rest).element, Layout::contiguous(16).displaced(32));
  const OwnedType none =
      make(MPI_Type_create_darray, 3, 2, 2, sizes, distributions, blocks, grid, MPI_ORDER_C, MPI_INT);
  EXPECT_EQ(describe(none).element, Layout());
}

TEST(Constructors, NothingIsNamedByZeroCounts) {
  const int* no_list = nullptr;
  const MPI_Aint* no_displacements = nullptr;
  const MPI_Datatype* no_types = nullptr;
  for (const OwnedType& type :
       {make(MPI_Type_contiguous, 0, MPI_INT), make(MPI_Type_vector, 3, 0, 2, MPI_INT),
        make(MPI_Type_vector, 0, 3, 2, MPI_INT), make(MPI_Type_indexed, 0, no_list, no_list, MPI_INT),
        make(MPI_Type_create_struct, 0, no_list, no_displacements, no_types)}) {
    EXPECT_EQ(describe(type).element, Layout());
    EXPECT_EQ(describe(type).of(7), Layout());
  }
  EXPECT_EQ(describe(MPI_INT).of(0), Layout());
}

TEST(Constructors, CountsAbove32BitsByNesting) {
  const OwnedType gigabyte = make(MPI_Type_contiguous, 1 << 30, MPI_CHAR);
  const OwnedType spread = make(MPI_Type_vector, 1 << 20, 3, 5, gigabyte);
  const Description description = describe(spread);
  const std::int64_t giga = std::int64_t{1} << 30;
  EXPECT_EQ(description.element, Layout::nest(0, {{Level{1 << 20, 5 * giga}}}, 3 * giga));
  EXPECT_EQ(describe(gigabyte).of(8), Layout::contiguous(8 * giga));
}

TEST(Constructors, NestedDeeply) {
  std::vector<OwnedType> types;
  types.push_back(make(MPI_Type_vector, 2, 1, 2, MPI_INT));
  for (int i = 1; i < deepest_nesting; ++i) {
    types.push_back(make(MPI_Type_dup, types.back()));
  }
  expect_elements(types.back(), 4, {0, 8}, 12);
  types.push_back(make(MPI_Type_dup, types.back()));
  EXPECT_TRUE(fails_with({"nested more than 1000 times"}, [&] { describe(types.back()); }));
}

TEST(Constructors, TheNullTypeIsRefused) {
  EXPECT_TRUE(fails_with({"MPI_DATATYPE_NULL"}, [] { describe(MPI_DATATYPE_NULL); }));
}

TEST(Constructors, LayoutsThatReachTooFarAreRefused) {
  const OwnedType wide = make(MPI_Type_create_resized, MPI_CHAR, MPI_Aint(0), MPI_Aint(1) << 61);
  const int indices[] = {0, 3};
  EXPECT_TRUE(fails_with({"2^62"}, [&] { describe(wide).of(4); }));
  const OwnedType list = make(MPI_Type_create_indexed_block, 2, 1, indices, wide);
  EXPECT_TRUE(fails_with({"2^62"}, [&] { describe(list); }));
}

int count_deletion(MPI_Datatype, int, void*, void* deletions) {
  ++*static_cast<int*>(deletions);
  return MPI_SUCCESS;
}

// MPI hands out the types that a type was made of, which live on until they are freed as often as they were handed out.
TEST(Constructors, DescribingGivesBackEveryTypeThatMpiHandsOut) {
  int deletions = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deletion, &key, &deletions);
  {
    OwnedType row = make(MPI_Type_vector, 2, 1, 2, MPI_INT);
    MPI_Type_set_attr(row, key, nullptr);
    const OwnedType rows = make(MPI_Type_contiguous, 2, row);
    const int lengths[] = {1, 0, 1, 1};
    const MPI_Aint displacements[] = {0, 1000, 100, 200};
    const MPI_Datatype types[] = {rows, row, MPI_INT, row};
    const OwnedType all = make(MPI_Type_create_struct, 4, lengths, displacements, types);
    describe(all);
    describe(all);
    { const OwnedType freed = std::move(row); }
    EXPECT_EQ(deletions, 0);
  }
  EXPECT_EQ(deletions, 1);
  MPI_Type_free_keyval(&key);
}

#if MPI_VERSION >= 4
TEST(Constructors, TypesMadeWithLargeCounts) {
  using Large = std::vector<MPI_Count>;
  const Large lengths{2, 1};
  const Large places{3, -1};
  const MPI_Count large = MPI_Count{1} << 33;
  EXPECT_EQ(describe(make(MPI_Type_contiguous_c, large, MPI_INT)).element, Layout::contiguous(4 * large));
  EXPECT_EQ(describe(make(MPI_Type_vector_c, large, MPI_Count{1}, MPI_Count{2}, MPI_INT)).element,
            Layout::nest(0, {{Level{large, 8}}}, 4));
  EXPECT_EQ(describe(make(MPI_Type_create_hvector_c, large, MPI_Count{1}, MPI_Count{5}, MPI_INT)).element,
            Layout::nest(0, {{Level{large, 5}}}, 4));
  expect_elements(make(MPI_Type_indexed_c, MPI_Count{2}, lengths.data(), places.data(), MPI_INT), 4, {12, 16, -4}, 24);
  expect_elements(make(MPI_Type_create_hindexed_c, MPI_Count{2}, lengths.data(), places.data(), MPI_CHAR), 1,
                  {3, 4, -1}, 6);
  expect_elements(make(MPI_Type_create_indexed_block_c, MPI_Count{2}, MPI_Count{1}, places.data(), MPI_INT), 4,
                  {12, -4}, 20);
  expect_elements(make(MPI_Type_create_hindexed_block_c, MPI_Count{2}, MPI_Count{1}, places.data(), MPI_CHAR), 1,
                  {3, -1}, 5);
  const MPI_Datatype types[] = {MPI_SHORT, MPI_CHAR};
  EXPECT_EQ(describe(make(MPI_Type_create_struct_c, MPI_Count{2}, lengths.data(), places.data(), types)).element,
            Layout::indexed({{layout::Run{3, 4}, layout::Run{-1, 1}}}));
  expect_elements(make(MPI_Type_create_resized_c, MPI_INT, MPI_Count{-2}, MPI_Count{9}), 4, {0}, 9);
  const Large sizes{3, 4};
  const Large extents{2, 2};
  const Large starts{1, 2};
  expect_elements(
      make(MPI_Type_create_subarray_c, 2, sizes.data(), extents.data(), starts.data(), MPI_ORDER_C, MPI_CHAR), 1,
      {6, 7, 10, 11}, 12);
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  const int blocks[] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
  const int grid[] = {2, 2};
  const Large array{5, 7};
  expect_elements(
      make(MPI_Type_create_darray_c, 4, 3, 2, array.data(), distributions, blocks, grid, MPI_ORDER_C, MPI_CHAR), 1,
      {23, 24, 27, 30, 31, 34}, 35);
}
#endif

}  // namespace
}  // namespace penstock::datatype
