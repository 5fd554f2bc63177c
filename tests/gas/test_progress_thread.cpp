// A rank that computes serves its peers by a thread.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

/// Rank 0 computes until `is_released`, that is, calls nothing of this module, while the others `ask` it.
void compute_while_asked(Team& team, std::atomic<bool>& is_released, const std::function<void()>& ask) {
  if (team.rank() == 0) {
    wait_until([&] { return is_released.load(); });
  } else {
    ask();
  }
  team.barrier();
}

// Over messages nothing but the thread can take what the others ask for: without it this waits for ever.
TEST(ProgressThread, ServesPutsGetsAtomicsAndMessagesWhileARankComputes) {
  on_worlds({1, 2, 3}, [](Team& team) {
    if (team.size() == 1) {
      return;
    }
    std::atomic<int> calls{0};
    std::atomic<bool> is_released{false};
    Segment segment(team, 6000 * static_cast<std::size_t>(team.size()), 1);
    ActiveMessages messages(team, {[&](const ActiveMessages::Message&) {
                              if (++calls == team.size() - 1) {
                                is_released = true;
                              }
                            }});
    {
      const ProgressThread thread(team);
      compute_while_asked(team, is_released, [&] {
        const auto offset = static_cast<std::size_t>(team.rank()) * 6000;
        std::vector<char> there(6000, static_cast<char>('a' + team.rank()));
        segment.put(Pointer<char>{0, offset}, there);
        std::vector<char> here(there.size());
        segment.get(Pointer<char>{0, offset}, here);
        EXPECT_EQ(here, there);
        segment.fetch_add(Pointer<std::uint64_t>{0, 0}, 1);
        messages.call(0, 0, {});
      });
    }
    if (team.rank() == 0) {
      EXPECT_EQ(segment.local_as<std::uint64_t>()[0], static_cast<std::uint64_t>(team.size() - 1));
    }
  });
}

TEST(ProgressThread, LooksAtNothingWhileItRests) {
  on_worlds({2}, [](Team& team) {
    std::atomic<int> calls{0};
    ActiveMessages messages(team, {[&](const ActiveMessages::Message&) { ++calls; }});
    ProgressThread thread(team);
    for (int round = 1; round <= 3; ++round) {
      thread.rest();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a poll that had begun has ended
      const int before = calls.load();
      messages.call(team.rank(), 0, {});
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_EQ(calls.load(), before);
      thread.resume();
      wait_until([&] { return calls.load() == round; });
    }
  });
}

TEST(ProgressThread, HandsWhatAHandlerThrowsToTheNextWaitOfTheRank) {
  on_worlds({2}, [](Team& team) {
    std::atomic<bool> has_thrown{false};
    ActiveMessages messages(team, {[&](const ActiveMessages::Message&) {
                              if (!has_thrown.exchange(true)) {
                                throw std::runtime_error("a handler's own");
                              }
                            }});
    const ProgressThread thread(team);
    messages.call(team.rank(), 0, {});
    wait_until([&] { return has_thrown.load(); });
    std::string what;
    for (const double end_s = seconds() + 30; what.empty() && seconds() < end_s;) {
      try {
        team.poll();
      } catch (const std::runtime_error& error) {
        what = error.what();
      }
    }
    // Its own, or that of a rank that has met its own before and could not end its messages with the others.
    EXPECT_TRUE(what.ends_with("a handler's own")) << what;
  });
}

}  // namespace
}  // namespace penstock::gas
