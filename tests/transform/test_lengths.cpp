// Transforms of every length are those of the definition, in every set of instructions and both precisions.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"
#include "tests/fails_with.hpp"
#include "tests/transform/definition.hpp"

namespace penstock::transform {
namespace {

/// Random adjacent pencils, and what the definition makes of the last of them.
template <class Real>
struct Example {
  using Number = std::complex<Real>;
  static constexpr std::int64_t pencils = 3;

  explicit Example(std::int64_t the_length) : length(the_length) {
    std::mt19937 generator(static_cast<unsigned>(length));
    std::normal_distribution<Real> normal;
    for (std::int64_t k = 0; k < length; ++k) {
      for (std::int64_t p = 0; p < pencils; ++p) {
        numbers.emplace_back(normal(generator), normal(generator));
      }
      offsets.push_back(k * pencils * static_cast<std::int64_t>(sizeof(Number)));
      pencil.emplace_back(numbers.back());
    }
    forward = by_definition(pencil);
  }

  /// The root mean square of the error of a transform, in units of the precision's epsilon and of the root mean square
  /// of the result.
  double error(Direction direction, InstructionSet set) const {
    const Transform<Real> transform({.length = length, .direction = direction, .pencils = pencils}, set);
    std::vector<Number> result(numbers.size());
    const Memory scratch(transform.scratch_bytes());
    transform.run({reinterpret_cast<const std::byte*>(numbers.data()), offsets.data(), sizeof(Number)},
                  {reinterpret_cast<std::byte*>(result.data()), offsets.data(), sizeof(Number)}, pencils,
                  {scratch.data(), transform.scratch_bytes()});
    long double error = 0;
    long double all = 0;
    for (std::int64_t k = 0; k < length; ++k) {
      const std::int64_t point = direction == Direction::backward ? (length - k) % length : k;
      const Long right = forward[static_cast<std::size_t>(point)];
      error += std::norm(Long(result[static_cast<std::size_t>(k * pencils + pencils - 1)]) - right);
      all += std::norm(right);
    }
    return static_cast<double>(std::sqrt(error / all) / std::numeric_limits<Real>::epsilon());
  }

  std::int64_t length;
  std::vector<Number> numbers;
  std::vector<std::int64_t> offsets;
  std::vector<Long> pencil;
  std::vector<Long> forward;
};

/// As it grows with the length for radices alone, and for convolutions, whose error is larger.
double allowed(std::int64_t length) {
  return 1 + 0.22 * std::log2(static_cast<double>(length));
}

template <class Real>
void expect_right(std::int64_t length) {
  const Example<Real> example(length);
  for (const InstructionSet set : instruction_sets) {
    if (is_usable(set)) {
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        EXPECT_LT(example.error(direction, set), allowed(length))
            << length << " points, " << name_of(set) << ", " << static_cast<int>(direction);
      }
    }
  }
}

TEST(TransformLengths, AreAllRightInDouble) {
  for (std::int64_t length = 1; length <= 400; ++length) {
    expect_right<double>(length);
  }
}

TEST(TransformLengths, AreAllRightInSingle) {
  for (std::int64_t length = 1; length <= 400; ++length) {
    expect_right<float>(length);
  }
}

TEST(TransformLengths, MayBeLong) {
  for (const std::int64_t length :
       {512, 1000, 1009, 1024, 1081, 1536, 1739, 2039, 2048, 2187, 3125, 4096, 5005, 5929, 6007}) {
    expect_right<double>(length);
    expect_right<float>(length);
  }
}

TEST(TransformLengths, ThatAreNoneAreRefused) {
  EXPECT_TRUE(fails_with({"1 to 67108864 points", "not 0"}, [] { Transform<double>({.length = 0, .pencils = 1}); }));
  EXPECT_TRUE(fails_with({"points", "not -1"}, [] { Transform<float>({.length = -1, .pencils = 1}); }));
  EXPECT_TRUE(
      fails_with({"points", "not 67108865"}, [] { Transform<double>({.length = (1 << 26) + 1, .pencils = 1}); }));
  EXPECT_TRUE(fails_with({"1 pencil or more, not 0"}, [] { Transform<double>({.length = 4}); }));
}

TEST(TransformLengths, AreTakenApartAsTheyTell) {
  EXPECT_EQ(Transform<double>({.length = 1, .pencils = 1}, InstructionSet::portable).describe(), "1 x 1 (portable)");
  const std::string prime = Transform<double>({.length = 181, .pencils = 1}, InstructionSet::portable).describe();
  EXPECT_TRUE(prime.starts_with("181 by Rader: ")) << prime;
  const std::string composite = Transform<double>({.length = 217, .pencils = 1}, InstructionSet::portable).describe();
  EXPECT_TRUE(composite.starts_with("(31 by ")) << composite;
}

}  // namespace
}  // namespace penstock::transform
