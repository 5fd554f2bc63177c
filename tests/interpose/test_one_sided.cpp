// Puts and gets whose origin is not contiguous, completed in each of MPI's ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "buffer.hpp"

namespace penstock::interpose {
namespace {

constexpr int one_sided_cases = 15;

/// A window of plain bytes on each rank, as many as the case's elements have.
class Window {
 public:
  Window(int bytes, int who) : memory_(static_cast<std::size_t>(bytes)) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      memory_[i] = known_byte(who, i);
    }
    MPI_Win_create(memory_.data(), bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
  }
  ~Window() { MPI_Win_free(&window_); }
  Window(const Window&) = delete;

  operator MPI_Win() const { return window_; }
  Packed& memory() { return memory_; }

 private:
  Packed memory_;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Open MPI 4.1.4 offers several threads no windows where there is one rank alone.
class OneSided : public testing::Test {
 protected:
  void SetUp() override {
    char byte = 0;
    MPI_Win window = MPI_WIN_NULL;
    if (MPI_Win_create(&byte, 1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_SUCCESS) {
      GTEST_SKIP() << "MPI makes no window";
    }
    MPI_Win_free(&window);
  }
};

/// An epoch around operations to `target`.
using Epoch = std::function<void(MPI_Win, int target, const std::function<void()>& operations)>;

const std::vector<std::pair<const char*, Epoch>>& epochs() {
  static const std::vector<std::pair<const char*, Epoch>> all = {
      {"fence",
       [](MPI_Win window, int, const std::function<void()>& operations) {
         MPI_Win_fence(0, window);
         operations();
         MPI_Win_fence(0, window);
       }},
      {"lock",
       [](MPI_Win window, int target, const std::function<void()>& operations) {
         MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
         operations();
         MPI_Win_unlock(target, window);
       }},
      {"lock all",
       [](MPI_Win window, int, const std::function<void()>& operations) {
         MPI_Win_lock_all(0, window);
         operations();
         MPI_Win_unlock_all(window);
       }},
      {"flush",
       [](MPI_Win window, int target, const std::function<void()>& operations) {
         MPI_Win_lock_all(0, window);
         operations();
         MPI_Win_flush_local(target, window);
         MPI_Win_flush(target, window);
         MPI_Win_unlock_all(window);
       }},
      {"post and start",
       [](MPI_Win window, int target, const std::function<void()>& operations) {
         const Ring ring;
         MPI_Group world = MPI_GROUP_NULL;
         MPI_Group to = MPI_GROUP_NULL;
         MPI_Group from = MPI_GROUP_NULL;
         MPI_Comm_group(MPI_COMM_WORLD, &world);
         MPI_Group_incl(world, 1, &target, &to);
         MPI_Group_incl(world, 1, &ring.previous, &from);
         MPI_Win_post(from, 0, window);
         MPI_Win_start(to, 0, window);
         operations();
         MPI_Win_complete(window);
         MPI_Win_wait(window);
         MPI_Group_free(&world);
         MPI_Group_free(&to);
         MPI_Group_free(&from);
       }},
  };
  return all;
}

/// Open MPI 4.1.4 moves other bytes where the lowest byte of a contiguous type is not its buffer's first.
bool begins_at_its_address(const RandomType& type) {
  return type.lowest == 0;
}

TEST_F(OneSided, PutsArrive) {
  for (const auto& [name, epoch] : epochs()) {
    SCOPED_TRACE(name);
    for_each_case_of(one_sided_cases, 300, begins_at_its_address, [&epoch = epoch](const Case& of) {
      const Ring ring;
      Buffer sent(of.type, of.count, ring.rank);
      Window window(sent.bytes(), 1000);
      epoch(window, ring.next,
            [&] { MPI_Put(sent.address(), of.count, of.type.type, ring.next, 0, sent.bytes(), MPI_BYTE, window); });
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_TRUE(window.memory() == Buffer(of.type, of.count, ring.previous).packed());
    });
  }
}

TEST_F(OneSided, GetsFillTheBuffer) {
  for (const auto& [name, epoch] : epochs()) {
    SCOPED_TRACE(name);
    for_each_case_of(one_sided_cases, 301, begins_at_its_address, [&epoch = epoch](const Case& of) {
      const Ring ring;
      Buffer received(of.type, of.count, 1000);
      Window window(received.bytes(), ring.rank);
      MPI_Barrier(MPI_COMM_WORLD);
      Packed theirs(window.memory().size());
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        theirs[i] = known_byte(ring.next, i);
      }
      const Packed expected = received.storage_after(theirs);
      epoch(window, ring.next, [&] {
        MPI_Get(received.address(), of.count, of.type.type, ring.next, 0, received.bytes(), MPI_BYTE, window);
      });
      EXPECT_TRUE(received.storage() == expected);
    });
  }
}

TEST_F(OneSided, AccumulatesAdd) {
  const Ring ring;
  constexpr int rows = 500;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_vector(rows / 2, 2, 4, MPI_DOUBLE, &block);
  for (MPI_Datatype* const type : {&column, &block}) {
    MPI_Type_commit(type);
  }
  for (const auto& [name, epoch] : epochs()) {
    SCOPED_TRACE(name);
    std::vector<double> from(rows * 3);
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<double>(i) + ring.rank;
    }
    std::vector<double> to(rows * 3, 0.5);
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_create(to.data(), static_cast<MPI_Aint>(to.size() * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
    epoch(window, ring.next, [&] {
      MPI_Accumulate(from.data(), 1, column, ring.next, 1, 1, column, MPI_SUM, window);
      MPI_Accumulate(from.data(), 1, column, ring.next, 0, rows, MPI_DOUBLE, MPI_SUM, window);
      MPI_Accumulate(from.data(), 1, block, ring.next, 0, rows, MPI_DOUBLE, MPI_MAX, window);
    });
    MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < to.size(); ++i) {
      double expected = 0.5 + (i % 3 == 1 ? static_cast<double>(i - 1) + ring.previous : 0);
      if (i < rows) {
        expected += 3.0 * static_cast<double>(i) + ring.previous;
        expected = std::max(expected, static_cast<double>(i / 2 * 4 + i % 2) + ring.previous);
      }
      EXPECT_EQ(to[i], expected) << i;
    }
    MPI_Win_free(&window);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&block);
}

TEST_F(OneSided, TheTargetMayHaveATypeAsWell) {
  const Ring ring;
  constexpr int rows = 500;
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> from(rows * 3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<int>(i) + ring.rank;
  }
  std::vector<int> to(rows * 3, -1);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(to.data(), static_cast<MPI_Aint>(to.size() * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  MPI_Win_fence(0, window);
  MPI_Put(from.data(), 1, column, ring.next, 1, 1, column, window);
  MPI_Win_fence(0, window);
  for (std::size_t i = 0; i < to.size(); ++i) {
    EXPECT_EQ(to[i], i % 3 == 1 ? static_cast<int>(i) - 1 + ring.previous : -1);
  }
  MPI_Win_free(&window);
  MPI_Type_free(&column);
}

}  // namespace
}  // namespace penstock::interpose
