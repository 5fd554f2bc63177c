// MPI_Alltoallw as programs transpose distributed arrays by it: large subarrays, in communicators of several kinds.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace penstock::interpose {
namespace {

/// The rows of a dimension that a rank owns, by uneven cuts.
struct Cut {
  Cut(int extent, int rank, int ranks) : first(extent * rank / ranks), extent(extent * (rank + 1) / ranks - first) {}
  int first;
  int extent;
};

/// A communicator of its own, freed in the end.
class Communicator {
 public:
  Communicator(int color, int key) {
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &ranks);
  }
  Communicator(const Communicator&) = delete;
  ~Communicator() { MPI_Comm_free(&comm_); }
  operator MPI_Comm() const { return comm_; }  // NOLINT(google-explicit-constructor): to be handed to MPI
  int rank = 0;
  int ranks = 1;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// An array of doubles, cut along one of its three directions: z x y x x points, x the last index. Every point holds a
/// number of its own.
class Slab {
 public:
  Slab(std::array<int, 3> global, int cut_direction, const Communicator& team)
      : extent_(global), global_(global), cut_(global[static_cast<std::size_t>(cut_direction)], team.rank, team.ranks) {
    first_[static_cast<std::size_t>(cut_direction)] = cut_.first;
    extent_[static_cast<std::size_t>(cut_direction)] = cut_.extent;
    points_.resize(static_cast<std::size_t>(extent_[0]) * static_cast<std::size_t>(extent_[1] * extent_[2]), -1);
  }

  template <class Use>
  void for_each(Use use) {
    std::size_t at = 0;
    for (int z = 0; z < extent_[0]; ++z) {
      for (int y = 0; y < extent_[1]; ++y) {
        for (int x = 0; x < extent_[2]; ++x) {
          use(points_[at++], (1.0 * (first_[0] + z) * global_[1] + first_[1] + y) * global_[2] + first_[2] + x);
        }
      }
    }
  }
  void fill(double offset) {
    for_each([&](double& point, double number) { point = number + offset; });
  }
  int count_wrong(double offset) {
    int wrong = 0;
    for_each([&](double point, double number) { wrong += point == number + offset ? 0 : 1; });
    return wrong;
  }
  double* data() { return points_.data(); }

  /// The subarrays that go to or come from each rank, cut along `direction`.
  std::vector<MPI_Datatype> parts(int direction, int ranks) const {
    std::vector<MPI_Datatype> types;
    for (int rank = 0; rank < ranks; ++rank) {
      const Cut cut(global_[static_cast<std::size_t>(direction)], rank, ranks);
      std::array<int, 3> extent = extent_;
      std::array<int, 3> start{};
      extent[static_cast<std::size_t>(direction)] = cut.extent;
      start[static_cast<std::size_t>(direction)] = cut.first;
      types.push_back(MPI_DATATYPE_NULL);
      if (cut.extent == 0 || points_.empty()) {
        continue;  // MPI has no empty subarrays
      }
      MPI_Type_create_subarray(3, extent_.data(), extent.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, &types.back());
      MPI_Type_commit(&types.back());
    }
    return types;
  }

 private:
  std::array<int, 3> first_{};
  std::array<int, 3> extent_;
  std::array<int, 3> global_;
  Cut cut_;
  std::vector<double> points_;
};

void transpose_there_and_back(const Communicator& team, std::array<int, 3> global, int from, int to) {
  Slab source(global, from, team);
  Slab result(global, to, team);
  std::vector<MPI_Datatype> sent = source.parts(to, team.ranks);
  std::vector<MPI_Datatype> received = result.parts(from, team.ranks);
  const auto counts_of = [](std::vector<MPI_Datatype>& types) {
    std::vector<int> counts;
    for (MPI_Datatype& type : types) {
      counts.push_back(type != MPI_DATATYPE_NULL ? 1 : 0);
      type = type != MPI_DATATYPE_NULL ? type : MPI_DOUBLE;
    }
    return counts;
  };
  const std::vector<int> sent_counts = counts_of(sent);
  const std::vector<int> received_counts = counts_of(received);
  const std::vector<int> zeros(sent.size(), 0);
  for (int round = 0; round < 3; ++round) {
    source.fill(round);
    ASSERT_EQ(MPI_Alltoallw(source.data(), sent_counts.data(), zeros.data(), sent.data(), result.data(),
                            received_counts.data(), zeros.data(), received.data(), team),
              MPI_SUCCESS);
    EXPECT_EQ(result.count_wrong(round), 0);
    result.fill(round + 10);
    ASSERT_EQ(MPI_Alltoallw(result.data(), received_counts.data(), zeros.data(), received.data(), source.data(),
                            sent_counts.data(), zeros.data(), sent.data(), team),
              MPI_SUCCESS);
    EXPECT_EQ(source.count_wrong(round + 10), 0);
  }
  for (std::vector<MPI_Datatype>* const types : {&sent, &received}) {
    for (MPI_Datatype& type : *types) {
      if (type != MPI_DOUBLE) {
        MPI_Type_free(&type);
      }
    }
  }
}

TEST(Alltoallw, TransposesSlabs) {
  const Communicator team(0, 0);
  for (const auto& [from, to] : {std::array{0, 1}, std::array{0, 2}, std::array{1, 2}, std::array{2, 0}}) {
    SCOPED_TRACE(testing::Message() << "from direction " << from << " to " << to);
    transpose_there_and_back(team, {130, 97, 110}, from, to);  // parts of several turns of a ring
    transpose_there_and_back(team, {5, 6, 7}, from, to);
    transpose_there_and_back(team, {2, 9, 3}, from, to);  // some ranks own nothing
  }
}

TEST(Alltoallw, ServesCommunicatorsSideBySide) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Communicator turned(0, -rank);
  const Communicator half(rank % 2, rank);
  const Communicator alone(rank, 0);
  for (int round = 0; round < 3; ++round) {
    transpose_there_and_back(turned, {40, 30, 20}, 0, 1);
    transpose_there_and_back(half, {16 + rank % 2, 30, 20}, 1, 0);
    transpose_there_and_back(alone, {8, 30, 20 + rank}, 2, 1);
  }
}

TEST(Alltoallw, OtherMessagesGoOn) {
  // A send that needs its receiver's help to end, while the receiver waits in MPI_Alltoallw for the sender.
  const Communicator team(0, 0);
  if (team.ranks < 2) {
    GTEST_SKIP() << "needs a peer";
  }
  std::vector<double> message(1 << 20, team.rank);
  MPI_Request request = MPI_REQUEST_NULL;
  if (team.rank == 1) {
    MPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, 0, 5, team, &request);
  } else if (team.rank == 0) {
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_DOUBLE, 1, 5, team);
  }
  transpose_there_and_back(team, {12, 12, 12}, 0, 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(message.back(), team.rank == 1 ? 0 : team.rank);
}

/// Whether the library is loaded on all ranks.
bool is_served(MPI_Comm comm) {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  const char* const mode = std::getenv("PENSTOCK_MPI");
  int served = preloaded != nullptr && std::string_view(preloaded).find("penstock-mpi") != std::string_view::npos &&
                       (mode == nullptr || std::string_view(mode) != "off")
                   ? 1
                   : 0;
  MPI_Allreduce(MPI_IN_PLACE, &served, 1, MPI_INT, MPI_MIN, comm);
  return served != 0;
}

TEST(Alltoallw, SaysThatAPartWasTooLong) {
  const Communicator team(0, 0);
  if (team.ranks < 2 || !is_served(team)) {
    GTEST_SKIP() << "needs a peer, and the library: MPI itself may wait for ever";
  }
  constexpr int most = 100000;
  const auto ranks = static_cast<std::size_t>(team.ranks);
  std::vector<double> sent(ranks * most, team.rank);
  std::vector<double> received(ranks * most, -1);
  std::vector<int> places(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    places[i] = static_cast<int>(i * most * sizeof(double));
  }
  const std::vector<MPI_Datatype> types(ranks, MPI_DOUBLE);
  const std::vector<int> counts(ranks, most);
  std::vector<int> expected = counts;
  if (team.rank == 0) {
    expected[1] = 1000;
  }
  const int result = MPI_Alltoallw(sent.data(), counts.data(), places.data(), types.data(), received.data(),
                                   expected.data(), places.data(), types.data(), team);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(result, &error_class);
  EXPECT_EQ(error_class, team.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  for (std::size_t i = 0; i < received.size(); ++i) {
    const std::size_t from = i / most;
    const bool has_come = static_cast<int>(i % most) < expected[from];
    ASSERT_EQ(received[i], has_come ? static_cast<double>(from) : -1) << i;
  }
  transpose_there_and_back(team, {12, 12, 12}, 0, 1);  // nothing is left of it
}

}  // namespace
}  // namespace penstock::interpose
