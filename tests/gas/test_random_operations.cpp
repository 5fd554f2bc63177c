// Random puts, gets, atomic operations and messages of all ranks at once leave what a sequential model says. How many
// is read from PENSTOCK_TEST_OPERATIONS, else 2000 a rank; the seed from PENSTOCK_TEST_SEED, else 1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Of every rank's part each rank has a stripe to itself, so that a model of its own says what is in it.
class Player {
 public:
  static constexpr std::size_t stripe_bytes = 24'000;

  Player(Team& team, std::uint64_t seed)
      : team_(team),
        random_(seed * 1000 + index(team.rank())),
        segment_(team, stripe_bytes * index(team.size()), 1),
        messages_(team, {[this](const ActiveMessages::Message& message) {
                           // Adds to a word of the sender's stripe here, and says what it was.
                           std::byte* word = segment_.local().data() + message.arguments()[0];
                           std::uint64_t value = 0;
                           std::memcpy(&value, word, sizeof value);
                           const std::uint64_t sum = value + message.arguments()[1];
                           std::memcpy(word, &sum, sizeof sum);
                           message.reply(1, {value, 0, 0}, message.payload());
                         },
                         [this](const ActiveMessages::Message& message) {
                           answer_ = message.arguments()[0];
                           echo_.assign(message.payload().begin(), message.payload().end());
                           is_answered_ = true;
                         }}),
        model_(index(team.size()), std::vector<std::byte>(stripe_bytes)) {}

  void play(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
      one_operation(static_cast<int>(random_() % index(team_.size())));
    }
    finish();
    for (int peer = 0; peer < team_.size(); ++peer) {
      check_get(peer, 0, stripe_bytes);
    }
    team_.barrier();
  }

 private:
  Pointer<> at(int peer, std::size_t offset) const { return {peer, stripe_bytes * index(team_.rank()) + offset}; }

  /// Short most often, sometimes beyond what travels with its header.
  std::size_t any_length() { return random_() % 8 == 0 ? random_() % 9000 : random_() % 100; }

  std::vector<std::byte> any_bytes(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random_());
    }
    return bytes;
  }

  /// Transfers that were begun and not waited for end here, as what follows may touch the same bytes.
  void finish() {
    wait_all(pending_);
    pending_.clear();
    kept_.clear();
  }

  void one_operation(int peer) {
    const std::size_t bytes = any_length();
    const std::size_t offset = random_() % (stripe_bytes - bytes);
    std::vector<std::byte>& model = model_[index(peer)];
    switch (random_() % 8) {
      case 0: {  // begun, and for a while not waited for
        finish();
        for (std::size_t k = 0; k < 5; ++k) {
          kept_.push_back(any_bytes(50));
          const std::size_t place = 60 * k + random_() % 10;
          Put put = segment_.start_put(at(peer, place), kept_.back());
          pending_.push_back(put.source);
          pending_.push_back(put.remote);
          std::ranges::copy(kept_.back(), model.begin() + static_cast<std::ptrdiff_t>(place));
        }
        return;
      }
      case 1: {
        finish();
        const auto data = any_bytes(bytes);
        segment_.put(at(peer, offset), data);
        std::ranges::copy(data, model.begin() + static_cast<std::ptrdiff_t>(offset));
        return;
      }
      case 2:
        finish();
        check_get(peer, offset, bytes);
        return;
      case 3:
        finish();
        check_layouts(peer);
        return;
      case 4:
        finish();
        check_fetch_add<std::uint64_t>(peer, offset / 8 * 8);
        check_fetch_add<std::uint32_t>(peer, offset / 4 * 4);
        return;
      case 5: {
        finish();
        const std::size_t place = offset / 8 * 8;
        std::uint64_t was = 0;
        std::memcpy(&was, model.data() + place, sizeof was);
        const bool is_expected = random_() % 2 == 0;
        const std::uint64_t desired = random_();
        EXPECT_EQ(segment_.compare_swap(Pointer<std::uint64_t>{peer, at(peer, place).offset}, is_expected ? was : ~was,
                                        desired),
                  was);
        if (is_expected) {
          std::memcpy(model.data() + place, &desired, sizeof desired);
        }
        return;
      }
      case 6:
        finish();
        check_message(peer, offset);
        return;
      default: {
        finish();
        const auto data = any_bytes(bytes);
        // What follows may take another way and overtake a put whose data may only be changed.
        Put put = segment_.start_put_signal(at(peer, offset), data, 0);
        put.source.wait();
        put.remote.wait();
        std::ranges::copy(data, model.begin() + static_cast<std::ptrdiff_t>(offset));
        return;
      }
    }
  }

  void check_get(int peer, std::size_t offset, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    segment_.get(at(peer, offset), data);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), model_[index(peer)].begin() + static_cast<std::ptrdiff_t>(offset)))
        << "rank " << team_.rank() << " from " << peer << " at " << offset;
  }

  template <class Word>
  void check_fetch_add(int peer, std::size_t offset) {
    std::byte* const place = model_[index(peer)].data() + offset;
    Word was = 0;
    std::memcpy(&was, place, sizeof was);
    const Word added = static_cast<Word>(random_());
    EXPECT_EQ(segment_.fetch_add(Pointer<Word>{peer, at(peer, offset).offset}, added), was);
    was += added;
    std::memcpy(place, &was, sizeof was);
  }

  /// A put and a get between a strided box there and one with another stride here.
  void check_layouts(int peer) {
    const auto rows = static_cast<std::int64_t>(1 + random_() % 30);
    const auto columns = static_cast<std::int64_t>(1 + random_() % 20);
    const std::int64_t element = std::int64_t{1} << random_() % 5;
    const std::int64_t row_bytes = columns * 2 * element;
    const Layout remote = Layout::nest(0, {{{rows, row_bytes}, {columns, 2 * element}}}, element);
    const Layout local = Layout::nest(0, {{{columns, element}, {rows, columns * element}}}, element);  // transposed
    const Layout& mine = random_() % 2 == 0 ? local : remote;
    const auto data = any_bytes(static_cast<std::size_t>(mine.upper_bound()));
    const std::size_t offset = random_() % (stripe_bytes - static_cast<std::size_t>(remote.upper_bound()));
    Put put = segment_.start_put(at(peer, offset), remote, data.data(), mine);
    put.source.wait();
    put.remote.wait();
    std::byte* const place = model_[index(peer)].data() + offset;
    std::vector<std::byte> packed;
    for (layout::RunWalk walk(mine); !walk.is_done(); walk.next()) {
      const std::byte* from = data.data() + walk.run().offset;
      packed.insert(packed.end(), from, from + walk.run().bytes);
    }
    std::size_t done = 0;
    for (layout::RunWalk walk(remote); !walk.is_done(); walk.next()) {
      const auto bytes = static_cast<std::size_t>(walk.run().bytes);
      std::memcpy(place + walk.run().offset, packed.data() + done, bytes);
      done += bytes;
    }
    std::vector<std::byte> back(data.size());
    segment_.start_get(at(peer, offset), remote, back.data(), mine).wait();
    for (layout::RunWalk walk(mine); !walk.is_done(); walk.next()) {
      const auto first = static_cast<std::size_t>(walk.run().offset);
      EXPECT_EQ(std::memcmp(back.data() + first, data.data() + first, static_cast<std::size_t>(walk.run().bytes)), 0);
    }
  }

  void check_message(int peer, std::size_t offset) {
    std::byte* const place = model_[index(peer)].data() + offset;
    std::uint64_t was = 0;
    if (offset + sizeof was > stripe_bytes) {
      return;
    }
    std::memcpy(&was, place, sizeof was);
    const std::uint64_t added = random_();
    const auto payload = any_bytes(random_() % 4097);
    is_answered_ = false;
    messages_.call(peer, 0, {at(peer, offset).offset, added, 0}, payload);
    for (Backoff backoff; !is_answered_; backoff.pause()) {
      team_.poll();
    }
    EXPECT_EQ(answer_, was);
    EXPECT_EQ(echo_, payload);
    was += added;
    std::memcpy(place, &was, sizeof was);
  }

  Team& team_;
  std::mt19937_64 random_;
  Segment segment_;
  std::uint64_t answer_ = 0;
  std::vector<std::byte> echo_;
  bool is_answered_ = false;
  ActiveMessages messages_;
  std::vector<std::vector<std::byte>> model_;  // this rank's stripes, by peer
  std::vector<Event> pending_;
  std::vector<std::vector<std::byte>> kept_;
};

TEST(RandomOperations, LeaveWhatASequentialModelSays) {
  const std::uint64_t seed = number_from("PENSTOCK_TEST_SEED", 1);
  const std::uint64_t operations = number_from("PENSTOCK_TEST_OPERATIONS", 2000);
  SCOPED_TRACE("PENSTOCK_TEST_SEED=" + std::to_string(seed));
  on_worlds({1, 2, 3, 8}, [&](Team& team) {
    Player player(team, seed);
    player.play(operations);
  });
}

}  // namespace
}  // namespace penstock::gas
