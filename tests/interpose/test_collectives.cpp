// Collectives of random types: every part is where MPI's definition says, and nothing else is touched.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "modes.hpp"

namespace penstock::interpose {
namespace {

/// The bytes of `count` elements from element `first` on, of the buffer that rank `who` fills.
Packed part_of(const Case& of, int all, int who, int first, int count) {
  const Packed packed = Buffer(of.type, all, who).packed();
  const auto each = static_cast<std::ptrdiff_t>(of.type.bytes.size());
  return {packed.begin() + first * each, packed.begin() + (first + count) * each};
}

void append(Packed& all, const Packed& part) {
  all.insert(all.end(), part.begin(), part.end());
}

/// Unequal parts of ranks in one buffer, with `gap` unused elements in front of each.
struct Spread {
  Spread(int ranks, int gap) : counts(static_cast<std::size_t>(ranks)), displacements(counts.size()) {
    int at = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      at += gap;
      counts[static_cast<std::size_t>(rank)] = rank % 3 == 1 ? 0 : 1 + rank % 2;
      displacements[static_cast<std::size_t>(rank)] = at;
      at += counts[static_cast<std::size_t>(rank)];
    }
    elements = at;
  }
  int count(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
  int at(int rank) const { return displacements[static_cast<std::size_t>(rank)]; }

  std::vector<int> counts;
  std::vector<int> displacements;
  int elements = 0;
};

/// A buffer's storage after parts were put at their elements.
Packed storage_with(const Case& of, const Buffer& buffer, const Spread& spread, const std::vector<Packed>& parts) {
  Packed packed = buffer.packed();
  const std::size_t each = of.type.bytes.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::ranges::copy(parts[i], packed.begin() + static_cast<std::ptrdiff_t>(
                                                     static_cast<std::size_t>(spread.displacements[i]) * each));
  }
  return buffer.storage_after(packed);
}

TEST(Collectives, BcastReachesAll) {
  for_each_mode_and_case(200, [](const Case& of, Mode mode) {
    const Ring ring;
    const int root = of.count % ring.ranks;
    Buffer buffer(of.type, of.count, ring.rank);
    const Packed expected = buffer.storage_after(Buffer(of.type, of.count, root).packed());
    run(mode, MPI_Bcast, MPI_Ibcast, buffer.address(), of.count, of.type.type, root, MPI_COMM_WORLD);
    EXPECT_TRUE(buffer.storage() == expected);
  });
}

TEST(Collectives, GatherAndAllgatherBringAllParts) {
  for_each_mode_and_case(201, [](const Case& of, Mode mode) {
    const Ring ring;
    const int all = of.count * ring.ranks;
    if (!Buffer(of.type, all, 0).can_receive()) {
      return;
    }
    for (const bool is_in_place : {false, true}) {
      Packed parts;
      for (int rank = 0; rank < ring.ranks; ++rank) {
        append(parts, is_in_place ? part_of(of, all, 50 + rank, rank * of.count, of.count)
                                  : part_of(of, of.count, 50 + rank, 0, of.count));
      }
      Buffer own(of.type, of.count, 50 + ring.rank);
      Buffer gathered(of.type, all, 50 + ring.rank);
      Packed expected = gathered.storage_after(parts);
      const void* sent = is_in_place ? MPI_IN_PLACE : own.address();
      run(mode, MPI_Allgather, MPI_Iallgather, sent, of.count, of.type.type, gathered.address(), of.count, of.type.type,
          MPI_COMM_WORLD);
      EXPECT_TRUE(gathered.storage() == expected) << "allgather, in place: " << is_in_place;

      gathered.fill(50 + ring.rank);
      const int root = ring.ranks - 1;
      expected = ring.rank == root ? expected : gathered.storage();
      const int mine = ring.rank * of.count;
      void* const from =
          is_in_place ? static_cast<std::byte*>(gathered.address()) + mine * of.type.extent : own.address();
      run(mode, MPI_Gather, MPI_Igather, is_in_place && ring.rank == root ? MPI_IN_PLACE : from, of.count, of.type.type,
          gathered.address(), of.count, of.type.type, root, MPI_COMM_WORLD);
      EXPECT_TRUE(gathered.storage() == expected) << "gather, in place: " << is_in_place;
    }
  });
}

TEST(Collectives, GathervAndAllgathervPutPartsWhereTheyBelong) {
#ifdef MPICH
  if (Ring().ranks == 1) {
    GTEST_SKIP() << "MPICH 4.0.2 ignores the displacement of a single rank";
  }
#endif
  for_each_mode_and_case(202, [](const Case& of, Mode mode) {
    const Ring ring;
    const Spread spread(ring.ranks, 2);
    if (!Buffer(of.type, spread.elements, 0).can_receive()) {
      return;
    }
    std::vector<Packed> parts;
    for (int rank = 0; rank < ring.ranks; ++rank) {
      parts.push_back(part_of(of, spread.count(rank), rank, 0, spread.count(rank)));
    }
    const int mine = spread.count(ring.rank);
    Buffer own(of.type, mine, ring.rank);
    Buffer gathered(of.type, spread.elements, 1000);
    const Packed expected = storage_with(of, gathered, spread, parts);
    run(mode, MPI_Allgatherv, MPI_Iallgatherv, own.address(), mine, of.type.type, gathered.address(),
        spread.counts.data(), spread.displacements.data(), of.type.type, MPI_COMM_WORLD);
    EXPECT_TRUE(gathered.storage() == expected);

    gathered.fill(1000);
    const Packed untouched = gathered.storage();
    run(mode, MPI_Gatherv, MPI_Igatherv, own.address(), mine, of.type.type, gathered.address(), spread.counts.data(),
        spread.displacements.data(), of.type.type, 0, MPI_COMM_WORLD);
    EXPECT_TRUE(gathered.storage() == (ring.rank == 0 ? expected : untouched));
  });
}

TEST(Collectives, ScatterDealsOut) {
  for_each_mode_and_case(203, [](const Case& of, Mode mode) {
    const Ring ring;
    const int all = of.count * ring.ranks;
    Buffer dealt(of.type, all, 7);
    Buffer received(of.type, of.count, 1000);
    const Packed expected = received.storage_after(part_of(of, all, 7, ring.rank * of.count, of.count));
    run(mode, MPI_Scatter, MPI_Iscatter, dealt.address(), of.count, of.type.type, received.address(), of.count,
        of.type.type, 0, MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == expected);

    received.fill(1000);
    const Packed untouched = received.storage();
    void* const to = ring.rank == 0 ? MPI_IN_PLACE : received.address();
    run(mode, MPI_Scatter, MPI_Iscatter, dealt.address(), of.count, of.type.type, to, of.count, of.type.type, 0,
        MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == (ring.rank == 0 ? untouched : expected));
  });
}

TEST(Collectives, ScattervDealsOutUnequally) {
  for_each_mode_and_case(204, [](const Case& of, Mode mode) {
    const Ring ring;
    const Spread spread(ring.ranks, 1);
    const int mine = spread.count(ring.rank);
    Buffer dealt(of.type, spread.elements, 8);
    Buffer received(of.type, mine, 1000);
    const Packed expected = received.storage_after(part_of(of, spread.elements, 8, spread.at(ring.rank), mine));
    run(mode, MPI_Scatterv, MPI_Iscatterv, dealt.address(), spread.counts.data(), spread.displacements.data(),
        of.type.type, received.address(), mine, of.type.type, 0, MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == expected);
  });
}

TEST(Collectives, AlltoallTransposesTheRanks) {
  for_each_mode_and_case(205, [](const Case& of, Mode mode) {
    const Ring ring;
    const int all = of.count * ring.ranks;
    if (!Buffer(of.type, all, 0).can_receive()) {
      return;
    }
    Packed parts;
    for (int rank = 0; rank < ring.ranks; ++rank) {
      append(parts, part_of(of, all, rank, ring.rank * of.count, of.count));
    }
    Buffer sent(of.type, all, ring.rank);
    Buffer received(of.type, all, 1000);
    Packed expected = received.storage_after(parts);
    run(mode, MPI_Alltoall, MPI_Ialltoall, sent.address(), of.count, of.type.type, received.address(), of.count,
        of.type.type, MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == expected);

    expected = sent.storage_after(parts);
    run(mode, MPI_Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sent.address(), of.count, of.type.type,
        MPI_COMM_WORLD);
    EXPECT_TRUE(sent.storage() == expected);
  });
}

TEST(Collectives, AlltoallvAndAlltoallwTransposeUnequalParts) {
  for_each_mode_and_case(206, [](const Case& of, Mode mode) {
    const Ring ring;
    // Rank r sends (r + to) % 2 + 1 elements to rank `to`: symmetric, so that both sides know.
    const auto ranks = static_cast<std::size_t>(ring.ranks);
    std::vector<int> counts(ranks);
    std::vector<int> displacements(ranks);
    std::vector<int> bytes_at(ranks);
    Packed parts;
    int at = 0;
    for (int rank = 0; rank < ring.ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      counts[i] = (ring.rank + rank) % 2 + 1;
      displacements[i] = at;
      bytes_at[i] = static_cast<int>(at * of.type.extent);
      at += counts[i];
    }
    for (int rank = 0; rank < ring.ranks; ++rank) {
      int all = 0;
      int first = 0;
      for (int to = 0; to < ring.ranks; ++to) {
        first = to == ring.rank ? all : first;
        all += (rank + to) % 2 + 1;
      }
      append(parts, part_of(of, all, rank, first, counts[static_cast<std::size_t>(rank)]));
    }
    Buffer sent(of.type, at, ring.rank);
    Buffer received(of.type, at, 1000);
    if (!received.can_receive()) {
      return;
    }
    const Packed expected = received.storage_after(parts);
    run(mode, MPI_Alltoallv, MPI_Ialltoallv, sent.address(), counts.data(), displacements.data(), of.type.type,
        received.address(), counts.data(), displacements.data(), of.type.type, MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == expected);

    received.fill(1000);
    const std::vector<MPI_Datatype> types(ranks, of.type.type);
    run(mode, MPI_Alltoallw, MPI_Ialltoallw, sent.address(), counts.data(), bytes_at.data(), types.data(),
        received.address(), counts.data(), bytes_at.data(), types.data(), MPI_COMM_WORLD);
    EXPECT_TRUE(received.storage() == expected);
  });
}

TEST(Collectives, AlltoallwMixesTypes) {
  const Ring ring;
  constexpr int rows = 300;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  // Columns to even ranks, plain integers to odd ones; received the same way.
  const auto ranks = static_cast<std::size_t>(ring.ranks);
  std::vector<int> sent(rows * 4 * ranks);
  std::iota(sent.begin(), sent.end(), ring.rank * 100000);
  std::vector<int> received(sent.size(), -1);
  std::vector<int> send_counts(ranks);
  std::vector<int> receive_counts(ranks);
  std::vector<int> places(ranks);
  std::vector<MPI_Datatype> send_types(ranks);
  std::vector<MPI_Datatype> receive_types(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    const bool is_column = i % 2 == 0;
    send_counts[i] = is_column ? 1 : rows;
    send_types[i] = is_column ? column : MPI_INT;
    const bool am_even = ring.rank % 2 == 0;
    receive_counts[i] = am_even ? 1 : rows;
    receive_types[i] = am_even ? column : MPI_INT;
    places[i] = static_cast<int>(i * rows * 4 * sizeof(int));
  }
  MPI_Alltoallw(sent.data(), send_counts.data(), places.data(), send_types.data(), received.data(),
                receive_counts.data(), places.data(), receive_types.data(), MPI_COMM_WORLD);
  for (std::size_t i = 0; i < ranks; ++i) {
    for (int k = 0; k < rows; ++k) {
      const int step = ring.rank % 2 == 0 ? 4 : 1;
      const auto place = i * rows * 4 + static_cast<std::size_t>(k * step);
      const int value = static_cast<int>(i) * 100000 + ring.rank * rows * 4 + k * step;
      EXPECT_EQ(received[place], value);
    }
  }
  MPI_Type_free(&column);
}

TEST(Collectives, StartedOnesMayOutliveTheirTypes) {
  const Ring ring;
  constexpr int rows = 4000;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> sent(rows * 3);
  std::iota(sent.begin(), sent.end(), ring.rank * 100000);
  std::vector<int> received(sent.size() * static_cast<std::size_t>(ring.ranks), -1);
  MPI_Datatype columns = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(column, 0, rows * 3 * sizeof(int), &columns);
  MPI_Type_commit(&columns);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallgather(sent.data(), 1, column, received.data(), 1, columns, MPI_COMM_WORLD, &request);
  MPI_Type_free(&column);
  MPI_Type_free(&columns);
  int is_complete = 0;
  while (is_complete == 0) {
    MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
  }
  for (std::size_t i = 0; i < received.size(); ++i) {
    const int from = static_cast<int>(i / sent.size());
    EXPECT_EQ(received[i], i % 3 == 0 ? from * 100000 + static_cast<int>(i % sent.size()) : -1);
  }
}

}  // namespace
}  // namespace penstock::interpose
