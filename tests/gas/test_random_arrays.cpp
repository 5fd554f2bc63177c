// Global arrays hold what a plain array of the whole would, whoever writes and reads, however they are dealt out. The
// seed is read from PENSTOCK_TEST_SEED, else 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include "tests/gas/plain_array.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

std::uint64_t seed() {
  const char* text = std::getenv("PENSTOCK_TEST_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
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
      const auto extent = static_cast<std::uint64_t>(stripe.extent[d]);
      const auto skipped = static_cast<std::int64_t>(random() % extent);
      deed.box.lower[d] += skipped;
      deed.box.extent[d] = static_cast<std::int64_t>(random() % (extent - static_cast<std::uint64_t>(skipped) + 1));
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
    stride *= std::max<std::int64_t>(box.extent[d], 1);
  }
  return strides;
}

template <std::size_t N>
class ArrayPlayer {
 public:
  ArrayPlayer(Team& team, const ArrayShape<N>& shape) : team_(team), array_(team, shape), model_(shape.extents) {}

  void play(std::mt19937_64& random) {
    for (int round = 0; round < 3; ++round) {
      const std::size_t across = random() % N;
      for (int rank = 0; rank < team_.size(); ++rank) {
        Box<N> stripe{{}, model_.extents};
        const std::int64_t extent = stripe.extent[across];
        stripe.lower[across] = extent * rank / team_.size();
        stripe.extent[across] = extent * (rank + 1) / team_.size() - stripe.lower[across];
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
        at += (index[d] - deed.box.lower[d]) * strides[d];
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
          resolve();
          put(deed.box, std::move(data), strides, is_reversed);
        }
        return;
      }
      case Kind::look:
      case Kind::look_reversed:
        if (is_mine) {
          resolve();
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
    const Index<N>& index = deed.box.lower;
    std::int64_t& was = model_.at(index);
    if (is_mine) {
      resolve();
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
  void resolve() {
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
  PlainArray<std::int64_t, N> model_;
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
    ArrayPlayer<N>(team, shape).play(random);
  }
}

TEST(RandomArrays, HoldWhatAPlainArrayWouldInOneDimension) {
  on_worlds({1, 2, 3, 4, 8}, [](Team& team) { play_random_arrays<1>(team, 1); });
}

TEST(RandomArrays, HoldWhatAPlainArrayWouldInTwoDimensions) {
  on_worlds({1, 2, 4, 5, 8}, [](Team& team) { play_random_arrays<2>(team, 2); });
}

TEST(RandomArrays, HoldWhatAPlainArrayWouldInThreeDimensions) {
  on_worlds({1, 3, 4, 6, 8}, [](Team& team) { play_random_arrays<3>(team, 3); });
}

}  // namespace
}  // namespace penstock::gas
