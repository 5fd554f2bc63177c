// Engines move what a transfer says and nothing else, by io_uring and by threads alike, and tell what went wrong.
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <vector>

#include "penstock/percolate/percolate.hpp"
#include "tests/fails_with.hpp"
#include "tests/temporary_folder.hpp"

namespace penstock::percolate {
namespace {

class Engines : public testing::TestWithParam<EngineChoice> {
 protected:
  void SetUp() override {
    if (GetParam() == EngineChoice::uring && !has_uring()) {
      GTEST_SKIP() << "this kernel or this build has no io_uring";
    }
    engine_ = make_engine(GetParam(), 8);
  }

  /// Starts all, waits for all, throws the first failure.
  void move(const std::vector<Transfer>& transfers) {
    std::mutex mutex;
    std::condition_variable wake;
    std::size_t done = 0;
    std::exception_ptr first;
    for (const Transfer& transfer : transfers) {
      engine_->start(transfer, [&](std::exception_ptr failure) {
        const std::lock_guard lock(mutex);
        if (!first) {
          first = std::move(failure);
        }
        ++done;
        wake.notify_one();
      });
    }
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return done == transfers.size(); });
    if (first) {
      std::rethrow_exception(first);
    }
  }

  std::unique_ptr<Engine> engine_;
  TemporaryFolder folder_;
};

std::vector<std::byte> noise(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  std::mt19937 random(7);
  for (std::byte& byte : data) {
    byte = static_cast<std::byte>(random());
  }
  return data;
}

TEST_P(Engines, ReadsAndWritesBoxesOfAMatrixOfAnyShape) {
  const File file = File::create(folder_ / "matrix");
  constexpr std::int64_t width = 3001;
  constexpr std::int64_t height = 700;
  const std::vector<std::byte> whole = noise(width * height);
  file.write(0, whole);
  struct Box {
    std::int64_t row, column, rows, columns;
  };
  // The last is longer than a piece.
  for (const Box& box : {Box{0, 0, 1, 1}, Box{3, 17, 500, 100}, Box{699, 0, 1, 3001}, Box{10, 2, 600, 2999},
                         Box{0, 0, 1, width * height}}) {
    std::vector<std::byte> data(static_cast<std::size_t>(box.rows * box.columns));
    const Transfer read{.file = &file,
                        .offset = box.row * width + box.column,
                        .data = data.data(),
                        .run_bytes = static_cast<std::size_t>(box.columns),
                        .runs = static_cast<std::size_t>(box.rows),
                        .file_pitch = width,
                        .memory_pitch = box.columns};
    move({read});
    for (std::int64_t i = 0; i < box.rows; ++i) {
      ASSERT_EQ(0, std::memcmp(data.data() + i * box.columns, whole.data() + (box.row + i) * width + box.column,
                               static_cast<std::size_t>(box.columns)));
    }
    for (std::byte& byte : data) {
      byte = ~byte;
    }
    Transfer write = read;
    write.kind = Transfer::Kind::write;
    move({write, {.kind = Transfer::Kind::sync, .file = &file}});
    std::vector<std::byte> expected = whole;
    for (std::int64_t i = 0; i < box.rows; ++i) {
      for (std::int64_t j = 0; j < box.columns; ++j) {
        std::byte& byte = expected[static_cast<std::size_t>((box.row + i) * width + box.column + j)];
        byte = ~byte;
      }
    }
    std::vector<std::byte> found(whole.size());
    file.read(0, found);
    ASSERT_EQ(found, expected);
    file.write(0, whole);
  }
}

TEST_P(Engines, MovesManyTransfersAtOnce) {
  const File file = File::scratch(folder_ / ".");
  constexpr std::size_t bytes = 8192;
  constexpr std::size_t count = 200;
  Slots slots({{"memory", 2 * bytes * count}});
  const std::span<std::byte> source = slots.bytes(slots.take("memory", "source", bytes * count));
  const std::span<std::byte> target = slots.bytes(slots.take("memory", "target", bytes * count));
  const std::vector<std::byte> data = noise(source.size());
  std::ranges::copy(data, source.begin());
  std::vector<Transfer> writes;
  std::vector<Transfer> reads;
  for (std::size_t i = 0; i < count; ++i) {
    writes.push_back({.kind = Transfer::Kind::write,
                      .file = &file,
                      .offset = static_cast<std::int64_t>(i * bytes),
                      .data = source.data() + i * bytes,
                      .run_bytes = bytes});
    reads.push_back(writes.back());
    reads.back().kind = Transfer::Kind::read;
    reads.back().data = target.data() + i * bytes;
  }
  move(writes);
  move(reads);
  EXPECT_TRUE(std::ranges::equal(data, target));
}

TEST_P(Engines, MoveNothingWhereTheyOnlyAskForIt) {
  const File file = File::create(folder_ / "f");
  file.write(0, noise(1 << 16));
  const Transfer ahead{
      .kind = Transfer::Kind::read_ahead, .file = &file, .run_bytes = 4096, .runs = 64, .file_pitch = 8192};
  EXPECT_EQ(ahead.bytes(), 0U);
  move({ahead, ahead});  // half of it lies behind the end of the file: that is no failure
}

TEST_P(Engines, SayThatAFileEndsTooEarlyAndGoOnServing) {
  const File file = File::create(folder_ / "short");
  file.write(0, noise(100));
  std::vector<std::byte> data(300);
  const Transfer beyond{
      .file = &file, .offset = 50, .data = data.data(), .run_bytes = 100, .runs = 3, .file_pitch = 40};
  EXPECT_TRUE(fails_with({"short", "the file ends at byte"}, [&] { move({beyond}); }));
  move({{.file = &file, .offset = 0, .data = data.data(), .run_bytes = 100}});
}

TEST_P(Engines, SayThatAFileCannotBeWritten) {
  File::create(folder_ / "locked");
  const File file = File::open(folder_ / "locked");
  std::vector<std::byte> data(10);
  EXPECT_TRUE(fails_with({"cannot write", "locked"}, [&] {
    move({{.kind = Transfer::Kind::write, .file = &file, .data = data.data(), .run_bytes = data.size()}});
  }));
}

INSTANTIATE_TEST_SUITE_P(Both, Engines, testing::Values(EngineChoice::uring, EngineChoice::threads),
                         [](const auto& test) { return test.param == EngineChoice::uring ? "uring" : "threads"; });

TEST(Engine, IsRefusedWithoutDepth) {
  EXPECT_TRUE(fails_with({"depth of 1 or more"}, [] { make_engine(EngineChoice::automatic, 0); }));
}

}  // namespace
}  // namespace penstock::percolate
