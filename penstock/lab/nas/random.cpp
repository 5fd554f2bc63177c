// The benchmark's random numbers: a linear congruential sequence modulo 2^46 in exact integers.
#include <array>

#include "penstock/lab/nas/nas.hpp"

namespace penstock::lab::nas {
namespace {

constexpr std::uint64_t multiplier = 1220703125;  // 5^13
constexpr std::uint64_t seed = 314159265;
constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

/// multiplier^exponent. As 2^46 divides 2^64, overflow does no harm and the mask can wait until a number is read.
constexpr std::uint64_t power(std::uint64_t exponent) noexcept {
  std::uint64_t result = 1;
  for (std::uint64_t square = multiplier; exponent > 0; exponent >>= 1, square *= square) {
    result *= (exponent & 1) != 0 ? square : 1;
  }
  return result;
}

double to_number(std::uint64_t state) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(state & mask)) * 0x1p-46;
}

}  // namespace

void fill_random(std::uint64_t first, std::span<double> numbers) noexcept {
  // Each state needs the one before, a multiply's latency (3 cycles) apart: lanes that leap over one another keep the
  // multiplier busy instead.
  constexpr std::size_t lanes = 4;
  constexpr std::uint64_t leap = power(lanes);
  std::array<std::uint64_t, lanes> states{};
  states[0] = power(first + 1) * seed;
  for (std::size_t lane = 1; lane < lanes; ++lane) {
    states[lane] = states[lane - 1] * multiplier;
  }
  std::size_t i = 0;
  for (; i + lanes <= numbers.size(); i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      numbers[i + lane] = to_number(states[lane]);
      states[lane] *= leap;
    }
  }
  for (std::size_t lane = 0; i < numbers.size(); ++i, ++lane) {
    numbers[i] = to_number(states[lane]);
  }
}

}  // namespace penstock::lab::nas
