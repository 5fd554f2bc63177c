// Variants that are measured, or were before, transform as those of the costs do.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::transform {
namespace {

using Number = std::complex<double>;

constexpr std::int64_t pencils = 5;

Shape shape_of(std::int64_t length, Spacing spacing, Kind kind = Kind::forward) {
  return {.length = length, .kind = kind, .source = spacing, .destination = spacing, .pencils = pencils};
}

/// What becomes of random pencils.
std::vector<Number> result_of(const Transform<double>& transform) {
  const Shape& shape = transform.shape();
  std::mt19937 generator(static_cast<unsigned>(shape.length));
  std::normal_distribution<double> normal;
  std::vector<Number> numbers(static_cast<std::size_t>(shape.length * pencils));
  for (Number& number : numbers) {
    number = {normal(generator), normal(generator)};
  }
  std::vector<Number> result(numbers.size());
  const bool are_adjacent = shape.source == Spacing::adjacent;
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = 0; k < shape.length; ++k) {
    offsets.push_back(k * 16 * (are_adjacent ? pencils : 1));
  }
  const std::int64_t stride = 16 * (are_adjacent ? 1 : shape.length);
  const Memory scratch(transform.scratch_bytes());
  transform.run({reinterpret_cast<const std::byte*>(numbers.data()), offsets.data(), stride},
                {reinterpret_cast<std::byte*>(result.data()), offsets.data(), stride}, pencils,
                {scratch.data(), transform.scratch_bytes()});
  return result;
}

void expect_as_estimated(const Transform<double>& transform, InstructionSet set) {
  const std::vector<Number> expected = result_of(Transform<double>(transform.shape(), set));
  const std::vector<Number> found = result_of(transform);
  double difference = 0;
  double sum = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += std::norm(found[i] - expected[i]);
    sum += std::norm(expected[i]);
  }
  EXPECT_LT(std::sqrt(difference / sum), 1e-15) << transform.describe();
}

std::string learned(const Shape& shape, const char* spacing, InstructionSet set, const char* variant) {
  return std::string(shape.kind == Kind::forward ? "forward " : "backward ") + std::to_string(shape.length) + " " +
         spacing + " " + spacing + " " + std::to_string(pencils) + " double " + name_of(set) + ": " + variant + "\n";
}

TEST(TransformVariants, ThatWereFoundBeforeAreTaken) {
  for (const InstructionSet set : instruction_sets) {
    if (!is_usable(set)) {
      continue;
    }
    for (const char* const radices : {"5 4 3", "3 4 5", "2 2 3 5", "10 6", "15 4", "4 15"}) {
      const Shape shape = shape_of(60, Spacing::adjacent);
      ASSERT_TRUE(import_learned(learned(shape, "adjacent", set, (std::string("passes ") + radices).c_str())));
      const Transform<double> transform(shape, set, Effort::measure);
      std::string text;
      for (const char* at = radices; *at != 0; ++at) {
        text += *at == ' ' ? std::string(" x ") : std::string(1, *at);
      }
      EXPECT_EQ(transform.describe(), text + " (" + name_of(set) + ")");
      expect_as_estimated(transform, set);
      EXPECT_NE(export_learned().find(std::string("passes ") + radices + "\n"), std::string::npos);
    }
    // Of a prime: its convolution's.
    const Shape prime = shape_of(61, Spacing::adjacent, Kind::backward);
    ASSERT_TRUE(import_learned(learned(prime, "adjacent", set, "passes 3 4 5")));
    const Transform<double> transform(prime, set, Effort::measure);
    EXPECT_NE(transform.describe().find("61 by Rader: 3 x 4 x 5"), std::string::npos) << transform.describe();
    expect_as_estimated(transform, set);
    // By passes of adjacent pencils, though there are some for rows.
    const Shape rows = shape_of(128, Spacing::contiguous);
    ASSERT_TRUE(import_learned(learned(rows, "contiguous", set, "passes 8 4 4")));
    const Transform<double> by_passes(rows, set, Effort::measure);
    EXPECT_TRUE(by_passes.describe().starts_with("8 x 4 x 4")) << by_passes.describe();
    expect_as_estimated(by_passes, set);
  }
}

TEST(TransformVariants, ThatHaveNoSuchPassesAreMeasuredAnew) {
  const InstructionSet set = best_instruction_set();
  const Shape shape = shape_of(68, Spacing::adjacent);
  ASSERT_TRUE(import_learned(learned(shape, "adjacent", set, "passes 17 4")));
  expect_as_estimated(Transform<double>(shape, set, Effort::measure), set);
}

TEST(TransformVariants, ThatAreMeasuredAreRightAndRemembered) {
  for (const InstructionSet set : instruction_sets) {
    if (!is_usable(set)) {
      continue;
    }
    for (const Spacing spacing : {Spacing::adjacent, Spacing::contiguous}) {
      for (const std::int64_t length : {1, 2, 7, 16, 36, 37, 96, 120, 144, 181, 360, 512}) {
        const Transform<double> first(shape_of(length, spacing), set, Effort::measure);
        expect_as_estimated(first, set);
        EXPECT_EQ(Transform<double>(shape_of(length, spacing), set, Effort::measure).describe(), first.describe());
      }
    }
  }
}

TEST(TransformVariants, OfADamagedTextAreRefused) {
  const std::string before = export_learned();
  for (const char* const text :
       {"forward", ": passes 2", "forward 8 adjacent adjacent 1 double avx2: 2 4", "x: passes 2 y", "x: rows -1",
        "x: passes 2 0", "good: passes 2 4\nbad", "x: passes 99999999999999999999"}) {
    EXPECT_FALSE(import_learned(text)) << text;
  }
  EXPECT_EQ(export_learned(), before);
  EXPECT_TRUE(import_learned(before));
  EXPECT_TRUE(import_learned(""));
}

}  // namespace
}  // namespace penstock::transform
