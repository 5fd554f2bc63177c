// Global arrays hold what a plain array of the whole would, whoever writes and reads, however they are dealt out. The
// seed of the random ones is read from PENSTOCK_TEST_SEED, else 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fails_with.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

std::uint64_t seed() {
  const char* text = std::getenv("PENSTOCK_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

/// The array as one process would hold it.
template <class T, std::size_t N>
struct Model {
  Index<N> extents;
  std::vector<T> elements;

  explicit Model(const Index<N>& of) : extents(of), elements(static_cast<std::size_t>(Box<N>{{}, of}.count())) {}

  T& at(const Index<N>& index) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < N; ++d) {
      place = place * static_cast<std::size_t>(extents[d]) + static_cast<std::size_t>(index[d]);
    }
    return elements.at(place);
  }
};

/// Calls visit(index) for each element of a box, in C order.
template <std::size_t N, class Visit>
void walk(const Box<N>& box, const Visit& visit) {
  if (box.count() == 0) {
    return;
  }
  for (Index<N> index = box.first;;) {
    visit(index);
    std::size_t d = N;
    while (d-- > 0 && ++index[d] == box.first[d] + box.extents[d]) {
      index[d] = box.first[d];
    }
    if (d > N) {
      return;
    }
  }
}

/// What a rank does to a stripe of the array that it has to itself for a while. All ranks know what each does.
template <std::size_t N>
struct Deed {
  enum class Kind { put, put_reversed, put_element, add, swap, look, look_reversed } kind;
  Box<N> box;
  std::int64_t value;

  std::int64_t value_at(std::size_t element) const { return value + static_cast<std::int64_t>(element) * 1000; }
};

template <std::size_t N>
std::vector<Deed<N>> deeds_in(const Box<N>& stripe, std::mt19937_64& random) {
  std::vector<Deed<N>> deeds;
  for (int i = 0; i < 12 && stripe.count() > 0; ++i) {
    Deed<N> deed{.kind = static_cast<typename Deed<N>::Kind>(random() % 7),
                 .box = stripe,
                 .value = static_cast<std::int64_t>(random())};
    for (std::size_t d = 0; d < N; ++d) {
      const auto extent = static_cast<std::uint64_t>(stripe.extents[d]);
      const auto skipped = static_cast<std::int64_t>(random() % extent);
      deed.box.first[d] += skipped;
      deed.box.extents[d] = static_cast<std::int64_t>(random() % (extent - static_cast<std::uint64_t>(skipped) + 1));
    }
    deeds.push_back(deed);
  }
  return deeds;
}

/// Strides of a box whose first dimension is the fastest, every second element unused.
template <std::size_t N>
Index<N> reversed_strides(const Box<N>& box) {
  Index<N> strides;
  std::int64_t stride = 2;
  for (std::size_t d = 0; d < N; ++d) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(box.extents[d], 1);
  }
  return strides;
}

template <std::size_t N>
class Player {
 public:
  Player(Team& team, const ArrayShape<N>& shape) : team_(team), array_(team, shape), model_(shape.extents) {}

  void play(std::mt19937_64& random) {
    for (int round = 0; round < 3; ++round) {
      const std::size_t across = random() % N;
      for (int rank = 0; rank < team_.size(); ++rank) {
        Box<N> stripe{{}, model_.extents};
        const std::int64_t extent = stripe.extents[across];
        stripe.first[across] = extent * rank / team_.size();
        stripe.extents[across] = extent * (rank + 1) / team_.size() - stripe.first[across];
        for (const Deed<N>& deed : deeds_in(stripe, random)) {
          carry_out(deed, rank == team_.rank());
        }
      }
      wait_all(pending_);
      pending_.clear();
      kept_.clear();
      team_.barrier();
      check_all();
      team_.barrier();
    }
  }

 private:
  using Kind = typename Deed<N>::Kind;

  /// On the model; and where it is this rank's own, on the array.
  void carry_out(const Deed<N>& deed, bool is_mine) {
    const auto count = static_cast<std::size_t>(deed.box.count());
    const bool is_reversed = deed.kind == Kind::put_reversed || deed.kind == Kind::look_reversed;
    const Index<N> strides = reversed_strides(deed.box);
    // Where element i of the box, of index `index`, lies here.
    const auto place = [&](std::size_t i, const Index<N>& index) {
      std::int64_t at = 0;
      for (std::size_t d = 0; d < N; ++d) {
        at += (index[d] - deed.box.first[d]) * strides[d];
      }
      return is_reversed ? static_cast<std::size_t>(at) : i;
    };
    switch (deed.kind) {
      case Kind::put:
      case Kind::put_reversed: {
        std::vector<std::int64_t> data(2 * count + 1);
        std::size_t i = 0;
        walk(deed.box, [&](const Index<N>& index) {
          model_.at(index) = data[place(i, index)] = deed.value_at(i);
          ++i;
        });
        if (is_mine) {
          settle();
          put(deed.box, std::move(data), strides, is_reversed);
        }
        return;
      }
      case Kind::look:
      case Kind::look_reversed:
        if (is_mine) {
          settle();
          std::vector<std::int64_t> data(2 * count + 1, -1);
          if (is_reversed) {
            array_.start_get(deed.box, data.data(), strides).wait();
          } else {
            array_.get(deed.box, std::span(data).first(count));
          }
          std::size_t i = 0;
          walk(deed.box, [&](const Index<N>& index) {
            ASSERT_EQ(data[place(i, index)], model_.at(index));
            ++i;
          });
          EXPECT_EQ(std::ranges::count(data, -1), static_cast<std::ptrdiff_t>(count + 1));  // and nothing beside
        }
        return;
      default:
        if (count > 0) {
          on_element(deed, is_mine);
        }
    }
  }

  void on_element(const Deed<N>& deed, bool is_mine) {
    const Index<N>& index = deed.box.first;
    std::int64_t& was = model_.at(index);
    if (is_mine) {
      settle();
    }
    if (deed.kind == Kind::put_element) {
      was = deed.value;
      if (is_mine) {
        array_.put(index, deed.value);
        EXPECT_EQ(array_.get(index), deed.value);
      }
    } else if (deed.kind == Kind::add) {
      if (is_mine) {
        EXPECT_EQ(array_.fetch_add(index, deed.value), was);
      }
      was = static_cast<std::int64_t>(static_cast<std::uint64_t>(was) + static_cast<std::uint64_t>(deed.value));
    } else {
      if (is_mine) {
        EXPECT_EQ(array_.compare_swap(index, was + 1, 7), was);
        EXPECT_EQ(array_.compare_swap(index, was, deed.value), was);
      }
      was = deed.value;
    }
  }

  void put(const Box<N>& box, std::vector<std::int64_t> data, const Index<N>& strides, bool is_reversed) {
    kept_.push_back(std::move(data));
    Put begun = is_reversed
                    ? array_.start_put(box, kept_.back().data(), strides)
                    : array_.start_put(box, std::span(kept_.back()).first(static_cast<std::size_t>(box.count())));
    pending_.push_back(begun.source);
    pending_.push_back(begun.remote);
  }

  /// What follows may touch what is under way.
  void settle() {
    all_of(pending_).wait();
    pending_.clear();
    kept_.clear();
  }

  void check_all() {
    std::size_t visited = 0;
    array_.for_each_local([&](const Index<N>& index, std::int64_t& element) {
      ASSERT_EQ(element, model_.at(index));
      ASSERT_EQ(array_.owner(index), team_.rank());
      ASSERT_EQ(&element, array_.local().data() + visited);
      ASSERT_EQ(array_.pointer(index), (Pointer<std::int64_t>{team_.rank(), visited * sizeof(std::int64_t)}));
      ++visited;
    });
    EXPECT_EQ(visited, array_.local().size());
    std::size_t all_visited = 0;
    for (const std::size_t others : team_.all_gather(visited)) {
      all_visited += others;
    }
    EXPECT_EQ(all_visited, model_.elements.size());
    std::vector<std::int64_t> whole(model_.elements.size());
    array_.get({{}, model_.extents}, whole);
    EXPECT_EQ(whole, model_.elements);
  }

  Team& team_;
  GlobalArray<std::int64_t, N> array_;
  Model<std::int64_t, N> model_;
  std::vector<Event> pending_;
  std::vector<std::vector<std::int64_t>> kept_;
};

template <std::size_t N>
ArrayShape<N> any_shape(std::mt19937_64& random, int ranks) {
  ArrayShape<N> shape{};
  int left = ranks;
  for (std::size_t d = 0; d < N; ++d) {
    shape.extents[d] = static_cast<std::int64_t>(random() % 8 == 0 ? random() % 3 : random() % (N == 1 ? 300 : 20));
    shape.blocks[d] = static_cast<std::int64_t>(random() % 3 == 0 ? 0 : 1 + random() % 9);
    shape.grid[d] = random() % 2 == 0 ? 0 : 1 + static_cast<int>(random() % static_cast<std::uint64_t>(left));
    left /= std::max(shape.grid[d], 1);
  }
  return shape;
}

template <std::size_t N>
void play_random_arrays(Team& team, std::uint64_t salt) {
  std::mt19937_64 random(seed() * 10 + salt);
  for (int i = 0; i < 8 && !testing::Test::HasFailure(); ++i) {
    const ArrayShape<N> shape = any_shape<N>(random, team.size());
    SCOPED_TRACE(testing::Message() << "seed " << seed() << ", array " << i << " of " << N << " dimensions");
    Player<N>(team, shape).play(random);
  }
}

TEST(GlobalArray, HoldsWhatAPlainArrayWouldInOneDimension) {
  on_worlds({1, 2, 3, 4, 8}, [](Team& team) { play_random_arrays<1>(team, 1); });
}

TEST(GlobalArray, HoldsWhatAPlainArrayWouldInTwoDimensions) {
  on_worlds({1, 2, 4, 5, 8}, [](Team& team) { play_random_arrays<2>(team, 2); });
}

TEST(GlobalArray, HoldsWhatAPlainArrayWouldInThreeDimensions) {
  on_worlds({1, 3, 4, 6, 8}, [](Team& team) { play_random_arrays<3>(team, 3); });
}

// Of a size that is no power of two, and boxes beyond what travels with a header.
TEST(GlobalArray, HoldsElementsOfAnyTypeAndBoxesOfManyBytes) {
  struct Cell {
    float value;
    std::array<std::int32_t, 4> where;
  };
  on_worlds({1, 2, 4}, [](Team& team) {
    constexpr std::int64_t rows = 90;
    constexpr std::int64_t columns = 70;
    for (const std::int64_t block : {0, 1, 13}) {
      GlobalArray<Cell, 2> array(team, {.extents = {rows, columns}, .blocks = {block, block}});
      if (team.rank() == team.size() - 1) {
        std::vector<Cell> whole;
        for (std::int32_t i = 0; i < rows * columns; ++i) {
          whole.push_back({.value = static_cast<float>(i), .where = {i, 2, 3, -i}});
        }
        array.put({{}, {rows, columns}}, whole);
      }
      team.barrier();
      array.for_each_local([&](const Index<2>& index, const Cell& cell) {
        const auto i = static_cast<std::int32_t>(index[0] * columns + index[1]);
        ASSERT_EQ(cell.value, static_cast<float>(i));
        ASSERT_EQ(cell.where, (std::array<std::int32_t, 4>{i, 2, 3, -i}));
      });
      team.barrier();
    }
  });
}

TEST(GlobalArray, TellsWhatEachRankOwnsAsBoxes) {
  on_worlds({1, 2, 5}, [](Team& team) {
    for (const Index<2>& blocks : {Index<2>{0, 0}, Index<2>{1, 3}, Index<2>{4, 0}}) {
      const GlobalArray<int, 2> array(team, {.extents = {11, 13}, .blocks = blocks});
      Model<int, 2> owner({11, 13});
      std::ranges::fill(owner.elements, -1);
      for (int rank = 0; rank < team.size(); ++rank) {
        for (const Box<2>& box : array.boxes(rank)) {
          EXPECT_GT(box.count(), 0);
          walk(box, [&](const Index<2>& index) {
            EXPECT_EQ(owner.at(index), -1);  // of one box alone
            owner.at(index) = rank;
            EXPECT_EQ(array.owner(index), rank);
          });
        }
      }
      EXPECT_EQ(std::ranges::count(owner.elements, -1), 0);
    }
    const GlobalArray<int, 1> block(team, {.extents = {11}});
    EXPECT_LE(block.boxes(team.rank()).size(), 1U);
    const GlobalArray<int, 1> cyclic(team, {.extents = {11}, .blocks = {1}});
    EXPECT_EQ(cyclic.boxes(0).size(), static_cast<std::size_t>((11 + team.size() - 1) / team.size()));
    team.barrier();
  });
}

TEST(GlobalArray, IsSeenInPlaceByPeersOfTheNode) {
  on_worlds({1, 2, 4}, [](Team& team) {
    GlobalArray<double, 2> array(team, {.extents = {6, 10}, .grid = {0, 1}});
    const View<double, 2> mine = array.view();
    EXPECT_EQ(mine.data, array.local().data());
    array.for_each_local([&](const Index<2>& index, double& element) { element = static_cast<double>(index[0]); });
    team.barrier();
    for (int peer = 0; peer < team.size(); ++peer) {
      const View<double, 2> view = array.view_at(peer);
      if (!team.is_local(peer)) {
        EXPECT_EQ(view.data, nullptr);
      } else {
        for (const Box<2>& box : array.boxes(peer)) {
          ASSERT_EQ(view.extents, box.extents);
          EXPECT_EQ(view(box.extents[0] - 1, 9), static_cast<double>(box.first[0] + box.extents[0] - 1));
          EXPECT_EQ((view[{0, 3}]), static_cast<double>(box.first[0]));
        }
      }
    }
    team.barrier();
  });
}

TEST(GlobalArray, TellsOfItsShape) {
  on_worlds({6}, [](Team& team) {
    const GlobalArray<char, 3> array(team, {.extents = {10, 20, 7}, .blocks = {3, 0, 100}, .grid = {1, 0, 1}});
    EXPECT_EQ(array.extents(), (Index<3>{10, 20, 7}));
    EXPECT_EQ(array.grid(), (Index<3>{1, team.size(), 1}));
    EXPECT_EQ(array.blocks(), (Index<3>{3, (20 + team.size() - 1) / team.size(), 7}));
    team.barrier();
  });
}

TEST(GlobalArray, SignalsOfItsSegmentTellOfPuts) {
  on_worlds({1, 3}, [](Team& team) {
    GlobalArray<int, 1> array(team, {.extents = {team.size()}}, 1);
    const int next = (team.rank() + 1) % team.size();
    const int value = team.rank() + 10;
    array.segment().put_signal(array.pointer({next}), {&value, 1}, 0);
    array.segment().wait(0, 1);
    EXPECT_EQ(array.local()[0], (team.rank() + team.size() - 1) % team.size() + 10);
    team.barrier();
  });
}

TEST(GlobalArray, RefusesWhatLiesOutside) {
  on_worlds({1, 2}, [](Team& team) {
    GlobalArray<int, 2> array(team, {.extents = {4, 5}});
    for (const Index<2>& index : {Index<2>{4, 0}, Index<2>{0, 5}, Index<2>{-1, 0}, Index<2>{0, -1}}) {
      const std::string text = "(" + std::to_string(index[0]) + ", " + std::to_string(index[1]) + ")";
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.put(index, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.get(index); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.fetch_add(index, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.compare_swap(index, 0, 1); }));
      EXPECT_TRUE(fails_with({text, "4 x 5"}, [&] { array.owner(index); }));
    }
    std::vector<int> data(20, 1);
    const auto refuses = [&](const Box<2>& box, std::initializer_list<std::string_view> parts) {
      EXPECT_TRUE(fails_with(parts, [&] { static_cast<void>(array.start_put(box, data.data(), {5, 1})); }));
      EXPECT_TRUE(fails_with(parts, [&] { static_cast<void>(array.start_get(box, data.data(), {5, 1})); }));
    };
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    refuses({{0, 0}, {4, 6}}, {"4 x 6", "(0, 0)", "4 x 5"});
    refuses({{1, 0}, {4, 1}}, {"4 x 1", "(1, 0)"});
    refuses({{-1, 0}, {1, 1}}, {"(-1, 0)"});
    refuses({{0, 0}, {-1, 1}}, {"-1 x 1"});
    refuses({{1, 1}, {most, most}}, {"(1, 1)"});
    refuses({{5, 0}, {0, 0}}, {"(5, 0)"});
    EXPECT_TRUE(fails_with({"2 x 3 elements", "5 elements"}, [&] {
      array.put({{0, 0}, {2, 3}}, std::span(data).first(5));
    }));
    EXPECT_TRUE(fails_with({"-2 x -3 elements"}, [&] { array.get({{0, 0}, {-2, -3}}, std::span(data).first(6)); }));
    EXPECT_TRUE(fails_with({"address space"}, [&] {
      static_cast<void>(array.start_put({{0, 0}, {2, 3}}, data.data(), {most / 2, 1}));
    }));
    team.barrier();
    EXPECT_EQ(std::ranges::count(array.local(), 0), std::ssize(array.local()));
    team.barrier();
  });
}

// One rank's mistake is everyone's.
TEST(GlobalArray, RefusesShapesThatCannotBeOnEveryRank) {
  on_worlds({1, 2, 3}, [](Team& team) {
    using Array = GlobalArray<double, 1>;
    EXPECT_TRUE(fails_with({"negative"}, [&] { Array(team, {.extents = {-1}}); }));
    EXPECT_TRUE(fails_with({"the team has"}, [&] { Array(team, {.extents = {9}, .grid = {team.size() + 1}}); }));
    EXPECT_THROW(Array(team, {.extents = {std::int64_t{1} << 58}}), Error);
    if (team.size() > 1) {
      EXPECT_TRUE(fails_with({"differ in their global array", "10 elements in blocks", "11 elements"},
                             [&] { Array(team, {.extents = {team.rank() == 0 ? 10 : 11}}); }));
      EXPECT_TRUE(fails_with({"differ in their global array"},
                             [&] { Array(team, {.extents = {team.rank() == 0 ? 10 : -10}}); }));
    }
    team.barrier();
  });
}

}  // namespace
}  // namespace penstock::gas
