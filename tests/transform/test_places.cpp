// Pencils may lie anywhere: random strides, orders of points, part tiles, both spacings, in place; nothing beside them
// is read or written. How many layouts each precision gets is read from PENSTOCK_TEST_LAYOUTS, else 1500.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"
#include "tests/definition.hpp"
#include "tests/guarded_memory.hpp"

namespace penstock::transform {
namespace {

/// Pencils at random places of guarded memory.
struct Place {
  std::vector<std::int64_t> offsets;
  std::int64_t stride = 0;

  std::int64_t lowest(std::int64_t pencils) const {
    return *std::ranges::min_element(offsets) + std::min<std::int64_t>(0, stride * (pencils - 1));
  }
  std::int64_t highest(std::int64_t pencils, std::int64_t number_bytes) const {
    return *std::ranges::max_element(offsets) + std::max<std::int64_t>(0, stride * (pencils - 1)) + number_bytes;
  }
};

class Chance {
 public:
  explicit Chance(unsigned seed) : generator_(seed) {}
  std::int64_t among(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(generator_);
  }
  double number() { return normal_(generator_); }
  std::mt19937& generator() { return generator_; }

 private:
  std::mt19937 generator_;
  std::normal_distribution<double> normal_;
};

/// Points in rows of pencils, or pencils of points; in order, backwards, cut into two parts, or shuffled.
Place random_place(Chance& chance, Spacing spacing, std::int64_t length, std::int64_t pencils,
                   std::int64_t number_bytes) {
  Place place;
  std::vector<std::int64_t> order(static_cast<std::size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t kind = spacing == Spacing::contiguous ? 5 : chance.among(0, 5);
  if (kind == 0) {
    std::ranges::reverse(order);
  } else if (kind == 1) {
    std::ranges::rotate(order, order.begin() + chance.among(0, length - 1));
  } else if (kind == 2) {
    std::ranges::shuffle(order, chance.generator());
  }
  const std::int64_t gap = chance.among(0, 2) * chance.among(0, 9);
  std::int64_t point = 0;
  if (spacing == Spacing::adjacent) {
    place.stride = number_bytes;
    point = (pencils + gap) * number_bytes;
  } else if (spacing == Spacing::contiguous || chance.among(0, 3) > 0) {
    point = number_bytes;
    place.stride = (length + gap) * number_bytes;
  } else {  // neither points nor pencils beside one another
    point = number_bytes * chance.among(2, 3);
    place.stride = length * point + gap * number_bytes;
  }
  if (spacing != Spacing::adjacent && chance.among(0, 5) == 0) {
    place.stride = -place.stride;
  }
  for (const std::int64_t k : order) {
    place.offsets.push_back(k * point);
  }
  return place;
}

/// A number at an address, real or complex.
template <class Real>
Long number_at(const std::byte* at, std::int64_t number_bytes) {
  std::array<Real, 2> parts{};
  std::memcpy(parts.data(), at, static_cast<std::size_t>(number_bytes));
  return {parts[0], parts[1]};
}

InstructionSet any_set(Chance& chance) {
  for (;;) {
    const auto set = instruction_sets[static_cast<std::size_t>(chance.among(0, std::ssize(instruction_sets) - 1))];
    if (is_usable(set)) {
      return set;
    }
  }
}

Shape any_shape(Chance& chance) {
  const auto any_spacing = [&] {
    return std::array{Spacing::adjacent, Spacing::contiguous,
                      Spacing::apart}[static_cast<std::size_t>(chance.among(0, 2))];
  };
  // Multiples of 16 have row passes over vectors of most lengths.
  const std::int64_t kind = chance.among(0, 7);
  const std::int64_t length = kind < 2   ? 16 * chance.among(1, 24)
                              : kind < 4 ? chance.among(1, kind == 2 ? 150 : 300)
                                         : chance.among(1, 40);
  // Rows of many pencils are stored past the cache in several parts.
  const std::int64_t max_pencils = length <= 40 && chance.among(0, 3) == 0 ? 180 : 40;
  return {.length = length,
          .kind = static_cast<Kind>(chance.among(0, length > 1 ? 11 : 3)),
          .source = any_spacing(),
          .destination = any_spacing(),
          .pencils = chance.among(1, max_pencils)};
}

template <class Real>
void expect_right_anywhere(unsigned seed) {
  Chance chance(seed);
  const Shape shape = any_shape(chance);
  const std::int64_t pencils = chance.among(1, shape.pencils);
  const Transform<Real> transform(shape, any_set(chance));
  const std::int64_t in_bytes = transform.source_number_bytes();
  const std::int64_t out_bytes = transform.destination_number_bytes();
  const Place source = random_place(chance, shape.source, transform.source_points(), pencils, in_bytes);
  const bool is_in_place = in_bytes == out_bytes && shape.source == shape.destination && chance.among(0, 2) == 0;
  const Place destination =
      is_in_place ? source
                  : random_place(chance, shape.destination, transform.destination_points(), pencils, out_bytes);
  const Real factor = chance.among(0, 1) == 0 ? Real{1} : Real{-3} / 4;
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", kind " << static_cast<int>(shape.kind) << ", "
                                  << shape.length << " points, " << pencils << " of " << shape.pencils << " pencils, "
                                  << transform.describe() << ", spacing " << static_cast<int>(shape.source) << " to "
                                  << static_cast<int>(shape.destination) << (is_in_place ? ", in place" : ""));

  GuardedMemory in(400);
  GuardedMemory other(400);
  GuardedMemory lent(2000);
  GuardedMemory& out = is_in_place ? in : other;
  for (const bool is_at_end : {false, true}) {
    in.place(source.lowest(pencils), source.highest(pencils, in_bytes), is_at_end);
    in.poison();
    if (!is_in_place) {
      out.place(destination.lowest(pencils), destination.highest(pencils, out_bytes), is_at_end);
      out.poison();
    }
    std::vector<std::vector<Long>> numbers(static_cast<std::size_t>(pencils));
    for (std::int64_t p = 0; p < pencils; ++p) {
      for (const std::int64_t offset : source.offsets) {
        const std::array<Real, 2> parts{static_cast<Real>(chance.number()), static_cast<Real>(chance.number())};
        std::byte* const at = in.address() + offset + p * source.stride;
        std::memcpy(at, parts.data(), static_cast<std::size_t>(in_bytes));
        numbers[static_cast<std::size_t>(p)].push_back(number_at<Real>(at, in_bytes));
      }
    }
    // What is beside the destination's points stays as it is.
    std::vector<std::byte> expected(out.window().begin(), out.window().end());
    const auto scratch_bytes = static_cast<std::int64_t>((transform.scratch_bytes() + 63) / 64 * 64);
    ASSERT_LE(scratch_bytes, lent.size());
    lent.place(0, scratch_bytes, is_at_end);
    const Pencils<const std::byte> from{in.address(), source.offsets.data(), source.stride};
    const Access access{.is_from_memory = chance.among(0, 1) == 0,
                        .is_streaming = chance.among(0, 1) == 0,
                        .next = chance.among(0, 1) == 0 ? &from : nullptr,
                        .next_pencils = chance.among(1, pencils)};
    transform.run(from, {out.address(), destination.offsets.data(), destination.stride}, pencils,
                  {lent.address(), transform.scratch_bytes()}, factor, access);
    for (std::int64_t p = 0; p < pencils; ++p) {
      const std::vector<Long> y = by_definition(shape.kind, numbers[static_cast<std::size_t>(p)], shape.length);
      for (std::size_t k = 0; k < y.size(); ++k) {
        std::byte* const at = out.address() + destination.offsets[k] + p * destination.stride;
        const Long right = y[k] * static_cast<long double>(factor);
        const Long found = number_at<Real>(at, out_bytes);
        const double tolerance =
            30 * std::numeric_limits<Real>::epsilon() * std::sqrt(static_cast<double>(shape.length) + 8);
        ASSERT_LT(std::abs(found - (out_bytes == sizeof(Real) ? right.real() : right)), tolerance)
            << "pencil " << p << ", point " << k;
        std::memcpy(expected.data() + (at - out.window().data()), at, static_cast<std::size_t>(out_bytes));
      }
    }
    ASSERT_TRUE(std::ranges::equal(expected, out.window()));
  }
}

template <class Real>
void expect_all_right_anywhere() {
  const char* const asked = std::getenv("PENSTOCK_TEST_LAYOUTS");
  const unsigned layouts = asked == nullptr ? 1500 : static_cast<unsigned>(std::stoul(asked));
  for (unsigned seed = 0; seed < layouts && !testing::Test::HasFatalFailure(); ++seed) {
    expect_right_anywhere<Real>(seed);
  }
}

TEST(TransformPlaces, AreAnywhereInDouble) {
  expect_all_right_anywhere<double>();
}

TEST(TransformPlaces, AreAnywhereInSingle) {
  expect_all_right_anywhere<float>();
}

/// Some pencils of a length, side by side in whole lines.
template <class Real>
struct Rows {
  static constexpr std::int64_t pencils = 32;
  explicit Rows(std::int64_t length) : memory(static_cast<std::size_t>(length) * pencils * sizeof(std::complex<Real>)) {
    for (std::int64_t k = 0; k < length; ++k) {
      offsets.push_back(k * pencils * static_cast<std::int64_t>(sizeof(std::complex<Real>)));
    }
    auto* const values = reinterpret_cast<Real*>(memory.data());
    for (std::int64_t i = 0; i < 2 * pencils * length; ++i) {
      values[i] = static_cast<Real>(i % 101) - static_cast<Real>(i % 7);
    }
  }
  operator Pencils<const std::byte>() const { return {memory.data(), offsets.data(), sizeof(std::complex<Real>)}; }
  operator Pencils<std::byte>() { return {memory.data(), offsets.data(), sizeof(std::complex<Real>)}; }
  bool operator==(const Rows& other) const {
    return std::equal(memory.data(), memory.data() + offsets.size() * pencils * sizeof(std::complex<Real>),
                      other.memory.data());
  }

  Memory memory;
  std::vector<std::int64_t> offsets;
};

TEST(TransformPlaces, GiveTheSamePastTheCache) {
  for (const std::int64_t length : {1, 7, 60, 128, 181, 217}) {
    for (const InstructionSet set : instruction_sets) {
      if (is_usable(set)) {
        const Transform<double> transform({.length = length, .pencils = Rows<double>::pencils}, set);
        const Rows<double> source(length);
        Rows<double> stored(length);
        Rows<double> streamed(length);
        Memory scratch(transform.scratch_bytes());
        const std::span lent(scratch.data(), transform.scratch_bytes());
        transform.run(source, stored, source.pencils, lent, 0.5);
        transform.run(source, streamed, source.pencils, lent, 0.5, {.is_from_memory = true, .is_streaming = true});
        EXPECT_TRUE(stored == streamed) << length;
      }
    }
  }
}

// The bits of a pencil do not depend on the pencils beside it.
TEST(TransformPlaces, GiveTheSameBitsInEveryTile) {
  for (const std::int64_t length : {6, 96, 181, 256}) {
    const Transform<double> transform({.length = length, .pencils = Rows<double>::pencils});
    Memory scratch(transform.scratch_bytes());
    const std::span lent(scratch.data(), transform.scratch_bytes());
    const Rows<double> source(length);
    Rows<double> together(length);
    Rows<double> alone(length);
    transform.run(source, together, source.pencils, lent);
    for (std::int64_t p = 0; p < source.pencils; ++p) {
      const std::int64_t shift = p * static_cast<std::int64_t>(sizeof(std::complex<double>));
      transform.run({source.memory.data() + shift, source.offsets.data(), sizeof(std::complex<double>)},
                    {alone.memory.data() + shift, alone.offsets.data(), sizeof(std::complex<double>)}, 1, lent);
    }
    EXPECT_TRUE(together == alone) << length;
  }
}

TEST(TransformPlaces, AreRunByManyThreadsAtOnce) {
  const std::int64_t length = 181;
  const Transform<float> transform({.length = length, .kind = Kind::backward, .pencils = Rows<float>::pencils});
  const Rows<float> source(length);
  std::vector<Rows<float>> results;
  for (int i = 0; i < 4; ++i) {
    results.emplace_back(length);
  }
  std::vector<std::thread> threads;
  for (Rows<float>& result : results) {
    threads.emplace_back([&] {
      Memory scratch(transform.scratch_bytes());
      for (int round = 0; round < 20; ++round) {
        transform.run(source, result, source.pencils, {scratch.data(), transform.scratch_bytes()});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Rows<float>& result : results) {
    EXPECT_TRUE(result == results.front());
  }
}

}  // namespace
}  // namespace penstock::transform
