// The benchmark's random numbers are those of direct iteration, wherever one starts.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "penstock/lab/nas/nas.hpp"

namespace penstock::lab::nas {
namespace {

/// The definition, one step at a time. The multiplier is taken in two halves of 16 bits, so that no product overflows
/// 64 bits.
std::vector<double> iterate(std::size_t count) {
  std::vector<double> numbers;
  constexpr std::uint64_t modulus = 70368744177664;  // 2^46
  std::uint64_t state = 314159265;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t high = state * (1220703125 >> 16) % modulus;
    state = ((high << 16) % modulus + state * (1220703125 & 0xffff)) % modulus;
    numbers.push_back(static_cast<double>(state) / static_cast<double>(modulus));
  }
  return numbers;
}

TEST(Random, EveryStartAndLengthGivesTheNumbersOfDirectIteration) {
  const std::vector<double> expected = iterate(300);
  for (std::size_t first = 0; first < 40; ++first) {
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<double> numbers(count + 1, -1.0);
      fill_random(first, std::span(numbers).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(numbers[i], expected[first + i]) << "number " << i << " from " << first;
      }
      ASSERT_EQ(numbers[count], -1.0) << "written behind the end";
    }
  }
}

TEST(Random, AStartFarAheadMeetsTheSameSequence) {
  constexpr std::size_t far = 3'000'001;
  const std::vector<double> expected = iterate(far + 10);
  std::vector<double> numbers(10);
  fill_random(far, numbers);
  EXPECT_EQ(numbers, std::vector<double>(expected.end() - 10, expected.end()));
}

TEST(Random, TheSequenceRepeatsAfterItsPeriodOfTwoToThe44) {
  std::vector<double> beginning(8);
  std::vector<double> again(8);
  fill_random(0, beginning);
  fill_random(std::uint64_t{1} << 44, again);
  EXPECT_EQ(beginning, again);
}

}  // namespace
}  // namespace penstock::lab::nas
