// MPI_Pack and MPI_Unpack, absolute addresses, and what MPI refuses.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "buffer.hpp"

namespace penstock::interpose {
namespace {

int class_of(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

MPI_Datatype make_column(int rows, bool is_committed = true) {
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 2, MPI_INT, &column);
  if (is_committed) {
    MPI_Type_commit(&column);
  }
  return column;
}

TEST(Pack, PutsElementsBehindThePosition) {
  for_each_case(60, 400, [](const Case& of) {
    Buffer from(of.type, of.count, 1);
    const Packed packed = from.packed();
    constexpr std::size_t before = 11;
    Packed buffer(packed.size() + 2 * before, std::byte{0x5a});
    Packed expected = buffer;
    std::ranges::copy(packed, expected.begin() + before);
    int position = before;
    MPI_Pack(from.address(), of.count, of.type.type, buffer.data(), static_cast<int>(buffer.size()), &position,
             MPI_COMM_SELF);
    EXPECT_EQ(position, static_cast<int>(before + packed.size()));
    EXPECT_TRUE(buffer == expected);

    Buffer to(of.type, of.count, 2);
    const Packed after = to.storage_after(packed);
    position = before;
    MPI_Unpack(buffer.data(), static_cast<int>(buffer.size()), &position, to.address(), of.count, of.type.type,
               MPI_COMM_WORLD);
    EXPECT_EQ(position, static_cast<int>(before + packed.size()));
    EXPECT_TRUE(to.storage() == after);
  });
}

TEST(Pack, AbsoluteAddressesGoWithBottom) {
  std::vector<int> one(100, 1);
  std::vector<int> two(100, 2);
  int lengths[] = {40, 50};
  MPI_Aint addresses[2];
  MPI_Get_address(one.data(), &addresses[0]);
  MPI_Get_address(two.data(), &addresses[1]);
  MPI_Datatype both = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &both);
  MPI_Type_commit(&both);
  const Ring ring;
  std::vector<int> received(90);
  MPI_Sendrecv(MPI_BOTTOM, 1, both, ring.next, 0, received.data(), 90, MPI_INT, ring.previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT_EQ(received[39], 1);
  EXPECT_EQ(received[40], 2);
  std::ranges::fill(received, 7);
  MPI_Sendrecv(received.data(), 90, MPI_INT, ring.next, 0, MPI_BOTTOM, 1, both, ring.previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT_EQ(one[39], 7);
  EXPECT_EQ(one[40], 1);
  EXPECT_EQ(two[49], 7);
  EXPECT_EQ(two[50], 2);
  MPI_Type_free(&both);
}

TEST(Errors, AreMpisOwn) {
  std::vector<int> numbers(200);
  MPI_Datatype column = make_column(50);
  EXPECT_EQ(class_of(MPI_Send(numbers.data(), -1, column, 0, 0, MPI_COMM_WORLD)), MPI_ERR_COUNT);
  EXPECT_EQ(class_of(MPI_Send(numbers.data(), 1, column, 4711, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
  EXPECT_EQ(class_of(MPI_Send(numbers.data(), 1, column, 0, -4711, MPI_COMM_WORLD)), MPI_ERR_TAG);
  EXPECT_EQ(class_of(MPI_Send(numbers.data(), 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
  MPI_Datatype uncommitted = make_column(50, false);
  EXPECT_EQ(class_of(MPI_Send(numbers.data(), 1, uncommitted, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TYPE);
  MPI_Type_free(&uncommitted);
  MPI_Type_free(&column);
}

TEST(Errors, AMessageTooLongIsTruncated) {
  const Ring ring;
  for (const int rows : {50, 5000}) {
    std::vector<int> sent(static_cast<std::size_t>(rows) * 2, 3);
    std::vector<int> received(sent.size(), -1);
    MPI_Datatype column = make_column(rows);
    MPI_Datatype shorter = make_column(rows - 10);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), 1, column, ring.next, 0, MPI_COMM_WORLD, &request);
    EXPECT_EQ(class_of(MPI_Recv(received.data(), 1, shorter, ring.previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
              MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (std::size_t i = 2 * static_cast<std::size_t>(rows - 10); i < received.size(); ++i) {
      EXPECT_EQ(received[i], -1);
    }
    MPI_Type_free(&column);
    MPI_Type_free(&shorter);
  }
}

TEST(Types, ACommittedDuplicateIsUsable) {
  MPI_Datatype column = make_column(100);
  MPI_Datatype duplicate = MPI_DATATYPE_NULL;
  MPI_Type_dup(column, &duplicate);
  MPI_Type_free(&column);
  const Ring ring;
  std::vector<int> sent(200, ring.rank);
  std::vector<int> received(200, -1);
  MPI_Sendrecv(sent.data(), 1, duplicate, ring.next, 0, received.data(), 1, duplicate, ring.previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  EXPECT_EQ(received[0], ring.previous);
  EXPECT_EQ(received[1], -1);
  MPI_Type_free(&duplicate);
}

TEST(Types, AHandleFreedPastTheLibraryIsForgotten) {
  const Ring ring;
  for (int stride = 2; stride < 40; ++stride) {
    MPI_Datatype vector = MPI_DATATYPE_NULL;
    MPI_Type_vector(20, 1, stride, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    std::vector<int> sent(static_cast<std::size_t>(stride) * 20, stride);
    std::vector<int> received(sent.size(), -1);
    MPI_Sendrecv(sent.data(), 1, vector, ring.next, 0, received.data(), 1, vector, ring.previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < received.size(); ++i) {
      ASSERT_EQ(received[i], i % static_cast<std::size_t>(stride) == 0 ? stride : -1) << stride;
    }
    PMPI_Type_free(&vector);  // as a Fortran program under Open MPI does
  }
}

}  // namespace
}  // namespace penstock::interpose
