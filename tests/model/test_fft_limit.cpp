// The least cost of a 3-D FFT, beside figures worked out by hand.
#include <gtest/gtest.h>

#include "penstock/model/model.hpp"

namespace penstock::model {
namespace {

constexpr Resources machine{.memory_bandwidth_bytes_per_s = 43e9, .fft_rate_flops = 60e9, .cache_bytes = 32 << 20};

TEST(FftLimit, IsTheLargerOfMemoryAndArithmetic) {
  const Fft fft{.size = {256, 256, 256}};
  EXPECT_DOUBLE_EQ(fft_flops(fft), 5.0 * 16777216 * 24);
  EXPECT_DOUBLE_EQ(fft_memory_bytes(fft, machine.cache_bytes), 4.0 * 16 * 16777216);
  const FftLimit limit = fft_limit(fft, machine);
  EXPECT_NEAR(limit.memory_s, 0.02497, 1e-5);
  EXPECT_NEAR(limit.arithmetic_s, 0.03355, 1e-5);
  EXPECT_EQ(limit.limit_s(), limit.arithmetic_s);
  EXPECT_FALSE(limit.is_bound_by_memory());
}

TEST(FftLimit, IsHalfForRealFieldsAndForSinglePrecision) {
  const Fft fft{.size = {256, 256, 256}};
  const Fft real{.size = {256, 256, 256}, .is_real = true};
  const Fft single{.size = {256, 256, 256}, .real_bytes = 4};
  EXPECT_EQ(fft_flops(real), fft_flops(fft) / 2);
  EXPECT_EQ(fft_memory_bytes(real, 0), fft_memory_bytes(fft, 0) / 2);
  EXPECT_EQ(fft_flops(single), fft_flops(fft));
  EXPECT_EQ(fft_memory_bytes(single, 0), fft_memory_bytes(fft, 0) / 2);
}

TEST(FftLimit, IsNoneWhereNothingIsToBeDoneOrKnown) {
  EXPECT_EQ(fft_limit({.size = {1, 1, 1}}, machine).limit_s(), 0);
  EXPECT_EQ(fft_limit({.size = {256, 256, 256}}, {}).limit_s(), 0);
}

TEST(FftLimit, GrowsWithTheFieldsOfABatch) {
  const Fft fft{.size = {96, 100, 90}, .fields = 3};
  const Fft one{.size = {96, 100, 90}};
  EXPECT_EQ(fft_flops(fft), 3 * fft_flops(one));
  EXPECT_EQ(fft_memory_bytes(fft, 0), 3 * fft_memory_bytes(one, 0));
}

TEST(FftLimit, CountsNoMemoryWhereTheFieldStaysInCache) {
  const Fft fft{.size = {64, 64, 64}};  // 4 MiB
  EXPECT_EQ(fft_memory_bytes(fft, 8 << 20), 0);
  EXPECT_GT(fft_memory_bytes(fft, (8 << 20) - 1), 0);
}

TEST(FftLimit, CountsTheDirectionsThatAreTransformed) {
  const Fft fft{.size = {64, 16, 32}, .along = {true, false, true}};
  EXPECT_DOUBLE_EQ(fft_flops(fft), 5.0 * 64 * 16 * 32 * (6 + 5));
  EXPECT_EQ(fft_memory_bytes(fft, 0), 2 * 16 * 64 * 16 * 32);
  EXPECT_EQ(transformed_lengths(fft), (std::array<std::int64_t, 3>{64, 1, 32}));
}

TEST(FftLimit, CountsOnePassForOneOrTwoDirections) {
  EXPECT_EQ(fft_memory_bytes({.size = {1, 128, 128}}, 0), 2.0 * 16 * 128 * 128);
  EXPECT_EQ(fft_memory_bytes({.size = {128, 1, 1}}, 0), 2.0 * 16 * 128);
  EXPECT_EQ(fft_flops({.size = {1, 1, 1}}), 0);
}

TEST(FftLimit, OfTheStagesIsThatOfTheWhole) {
  const Fft fft{.size = {256, 128, 64}, .is_real = true, .fields = 2};
  FftLimit sum;
  for (const std::size_t along : {0U, 1U, 2U}) {
    const double bytes = along == 1 ? 0 : fft_memory_bytes(fft, machine.cache_bytes) / 2;  // the second in a plane
    const FftLimit stage = fft_stage_limit(fft, along, bytes, machine);
    sum.memory_s += stage.memory_s;
    sum.arithmetic_s += stage.arithmetic_s;
  }
  EXPECT_GT(sum.memory_s, 0);
  EXPECT_DOUBLE_EQ(sum.memory_s, fft_limit(fft, machine).memory_s);
  EXPECT_DOUBLE_EQ(sum.arithmetic_s, fft_limit(fft, machine).arithmetic_s);
}

TEST(FftLimit, OfAStageThatOnlyMovesIsMemorys) {
  const FftLimit stage = fft_stage_limit({.size = {256, 256, 256}}, std::nullopt, 43e9, machine);
  EXPECT_DOUBLE_EQ(stage.memory_s, 1);
  EXPECT_EQ(stage.arithmetic_s, 0);
  EXPECT_EQ(fft_stage_limit({.size = {64, 64, 64}}, std::nullopt, 43e9, machine).memory_s, 0);  // stays in cache
}

}  // namespace
}  // namespace penstock::model
