// A program comes out as if its parcels had run one after another, whatever overlaps, and a failure ends it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/percolate/percolate.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::percolate {
namespace {

using Word = std::uint64_t;

Program list(std::vector<Parcel> parcels) {
  return [parcels = std::move(parcels), next = std::size_t{0}]() mutable {
    return next < parcels.size() ? std::optional(std::move(parcels[next++])) : std::nullopt;
  };
}

/// Passes on to another engine, but fails the transfer number `bad`.
class FailingEngine final : public Engine {
 public:
  FailingEngine(Engine& engine, int bad) : engine_(engine), left_(bad) {}
  std::string_view name() const noexcept override { return "failing"; }
  void start(const Transfer& transfer, Done done) override {
    if (left_.fetch_sub(1) == 0) {
      done(std::make_exception_ptr(Error("cannot read 'a': Input/output error")));
    } else {
      engine_.start(transfer, std::move(done));
    }
  }

 private:
  Engine& engine_;
  std::atomic<int> left_;
};

class Schedule : public testing::TestWithParam<EngineChoice> {
 protected:
  void SetUp() override {
    if (GetParam() == EngineChoice::uring && !has_uring()) {
      GTEST_SKIP() << "this kernel or this build has no io_uring";
    }
    engine_ = make_engine(GetParam(), 8);
  }

  Transfer word(const File& file, std::size_t index, std::span<std::byte> slot, Transfer::Kind kind) const {
    return {.kind = kind,
            .file = &file,
            .offset = static_cast<std::int64_t>(index * sizeof(Word)),
            .data = slot.data(),
            .run_bytes = sizeof(Word)};
  }

  std::unique_ptr<Engine> engine_;
  TemporaryFolder folder_;
};

/// A program of random parcels on few slots: each reads words from one file, mixes them with what lies in other slots,
/// and writes words to another. The reference does the same in the order of the program.
TEST_P(Schedule, GivesWhatTheParcelsGiveOneAfterAnother) {
  constexpr int slot_count = 5;
  constexpr std::size_t file_words = 64;
  constexpr int parcels = 400;
  const File input = File::create(folder_ / "input");
  std::vector<Word> in(file_words);
  std::iota(in.begin(), in.end(), Word{1000});
  input.write(0, std::as_bytes(std::span(in)));
  for (const int workers : {1, 3}) {
    for (const int window : {1, 2, 7, 64}) {
      const unsigned seed = static_cast<unsigned>(workers * 100 + window);
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      std::mt19937 random(seed);
      const File output = File::create(folder_ / "output");
      std::vector<Word> expected_out(parcels, 0);
      output.write(0, std::as_bytes(std::span(expected_out)));
      std::vector<Word> expected(slot_count, 0);
      Slots slots({{"memory", slot_count * 4096}});
      std::vector<Slot> all;
      for (int i = 0; i < slot_count; ++i) {
        all.push_back(slots.take("memory", fmt::format("s{}", i), sizeof(Word)));
      }
      std::vector<Parcel> program;
      for (int p = 0; p < parcels; ++p) {
        const int into = static_cast<int>(random() % slot_count);
        const int from = static_cast<int>(random() % slot_count);
        const int arriving = static_cast<int>(random() % slot_count);
        const std::size_t at = random() % file_words;
        const bool arrives = random() % 2 == 0;
        const bool leaves = random() % 3 == 0;
        Parcel parcel{.label = fmt::format("p{}", p)};
        if (arrives) {
          parcel.inward.push_back(
              {all[static_cast<std::size_t>(arriving)],
               word(input, at, slots.bytes(all[static_cast<std::size_t>(arriving)]), Transfer::Kind::read)});
          expected[static_cast<std::size_t>(arriving)] = in[at];
        }
        if (from != into) {
          parcel.uses.push_back(all[static_cast<std::size_t>(from)]);
        }
        const Slot slot_into = all[static_cast<std::size_t>(into)];
        parcel.changes.push_back(slot_into);
        Word* a = slots.as<Word>(slot_into).data();
        const Word* b = slots.as<Word>(all[static_cast<std::size_t>(from)]).data();
        const auto nap = std::chrono::microseconds(random() % 50);
        parcel.work = [a, b, p, nap] {
          const Word read = *b;
          std::this_thread::sleep_for(nap);
          *a = *a * 31 + read + static_cast<Word>(p);
        };
        Word& e = expected[static_cast<std::size_t>(into)];
        e = e * 31 + expected[static_cast<std::size_t>(from)] + static_cast<Word>(p);
        if (leaves) {
          parcel.outward.push_back(
              word(output, static_cast<std::size_t>(p), slots.bytes(slot_into), Transfer::Kind::write));
          expected_out[static_cast<std::size_t>(p)] = e;
        }
        program.push_back(std::move(parcel));
      }
      const RunTimes times = run(slots, *engine_, list(std::move(program)), {.workers = workers, .window = window});
      EXPECT_EQ(times.parcels, parcels);
      for (int i = 0; i < slot_count; ++i) {
        EXPECT_EQ(slots.as<Word>(all[static_cast<std::size_t>(i)])[0], expected[static_cast<std::size_t>(i)]) << i;
      }
      std::vector<Word> out(parcels);
      output.read(0, std::as_writable_bytes(std::span(out)));
      EXPECT_EQ(out, expected_out);
    }
  }
}

TEST_P(Schedule, FetchesAheadWithASecondSlotAndNotWithOne) {
  const File file = File::create(folder_ / "input");
  const std::vector<Word> words(10, 1);
  file.write(0, std::as_bytes(std::span(words)));
  for (const int slot_count : {1, 2}) {
    Slots slots({{"memory", 8192}});
    std::vector<Slot> turns;
    for (int i = 0; i < slot_count; ++i) {
      turns.push_back(slots.take("memory", fmt::format("turn {}", i), sizeof(Word)));
    }
    trace::Recorder recorder(1000);
    std::vector<Parcel> program;
    for (std::size_t p = 0; p < words.size(); ++p) {
      const Slot slot = turns[p % turns.size()];
      program.push_back({
          .label = fmt::format("{}", p),
          .inward = {{slot, word(file, p, slots.bytes(slot), Transfer::Kind::read)}},
          .work = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); },
      });
    }
    {
      const trace::Recording recording(&recorder);
      run(slots, *engine_, list(std::move(program)));
    }
    std::map<std::string, trace::Event> events;
    for (const trace::Track* track : recorder.tracks()) {
      for (const trace::Event& event : track->events()) {
        events[event.name] = event;
      }
    }
    ASSERT_EQ(events.size(), 2 * words.size());
    int ahead = 0;  // arrivals that began before the work of the parcel before them ended
    for (std::size_t p = 0; p < words.size(); ++p) {
      const trace::Event& arrival = events[fmt::format("{}: arrives", p)];
      EXPECT_EQ(events[fmt::format("{}", p)].after, arrival.id) << p;
      EXPECT_EQ(arrival.bytes, sizeof(Word));
      if (p > 0) {
        ahead += arrival.begin_s < events[fmt::format("{}", p - 1)].end_s ? 1 : 0;
      }
    }
    EXPECT_EQ(ahead, slot_count == 1 ? 0 : 9);
  }
}

TEST_P(Schedule, ReadsWhatAnEarlierParcelWroteWhereATokenSaysSo) {
  const File file = File::create(folder_ / "relay");
  Slots slots({{"memory", 3 * 4096}});
  const Slot a = slots.take("memory", "a", sizeof(Word));
  const Slot b = slots.take("memory", "b", sizeof(Word));
  const Slot written = slots.token("written");
  std::vector<Parcel> program;
  Word seen = 0;
  for (Word round = 1; round <= 50; ++round) {
    program.push_back({.label = "write",
                       .changes = {a, written},
                       .work = [&slots, a, round] { slots.as<Word>(a)[0] = round; },
                       .outward = {word(file, 0, slots.bytes(a), Transfer::Kind::write)}});
    program.push_back({
        .label = "read",
        .inward = {{b, word(file, 0, slots.bytes(b), Transfer::Kind::read), written}},
        .work = [&slots, &seen, b] { seen += slots.as<Word>(b)[0]; },
    });
  }
  run(slots, *engine_, list(std::move(program)), {.workers = 2});
  EXPECT_EQ(seen, 50 * 51 / 2);
}

TEST_P(Schedule, EndsWithTheFailureOfATransferWhereverItComes) {
  const File file = File::create(folder_ / "file");
  const std::vector<Word> words(20, 1);
  file.write(0, std::as_bytes(std::span(words)));
  for (int bad = 0; bad < 40; bad += 3) {
    Slots slots({{"memory", 8192}});
    const std::vector<Slot> turns = {slots.take("memory", "0", sizeof(Word)), slots.take("memory", "1", sizeof(Word))};
    std::vector<Parcel> program;
    for (std::size_t p = 0; p < words.size(); ++p) {
      const Slot slot = turns[p % 2];
      program.push_back({.label = "p",
                         .inward = {{slot, word(file, p, slots.bytes(slot), Transfer::Kind::read)}},
                         .changes = {slot},
                         .work = [] {},
                         .outward = {word(file, p, slots.bytes(slot), Transfer::Kind::write)}});
    }
    FailingEngine failing(*engine_, bad);
    EXPECT_TRUE(
        fails_with({"Input/output error"}, [&] { run(slots, failing, list(std::move(program)), {.workers = 2}); }));
  }
}

TEST_P(Schedule, EndsWithTheFailureOfAWorkOrOfTheProgram) {
  Slots slots({});
  const Slot token = slots.token("turn");
  std::vector<Parcel> program;
  for (int p = 0; p < 10; ++p) {
    program.push_back({
        .label = "p",
        .changes = {token},
        .work =
            [p] {
              if (p == 5) {
                throw Error("number 5 cannot");
              }
            },
    });
  }
  EXPECT_TRUE(fails_with({"number 5 cannot"}, [&] { run(slots, *engine_, list(program), {.workers = 3}); }));
  int left = 3;
  EXPECT_TRUE(fails_with({"no fourth"}, [&] {
    run(slots, *engine_, [&]() -> std::optional<Parcel> {
      if (left-- == 0) {
        throw Error("no fourth");
      }
      return Parcel{.label = "p", .changes = {token}, .work = [] {}};
    });
  }));
}

INSTANTIATE_TEST_SUITE_P(Both, Schedule, testing::Values(EngineChoice::uring, EngineChoice::threads),
                         [](const auto& test) { return test.param == EngineChoice::uring ? "uring" : "threads"; });

TEST(Run, WalksALongProgramOfParcelsWithoutWork) {
  Slots slots({});
  const auto engine = make_engine(EngineChoice::threads, 1);
  int left = 100000;
  const RunTimes times = run(slots, *engine, [&]() -> std::optional<Parcel> {
    return left-- > 0 ? std::optional<Parcel>(Parcel{}) : std::nullopt;
  });
  EXPECT_EQ(times.parcels, 100000);
}

TEST(Run, RefusesToRunWithoutWorkers) {
  const Slots slots({});
  const auto engine = make_engine(EngineChoice::threads, 1);
  EXPECT_TRUE(fails_with({"0 workers"}, [&] { run(slots, *engine, list({}), {.workers = 0}); }));
}

TEST(Slots, HoldNoMoreThanTheirLevelsCapacity) {
  Slots slots({{"memory", 3 * 4096}, {"cache", 4096}});
  slots.take("memory", "a", 4097);
  EXPECT_TRUE(fails_with({"the tile", "'memory'", "4.00 KiB"}, [&] { slots.take("memory", "the tile", 5000); }));
  slots.take("memory", "b", 4096);
  slots.take("cache", "c", 1);
  EXPECT_TRUE(fails_with({"'disk'"}, [&] { slots.take("disk", "d", 1); }));
}

}  // namespace
}  // namespace penstock::percolate
