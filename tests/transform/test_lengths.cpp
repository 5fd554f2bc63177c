// Transforms of every length are those of the definition, in every set of instructions and both precisions.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"
#include "tests/definition.hpp"
#include "tests/fails_with.hpp"

namespace penstock::transform {
namespace {

constexpr std::array all_kinds{Kind::forward,
                               Kind::backward,
                               Kind::real_to_complex,
                               Kind::complex_to_real,
                               Kind::redft00,
                               Kind::redft10,
                               Kind::redft01,
                               Kind::redft11,
                               Kind::rodft00,
                               Kind::rodft10,
                               Kind::rodft01,
                               Kind::rodft11,
                               Kind::r2hc,
                               Kind::hc2r,
                               Kind::dht};

/// Where long double is software's (of 113 bits, as on AArch64), the definition takes a hundred times as long: a part
/// of the lengths is tried.
constexpr std::int64_t step = std::numeric_limits<long double>::digits > 64 ? 13 : 1;

/// Sines and cosines are made of the others: of all short lengths, and some others.
bool is_tried(Kind kind, std::int64_t length) {
  return kind < Kind::redft00 || (length <= 100 && (length > 1 || kind != Kind::redft00)) || length % 8 == 5;
}

/// Random adjacent pencils, and what the definition makes of the last of them.
template <class Real>
struct Example {
  static constexpr std::int64_t pencils = 3;

  Example(Kind the_kind, std::int64_t the_length) : kind(the_kind), length(the_length) {
    const Transform<Real> transform({.length = length, .kind = kind, .pencils = pencils});
    source_parts = transform.source_number_bytes() / static_cast<std::int64_t>(sizeof(Real));
    result_parts = transform.destination_number_bytes() / static_cast<std::int64_t>(sizeof(Real));
    std::mt19937 generator(static_cast<unsigned>(length));
    std::normal_distribution<Real> normal;
    std::vector<Long> pencil;
    for (std::int64_t k = 0; k < transform.source_points(); ++k) {
      for (std::int64_t i = 0; i < pencils * source_parts; ++i) {
        numbers.push_back(normal(generator));
      }
      const Real last = numbers.back();
      pencil.push_back(source_parts == 1 ? Long(last) : Long(numbers[numbers.size() - 2], last));
    }
    expected = by_definition(kind, pencil, length);
  }

  /// Of points in rows of numbers of so many parts.
  std::vector<std::int64_t> offsets(std::int64_t parts) const {
    std::vector<std::int64_t> found;
    for (std::int64_t k = 0; k < length; ++k) {
      found.push_back(k * pencils * parts * static_cast<std::int64_t>(sizeof(Real)));
    }
    return found;
  }

  /// The root mean square of the error of a transform, in units of the precision's epsilon and of the root mean square
  /// of the result.
  double error(InstructionSet set) const {
    const Transform<Real> transform({.length = length, .kind = kind, .pencils = pencils}, set);
    std::vector<Real> result(expected.size() * static_cast<std::size_t>(pencils * result_parts));
    const Memory scratch(transform.scratch_bytes());
    const std::vector<std::int64_t> from = offsets(source_parts);
    const std::vector<std::int64_t> to = offsets(result_parts);
    transform.run({reinterpret_cast<const std::byte*>(numbers.data()), from.data(), transform.source_number_bytes()},
                  {reinterpret_cast<std::byte*>(result.data()), to.data(), transform.destination_number_bytes()},
                  pencils, {scratch.data(), transform.scratch_bytes()});
    long double error = 0;
    long double all = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const Real* const number =
          result.data() + (k + 1) * static_cast<std::size_t>(pencils * result_parts) - result_parts;
      error += std::norm((result_parts == 1 ? Long(number[0]) : Long(number[0], number[1])) - expected[k]);
      all += std::norm(expected[k]);
    }
    return static_cast<double>(std::sqrt(error / all) / std::numeric_limits<Real>::epsilon());
  }

  Kind kind;
  std::int64_t length;
  std::int64_t source_parts;
  std::int64_t result_parts;
  std::vector<Real> numbers;
  std::vector<Long> expected;
};

/// As it grows with the length for radices alone, and for convolutions, whose error is larger.
double allowed(Kind kind, std::int64_t length) {
  const double sums = kind < Kind::redft00 ? 0 : 0.5;  // of two rows each, before or behind
  return 1 + sums + 0.22 * std::log2(static_cast<double>(length));
}

template <class Real>
void expect_right(std::int64_t length) {
  for (const Kind kind : all_kinds) {
    if (!is_tried(kind, length)) {
      continue;
    }
    const Example<Real> example(kind, length);
    for (const InstructionSet set : instruction_sets) {
      if (is_usable(set)) {
        EXPECT_LT(example.error(set), allowed(kind, length))
            << length << " points, " << name_of(set) << ", kind " << static_cast<int>(kind);
      }
    }
  }
}

TEST(TransformLengths, AreAllRightInDouble) {
  for (std::int64_t length = 1; length <= 400; length += step) {
    expect_right<double>(length);
  }
}

TEST(TransformLengths, AreAllRightInSingle) {
  for (std::int64_t length = 1; length <= 400; length += step) {
    expect_right<float>(length);
  }
}

TEST(TransformLengths, MayBeLong) {
  if (step > 1) {
    GTEST_SKIP() << "long double is software's";
  }
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
  EXPECT_TRUE(
      fails_with({"2 points or more"}, [] { Transform<double>({.length = 1, .kind = Kind::redft00, .pencils = 1}); }));
  EXPECT_TRUE(fails_with({"1 pencil or more, not 0"}, [] { Transform<double>({.length = 4}); }));
}

// Whole lines of a pencil are four points, of which the last pass gives one butterfly each.
TEST(TransformLengths, EndWithWholeLinesOfContiguousPencils) {
  const auto text_of = [](std::int64_t length, Spacing destination) {
    return Transform<double>({.length = length, .destination = destination, .pencils = 32}, InstructionSet::portable)
        .describe();
  };
  EXPECT_EQ(text_of(104, Spacing::adjacent), "13 x 8 (portable)");
  EXPECT_EQ(text_of(104, Spacing::contiguous), "8 x 13 (portable)");
  for (const std::int64_t length : {12, 20, 88, 104, 180, 264, 1000}) {
    const std::string text = text_of(length, Spacing::contiguous);
    const std::size_t last = text.rfind(" x ");
    ASSERT_NE(last, std::string::npos) << text;
    EXPECT_EQ(length / std::stoll(text.substr(last + 3)) % 4, 0) << text;
  }
  EXPECT_EQ(text_of(90, Spacing::contiguous), text_of(90, Spacing::adjacent));
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
