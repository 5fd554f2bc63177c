// What cores do to one another: lines that go from one cache to another, lines that two cores write to, threads that
// are set to work.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"

namespace penstock::probe {
namespace {

// Far enough apart for processors that fetch lines in pairs.
constexpr std::size_t apart_bytes = 256;

using Word = std::atomic<std::uint64_t>;

/// Two words, in one line or apart.
struct alignas(apart_bytes) Words {
  Word shared[2]{};
  alignas(apart_bytes) Word separate{};
};

/// Waits until the word has the value; where the cores are fewer than they seem, others get their turn.
void await(const Word& word, std::uint64_t value) noexcept {
  for (int polls = 0; word.load(std::memory_order_acquire) != value; ++polls) {
    relax();
    if (polls > 100000) {
      std::this_thread::yield();
    }
  }
}

}  // namespace

std::optional<LineTimes> measure_lines(const CalibrationOptions& options) {
  if (options.threads < 2) {
    return std::nullopt;
  }
  PinnedPool pool(2);
  Words words;
  // There and back: two transfers of the line.
  const auto ping_pong = [&](int thread, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) {
      const auto turn = static_cast<std::uint64_t>(2 * i);
      const std::uint64_t mine = thread == 0 ? turn : turn + 1;
      await(words.separate, mine);
      words.separate.store(mine + 1, std::memory_order_release);
    }
  };
  std::vector<double> transfers_s = sample(options, [&](std::int64_t times) {
    words.separate = 0;
    const double begin_s = seconds();
    pool.run([&](int thread) { ping_pong(thread, times); });
    return (seconds() - begin_s) / 2;
  });
  const auto add = [&](Word& first, Word& second) {
    return sample(options, pool, [&](int thread, std::int64_t times) {
      Word& mine = thread == 0 ? first : second;
      for (std::int64_t i = 0; i < times; ++i) {
        mine.fetch_add(1, std::memory_order_relaxed);
      }
    });
  };
  std::vector<double> shared_s = add(words.shared[0], words.shared[1]);
  std::vector<double> separate_s = add(words.shared[0], words.separate);
  return LineTimes{.transfer_s = time_of(std::move(transfers_s)),
                   .shared_add_s = time_of(std::move(shared_s)),
                   .separate_add_s = time_of(std::move(separate_s))};
}

Figure measure_thread_start(const CalibrationOptions& options) {
  PinnedPool pool(options.threads);
  return time_of(sample(options, [&](std::int64_t times) {
    const double begin_s = seconds();
    for (std::int64_t i = 0; i < times; ++i) {
      pool.run([](int) {});
    }
    return seconds() - begin_s;
  }));
}

}  // namespace penstock::probe
