// A queue between two ranks of a node: what is written is read, once and in order, whatever the payloads look like.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/shm/ring.hpp"

namespace penstock::gas {
namespace {

/// The messages of a seed: some of no payload, some of the longest. Each word of a payload is like a word of control.
class Messages {
 public:
  explicit Messages(unsigned seed) : random_(seed) {}

  Header next() {
    constexpr std::size_t max_words = max_inline_bytes / sizeof(std::uint64_t);
    const std::size_t kind = random_() % 4;
    const std::size_t words = kind == 0 ? 0 : kind == 1 ? max_words : random_() % (kind == 2 ? 10 : max_words);
    payload_.assign(words, random_() % 2 == 0 ? RingForm::is_skip : RingForm::is_message);
    if (!payload_.empty()) {
      payload_.back() = count_;
    }
    return {.kind = MessageKind::put, .bytes = payload_.size() * sizeof(std::uint64_t), .cookie = count_++};
  }
  std::span<const std::byte> payload() const { return std::as_bytes(std::span(payload_)); }

 private:
  std::mt19937 random_;
  std::uint64_t count_ = 0;
  std::vector<std::uint64_t> payload_;
};

class Ring : public testing::TestWithParam<std::size_t> {
 protected:
  Ring() : memory_(RingForm::bytes(GetParam())), to(memory_.data(), GetParam()), from(memory_.data(), GetParam()) {}

  bool try_read_expected() {
    return from.try_read([&](const Header& header, std::span<const std::byte> payload) {
      const Header wanted = expected_.next();
      ASSERT_EQ(header.cookie, wanted.cookie);
      ASSERT_EQ(header.bytes, wanted.bytes);
      ASSERT_EQ(payload.size(), wanted.bytes);
      ASSERT_TRUE(payload.empty() || std::memcmp(payload.data(), expected_.payload().data(), payload.size()) == 0);
    });
  }

 private:
  static constexpr unsigned seed = 5;
  Memory memory_;
  Messages expected_{seed};

 protected:
  Messages sent{seed};
  RingWriter to;
  RingReader from;
};

TEST_P(Ring, TakesWhatItHasRoomForAndGivesItBackInOrder) {
  std::mt19937 random(1);
  Header header = sent.next();
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  for (int turn = 0; turn < 2000 && !HasFatalFailure(); ++turn) {
    std::size_t in_a_row = 0;
    for (std::size_t most = random() % 30; in_a_row < most && to.try_write(header, sent.payload()); ++in_a_row) {
      header = sent.next();
    }
    written += in_a_row;
    for (std::size_t most = random() % 30; most > 0 && try_read_expected(); --most) {
      ++read;
    }
    // An empty queue has room for any message.
    ASSERT_TRUE(written > read || to.try_write(header, sent.payload())) << "message " << written;
    if (written == read) {
      header = sent.next();
      ++written;
    }
  }
  while (try_read_expected()) {
    ++read;
  }
  EXPECT_EQ(read, written);
}

TEST_P(Ring, CarriesMessagesBetweenThreads) {
  constexpr int messages = 50'000;
  std::atomic<bool> has_failed = false;
  std::jthread writer([&] {
    for (int i = 0; i < messages; ++i) {
      const Header header = sent.next();
      wait_until([&] { return has_failed || to.try_write(header, sent.payload()); });
    }
  });
  for (int i = 0; i < messages && !has_failed; ++i) {
    wait_until([&] { return try_read_expected(); });
    has_failed = HasFatalFailure();
  }
}

INSTANTIATE_TEST_SUITE_P(Lines, Ring, testing::Values(RingForm::fewest_lines, RingForm::fewest_lines + 5, 1024));

}  // namespace
}  // namespace penstock::gas
