// Collectives between the neighbours of a topology. What must arrive is what MPI itself brings of the packed bytes.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "modes.hpp"

namespace penstock::interpose {
namespace {

/// A communicator with neighbours, freed in the end.
class Topology {
 public:
  using Make = std::function<void(MPI_Comm* comm)>;

  Topology(const Make& make, int to, int from) : to(to), from(from) { make(&comm_); }
  Topology(const Topology&) = delete;
  ~Topology() { MPI_Comm_free(&comm_); }
  operator MPI_Comm() const { return comm_; }  // NOLINT(google-explicit-constructor): to be handed to MPI

  int to;    // how many neighbours it sends to
  int from;  // how many it receives from

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Calls `use` with grids, closed and open, and with a graph, in which more may come in than go out.
template <class Use>
void for_each_topology(Use use) {
  const Ring ring;
  {
    SCOPED_TRACE("closed ring");
    const int closed = 1;
    use(Topology([&](MPI_Comm* comm) { MPI_Cart_create(MPI_COMM_WORLD, 1, &ring.ranks, &closed, 0, comm); }, 2, 2));
  }
  {
    SCOPED_TRACE("open grid");
    std::array<int, 2> extents{};
    const std::array<int, 2> closed{0, 0};
    MPI_Dims_create(ring.ranks, 2, extents.data());
    use(Topology([&](MPI_Comm* comm) { MPI_Cart_create(MPI_COMM_WORLD, 2, extents.data(), closed.data(), 0, comm); }, 4,
                 4));
  }
  {
    SCOPED_TRACE("graph");
    // Everyone sends to the next rank and to one more, where that is another: MPI leaves open which of two messages is
    // which.
    const auto one_more = []([[maybe_unused]] int rank) {
#ifdef MPICH
      return rank;  // MPICH 4.0.2 reads as many counts of what is received as it sends to neighbours
#else
      return 0;
#endif
    };
    std::vector<int> to{ring.next};
    std::vector<int> from{ring.previous};
    for (int rank = 0; rank < ring.ranks; ++rank) {
      if (one_more(rank) == (rank + 1) % ring.ranks) {
        continue;
      }
      if (rank == ring.rank) {
        to.push_back(one_more(rank));
      }
      if (one_more(rank) == ring.rank) {
        from.push_back(rank);
      }
    }
    const int out = static_cast<int>(to.size());
    const int in = static_cast<int>(from.size());
    use(Topology(
        [&](MPI_Comm* comm) {
          MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from.data(), MPI_UNWEIGHTED, out, to.data(),
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, comm);
        },
        out, in));
  }
}

/// What one neighbour sends another: `count` elements each, `apart` elements from one to the next in the buffers.
struct Parts {
  Parts(const Case& of, int neighbours, int apart)
      : counts(static_cast<std::size_t>(neighbours), of.count),
        byte_counts(counts.size(), of.count * static_cast<int>(of.type.bytes.size())),
        types(counts.size(), of.type.type) {
    for (int i = 0; i < neighbours; ++i) {
      displacements.push_back(i * apart);
      byte_displacements.push_back(displacements.back() * static_cast<int>(of.type.bytes.size()));
      addresses.push_back(displacements.back() * of.type.extent);
    }
    elements = neighbours * apart;
  }

  std::vector<int> counts;
  std::vector<int> byte_counts;
  std::vector<int> displacements;       // in elements
  std::vector<int> byte_displacements;  // of the packed buffer
  std::vector<MPI_Aint> addresses;      // in bytes
  std::vector<MPI_Datatype> types;
  int elements = 0;
};

/// A call with a random type, and the same with its packed bytes.
struct Twins {
  Twins(const Case& of, int elements_sent, int elements_received, int rank)
      : sent(of.type, elements_sent, rank),
        received(of.type, elements_received, 1000),
        packed_sent(sent.packed()),
        packed_received(received.packed()) {}
  void check() const { EXPECT_TRUE(received.storage() == received_before.storage_after(packed_received)); }
  /// Whether all ranks can, which have several neighbours.
  bool can_receive() const {
    int can = received.can_receive() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return can != 0;
  }

  Buffer sent;
  Buffer received;
  Buffer received_before = received;
  Packed packed_sent;
  Packed packed_received;
};

TEST(Neighbours, AllgatherBringsAllParts) {
  for_each_topology([](const Topology& comm) {
    for_each_mode_and_case(400, [&](const Case& of, Mode mode) {
      Twins twins(of, of.count, of.count * comm.from, Ring().rank);
      if (!twins.can_receive()) {
        return;
      }
      const int bytes = of.count * static_cast<int>(of.type.bytes.size());
      run(mode, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, twins.sent.address(), of.count, of.type.type,
          twins.received.address(), of.count, of.type.type, comm);
      run(mode, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, twins.packed_sent.data(), bytes, MPI_BYTE,
          twins.packed_received.data(), bytes, MPI_BYTE, comm);
      twins.check();
    });
  });
}

TEST(Neighbours, AllgathervPutsPartsWhereTheyBelong) {
  for_each_topology([](const Topology& comm) {
    for_each_mode_and_case(401, [&](const Case& of, Mode mode) {
      const Parts parts(of, comm.from, of.count + 1);
      Twins twins(of, of.count, parts.elements, Ring().rank);
      if (!twins.can_receive()) {
        return;
      }
      run(mode, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, twins.sent.address(), of.count, of.type.type,
          twins.received.address(), parts.counts.data(), parts.displacements.data(), of.type.type, comm);
      run(mode, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, twins.packed_sent.data(),
          static_cast<int>(twins.packed_sent.size()), MPI_BYTE, twins.packed_received.data(), parts.byte_counts.data(),
          parts.byte_displacements.data(), MPI_BYTE, comm);
      twins.check();
    });
  });
}

TEST(Neighbours, AlltoallBringsEachItsPart) {
  for_each_topology([](const Topology& comm) {
    for_each_mode_and_case(402, [&](const Case& of, Mode mode) {
      Twins twins(of, of.count * comm.to, of.count * comm.from, Ring().rank);
      if (!twins.can_receive()) {
        return;
      }
      const int bytes = of.count * static_cast<int>(of.type.bytes.size());
      run(mode, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, twins.sent.address(), of.count, of.type.type,
          twins.received.address(), of.count, of.type.type, comm);
      run(mode, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, twins.packed_sent.data(), bytes, MPI_BYTE,
          twins.packed_received.data(), bytes, MPI_BYTE, comm);
      twins.check();
    });
  });
}

TEST(Neighbours, AlltoallvAndAlltoallwPutPartsWhereTheyBelong) {
  for_each_topology([](const Topology& comm) {
    for_each_mode_and_case(403, [&](const Case& of, Mode mode) {
      const Parts to(of, comm.to, of.count);
      const Parts from(of, comm.from, of.count + 2);
      Twins twins(of, to.elements, from.elements, Ring().rank);
      if (!twins.can_receive()) {
        return;
      }
      run(mode, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, twins.sent.address(), to.counts.data(),
          to.displacements.data(), of.type.type, twins.received.address(), from.counts.data(),
          from.displacements.data(), of.type.type, comm);
      run(mode, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, twins.packed_sent.data(), to.byte_counts.data(),
          to.byte_displacements.data(), MPI_BYTE, twins.packed_received.data(), from.byte_counts.data(),
          from.byte_displacements.data(), MPI_BYTE, comm);
      twins.check();

      twins.received.fill(1000);
      run(mode, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, twins.sent.address(), to.counts.data(),
          to.addresses.data(), to.types.data(), twins.received.address(), from.counts.data(), from.addresses.data(),
          from.types.data(), comm);
      twins.check();
    });
  });
}

}  // namespace
}  // namespace penstock::interpose
