// Buffers of random datatypes with known bytes, and what they must hold after a message.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "../datatype/random_type.hpp"

namespace penstock::interpose {

using datatype::RandomType;
using Packed = std::vector<std::byte>;

/// The bytes that a rank's buffer holds before a message: known, and different from place to place.
inline std::byte known_byte(int who, std::size_t place) {
  return static_cast<std::byte>((place * 167 + place / 251 + static_cast<std::size_t>(who) * 59 + 13) % 256);
}

/// `count` elements of a type, with room around them that no message may touch.
class Buffer {
 public:
  Buffer(const RandomType& type, int count, int who) {
    std::int64_t lowest = 0;
    std::int64_t end = 0;
    for (int i = 0; i < count; ++i) {
      for (const std::int64_t byte : type.bytes) {
        places_.push_back(i * type.extent + byte);
        lowest = std::min(lowest, places_.back());
        end = std::max(end, places_.back() + 1);
      }
    }
    origin_ = room - lowest;
    storage_.resize(static_cast<std::size_t>(origin_ + end + room));
    fill(who);
  }

  void fill(int who) {
    for (std::size_t i = 0; i < storage_.size(); ++i) {
      storage_[i] = known_byte(who, i);
    }
  }

  void* address() { return storage_.data() + origin_; }
  int bytes() const { return static_cast<int>(places_.size()); }

  /// The bytes of the elements in the order in which they are sent.
  Packed packed() const {
    Packed all;
    for (const std::int64_t place : places_) {
      all.push_back(storage_[static_cast<std::size_t>(origin_ + place)]);
    }
    return all;
  }

  /// What the storage holds once the first bytes of a message are in it.
  Packed storage_after(std::span<const std::byte> received) const {
    Packed expected = storage_;
    for (std::size_t i = 0; i < received.size(); ++i) {
      expected[static_cast<std::size_t>(origin_ + places_[i])] = received[i];
    }
    return expected;
  }
  const Packed& storage() const { return storage_; }

  /// Whether no byte is named twice, as in a buffer that receives.
  bool can_receive() const { return std::set(places_.begin(), places_.end()).size() == places_.size(); }

 private:
  static constexpr std::int64_t room = 128;
  std::vector<std::int64_t> places_;
  std::int64_t origin_ = 0;
  Packed storage_;
};

/// A committed random type and a count of it for which a buffer can receive; the same on all ranks for a seed.
struct Case {
  RandomType type;
  int count;
};

/// The cases of a test: small and large messages of types of up to two constructors, as MPICH 4.0.2 gets
/// some of three wrong.
template <class Use, class IsWanted>
void for_each_case_of(int cases, std::uint64_t seed, IsWanted is_wanted, Use use) {
  int used = 0;
  for (std::uint64_t i = 0; used < cases; ++i) {
    datatype::TypeMaker maker(seed + i);
    RandomType type = maker.make(maker.small(1, 2));
    const int count = maker.one_in(3) ? maker.small(20, 60) : maker.small(1, 3);
    if (maker.made_trouble() || type.bytes.empty() || !Buffer(type, count, 0).can_receive() || !is_wanted(type)) {
      continue;
    }
    ++used;
    MPI_Datatype handle = type.type;
    MPI_Type_commit(&handle);
    SCOPED_TRACE(testing::Message() << "seed " << seed + i << ", " << count << " of " << type.text);
    use(Case{std::move(type), count});
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

template <class Use>
void for_each_case(int cases, std::uint64_t seed, Use use) {
  for_each_case_of(
      cases, seed, [](const RandomType&) { return true; }, use);
}

/// The ring of all ranks: everyone sends to the next and receives from the one before.
struct Ring {
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (rank + 1) % ranks;
    previous = (rank + ranks - 1) % ranks;
  }
  int rank = 0;
  int ranks = 1;
  int next = 0;
  int previous = 0;
};

}  // namespace penstock::interpose
