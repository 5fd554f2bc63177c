#include "tests/collective/one_bad_rank.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

#include "penstock/base/base.hpp"
#include "tests/worlds.hpp"

namespace penstock {
namespace {

constexpr double patience_s = 5;

/// Ends the program where a case hangs, so that its name is told; later than it fails, as machines may be crowded.
class Watchdog {
 public:
  explicit Watchdog(const char* name)
      : thread_([this, name] {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_for(lock, std::chrono::duration<double>(6 * patience_s), [this] { return has_ended_; })) {
            std::fprintf(stderr, "the case '%s' hangs\n", name);
            std::_Exit(1);
          }
        }) {}
  ~Watchdog() {
    {
      const std::scoped_lock lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_all();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::jthread thread_;
};

void expect_all_throw(const gas::Team& world, const Case& one) {
  SCOPED_TRACE(one.name);
  const Watchdog watchdog(one.name);
  std::array<char, 1024> text{};
  const double begin_s = seconds();
  {
    const gas::Team team = world.split(0, world.rank());
    try {
      one.call(team, team.rank() == 1);
    } catch (const Error& error) {
      std::string_view(error.what()).copy(text.data(), text.size() - 1);
    }
  }
  EXPECT_LT(seconds() - begin_s, patience_s);
  const auto texts = world.all_gather(text);
  EXPECT_STRNE(texts.front().data(), "") << "rank 0 has thrown nothing";
  EXPECT_STREQ(texts[1].data(), texts.front().data());
  if (!(one.may_complete && texts[2].front() == '\0')) {
    EXPECT_STREQ(texts[2].data(), texts.front().data());
  }
}

}  // namespace

Trap::Trap(const gas::Team& team)
    : rank_(team.rank()),
      messages_(team, {[](const gas::ActiveMessages::Message&) { throw Error("a handler throws"); }}) {}

void Trap::set() {
  if (rank_ != 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // so that rank 1 waits for the others
  } else if (!is_set_) {
    is_set_ = true;
    messages_.call(rank_, 0, {});  // taken when the rank next waits
  }
}

void expect_all_ranks_throw(std::span<const Case> cases) {
  gas::on_worlds({3}, [&](gas::Team& world) {
    ASSERT_EQ(world.size(), 3);
    for (const Case& one : cases) {
      expect_all_throw(world, one);
    }
  });
}

}  // namespace penstock
