// Collective calls leave on every rank what plain loops over all ranks' data make of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collectives.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/gas/elements.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

static_assert(Reduces<Sum, std::complex<double>> && Reduces<Minimum, float> && Reduces<BitXor, std::uint64_t>);
static_assert(!Reduces<Minimum, std::complex<double>>, "complex numbers have no order");
static_assert(!Reduces<BitAnd, double>, "bits of floating-point numbers are no numbers");

/// What rank `rank` contributes: small whole numbers, so that sums and products are exact in every type.
template <class T>
std::vector<T> data_of(int rank, std::size_t count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::vector<T> data(count);
  for (T& value : data) {
    value = static_cast<T>(static_cast<std::int8_t>(1 + random() % 3));
  }
  return data;
}

// No bytes, one line, around what travels with a header, and several pieces.
constexpr std::size_t counts[] = {0, 1, 7, 512, 513, 20'000};

TEST(Collectives, NoRankPassesABarrierBeforeAllHaveReachedIt) {
  on_worlds({1, 2, 3, 5, 8}, [](Team& team) {
    Segment segment(team, 0, 1);
    for (int round = 1; round <= 3; ++round) {
      for (int peer = 0; peer < team.size(); ++peer) {
        segment.put_signal(Pointer<>{peer, 0}, {}, 0);
      }
      Event reached = start_barrier(team);
      if (team.rank() != 0 && team.is_local(0)) {
        for (int i = 0; i < 10; ++i) {
          static_cast<void>(reached.test());
        }
      }
      reached.wait();
      // Signals to a local peer are there when they are sent, others come before what is sent after them.
      segment.wait(0, index(round * team.size()));
    }
    team.barrier();
  });
}

TEST(Collectives, ABarrierIsNotDoneWhileARankIsMissing) {
  on_worlds({2, 3, 4}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    Segment go(team, 0, 1);
    if (team.rank() == 1) {
      go.wait(0, index(team.size() - 1));
      start_barrier(team).wait();
    } else {
      Event reached = start_barrier(team);
      for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(reached.test());
      }
      go.notify(1, 0);
      reached.wait();
    }
    team.barrier();
  });
}

TEST(Collectives, ABroadcastGivesEveryRankTheRootsData) {
  on_worlds({1, 2, 3, 5, 8}, [](Team& team) {
    for (const std::size_t count : counts) {
      for (int root = 0; root < team.size(); root += 2) {
        for (const bool is_in_segment : {false, true}) {
          Elements<double> data(team, data_of<double>(team.rank(), count), is_in_segment);
          broadcast(team, data.span(), root);
          EXPECT_EQ(copy_of(data.span()), data_of<double>(root, count)) << count << " from " << root;
        }
      }
    }
  });
}

template <class T, class Operation>
std::vector<T> reduced(int ranks, std::size_t count, Operation operation) {
  auto result = data_of<T>(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const auto data = data_of<T>(rank, count);
    for (std::size_t i = 0; i < count; ++i) {
      result[i] = operation(result[i], data[i]);
    }
  }
  return result;
}

template <class T, class Operation>
void check_reductions(Team& team, Operation operation) {
  for (const std::size_t count : counts) {
    for (const bool is_in_segment : {false, true}) {
      const auto expected = reduced<T>(team.size(), count, operation);
      const int root = team.size() / 2;
      Elements<T> mine(team, data_of<T>(team.rank(), count), is_in_segment);
      Elements<T> result(team, std::vector<T>(team.rank() == root ? count : 0), is_in_segment);
      reduce(team, mine.span(), result.span(), operation, root);
      if (team.rank() == root) {
        EXPECT_EQ(copy_of(result.span()), expected);
      }
      Elements<T> everywhere(team, std::vector<T>(count), is_in_segment);
      all_reduce(team, mine.span(), everywhere.span(), operation);
      EXPECT_EQ(copy_of(everywhere.span()), expected);
      all_reduce(team, mine.span(), mine.span(), operation);
      EXPECT_EQ(copy_of(mine.span()), expected);
    }
  }
}

TEST(Collectives, ReductionsOfEveryKindAreThoseOfALoopOverRanks) {
  on_worlds({1, 2, 3, 4, 7}, [](Team& team) {
    check_reductions<std::int32_t>(team, Product());
    check_reductions<std::uint32_t>(team, BitXor());
    check_reductions<std::int64_t>(team, BitOr());
    check_reductions<std::uint64_t>(team, BitAnd());
    check_reductions<float>(team, Minimum());
    check_reductions<double>(team, Maximum());
    check_reductions<std::complex<float>>(team, Sum());
    check_reductions<std::complex<double>>(team, Sum());
    check_reductions<double>(team, [](double a, double b) { return std::max(a, b) - 0.0; });
  });
}

TEST(Collectives, AReductionOfElementsThatDoNotDivideAPieceIsWhole) {
  struct Vector {
    std::int32_t x, y, z;
    bool operator==(const Vector&) const = default;
  };
  on_worlds({2, 3}, [](Team& team) {
    std::vector<Vector> data(5000);
    std::vector<Vector> expected(5000);
    for (int i = 0; i < 5000; ++i) {
      data[index(i)] = {i, team.rank(), 1};
      expected[index(i)] = {i * team.size(), team.size() * (team.size() - 1) / 2, team.size()};
    }
    all_reduce(team, data, std::span(data), [](Vector a, Vector b) { return Vector{a.x + b.x, a.y + b.y, a.z + b.z}; });
    EXPECT_EQ(data, expected);
  });
}

TEST(Collectives, SumsAreEqualToTheLastBitOnEveryRankAndInEveryRun) {
  on_worlds({3, 4, 6, 7}, [](Team& team) {
    for (const std::size_t count : {std::size_t{100}, std::size_t{30'000}}) {
      std::mt19937_64 random(index(team.rank()));
      std::vector<double> data(count);
      for (double& value : data) {
        value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80));
      }
      std::vector<double> first(count);
      all_reduce(team, data, std::span(first), Sum());
      std::vector<double> of_zero = first;
      broadcast(team, std::span(of_zero), 0);
      EXPECT_EQ(std::memcmp(first.data(), of_zero.data(), count * sizeof(double)), 0);
      for (int run = 0; run < 3; ++run) {
        std::vector<double> again(count);
        all_reduce(team, data, std::span(again), Sum());
        EXPECT_EQ(std::memcmp(first.data(), again.data(), count * sizeof(double)), 0);
      }
    }
  });
}

TEST(Collectives, OfZerosOfBothSignsAllRanksTakeTheSame) {
  // Neither is the larger: which one remains depends on the order of the operands.
  on_worlds({2, 3, 4, 7}, [](Team& team) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{2000}}) {
      const std::vector<double> mine(count, team.rank() % 2 == 0 ? 0.0 : -0.0);
      std::vector<double> largest(count);
      all_reduce(team, mine, std::span(largest), Maximum());
      std::vector<double> of_zero = largest;
      broadcast(team, std::span(of_zero), 0);
      EXPECT_EQ(std::memcmp(largest.data(), of_zero.data(), count * sizeof(double)), 0);
    }
  });
}

TEST(Collectives, AGatherHasEveryRanksPartInOrder) {
  on_worlds({1, 2, 3, 5, 8}, [](Team& team) {
    for (const std::size_t count : counts) {
      const auto mine = data_of<float>(team.rank(), count);
      std::vector<float> expected;
      for (int rank = 0; rank < team.size(); ++rank) {
        const auto part = data_of<float>(rank, count);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const int root = team.size() - 1;
      std::vector<float> all(team.rank() == root ? expected.size() : 0);
      gather(team, mine, std::span(all), root);
      if (team.rank() == root) {
        EXPECT_EQ(all, expected);
      }
      std::vector<float> everywhere(expected.size());
      all_gather(team, mine, std::span(everywhere));
      EXPECT_EQ(everywhere, expected);
      Segment segment(team, expected.size() * sizeof(float), 0);
      all_gather(team, mine, segment.local_as<float>());
      EXPECT_TRUE(std::ranges::equal(segment.local_as<float>(), expected));
    }
  });
}

}  // namespace
}  // namespace penstock::gas
