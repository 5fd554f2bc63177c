// Fits find the latency and the bandwidth that times were made of.
#include <gtest/gtest.h>

#include <cmath>

#include "penstock/model/model.hpp"

namespace penstock::model {
namespace {

/// Times of 1 byte to 1 MiB by T(N) = latency + N / bandwidth, some of them 1% too long.
std::vector<MessageTime> times_of(double latency_s, double bandwidth_bytes_per_s) {
  std::vector<MessageTime> times;
  for (double bytes = 1; bytes <= 1 << 20; bytes *= 2) {
    const double error = times.size() % 3 == 0 ? 1.01 : 1;
    times.push_back({bytes, (latency_s + bytes / bandwidth_bytes_per_s) * error});
  }
  return times;
}

// The lecture's Gigabit Ethernet: 76 us, 111 MB/s.
TEST(PingPong, IsFittedByOneSegment) {
  const PingPongFit fit = fit_ping_pong(times_of(76e-6, 111e6), 1);
  ASSERT_EQ(fit.segments.size(), 1U);
  EXPECT_NEAR(fit.segments[0].latency_s, 76e-6, 1e-6);
  EXPECT_NEAR(fit.segments[0].bandwidth_bytes_per_s, 111e6, 1.5e6);
  EXPECT_NEAR(fit.segments[0].half_bytes(), 8436, 200);
  EXPECT_LT(fit.relative_error, 0.01);
}

TEST(PingPong, WithTwoProtocolsIsFittedByTwoSegments) {
  std::vector<MessageTime> times = times_of(1e-6, 1e9);
  for (MessageTime& time : times) {
    if (time.bytes > 8192) {
      time.time_s = 20e-6 + time.bytes / 10e9;
    }
  }
  const PingPongFit fit = fit_ping_pong(times, 2);
  ASSERT_EQ(fit.segments.size(), 2U);
  EXPECT_EQ(fit.segments[0].last_bytes, 8192);
  EXPECT_EQ(fit.segments[1].first_bytes, 16384);
  EXPECT_NEAR(fit.segments[0].latency_s, 1e-6, 2e-8);
  EXPECT_NEAR(fit.segments[1].latency_s, 20e-6, 1e-7);
  EXPECT_NEAR(fit.segments[1].bandwidth_bytes_per_s, 10e9, 1e8);
}

TEST(PingPong, WithThreeProtocolsIsFittedByThreeSegments) {
  std::vector<MessageTime> times;
  for (double bytes = 1; bytes <= 1 << 22; bytes *= 2) {
    times.push_back({bytes, bytes <= 512       ? 1e-6 + bytes / 0.5e9
                            : bytes <= 1 << 16 ? 3e-6 + bytes / 2e9
                                               : 40e-6 + bytes / 12e9});
  }
  const PingPongFit fit = fit_ping_pong(times, 3);
  ASSERT_EQ(fit.segments.size(), 3U);
  EXPECT_EQ(fit.segments[1].first_bytes, 1024);
  EXPECT_EQ(fit.segments[2].first_bytes, 1 << 17);
  EXPECT_NEAR(fit.segments[2].bandwidth_bytes_per_s, 12e9, 1);
  EXPECT_LT(fit.relative_error, 1e-9);
  EXPECT_LE(fit_ping_pong(times, 4).relative_error, fit.relative_error);
  EXPECT_GT(fit_ping_pong(times, 2).relative_error, 0.01);
}

TEST(PingPong, OfOneProtocolIsFittedByOneSegmentThoughTwoAreAllowed) {
  const PingPongFit fit = fit_ping_pong(times_of(76e-6, 111e6), 2);
  ASSERT_EQ(fit.segments.size(), 1U);
  EXPECT_EQ(fit.segments[0].last_bytes, 1 << 20);
  EXPECT_NEAR(fit.relative_error, 0.005, 0.002);
}

// Long messages behind a stall: a line through them alone would begin below zero.
TEST(PingPong, HasNoSegmentOfNegativeLatency) {
  std::vector<MessageTime> times = times_of(50e-6, 100e6);
  for (std::size_t i = times.size() - 3; i < times.size(); ++i) {
    times[i].time_s *= static_cast<double>(i * i) / 100;
  }
  for (const PingPongSegment& segment : fit_ping_pong(times, 2).segments) {
    EXPECT_GT(segment.latency_s, 0);
  }
}

TEST(PingPong, OfASingleTimeHasNoFit) {
  EXPECT_TRUE(fit_ping_pong({{8, 1e-6}}, 2).segments.empty());
}

TEST(PingPong, OfTimesThatDoNotGrowHasNoEndToItsBandwidth) {
  const PingPongFit fit = fit_ping_pong({{8, 1e-6}, {16, 1e-6}, {32, 1e-6}}, 1);
  EXPECT_TRUE(std::isinf(fit.segments[0].bandwidth_bytes_per_s));
  EXPECT_NEAR(fit.segments[0].latency_s, 1e-6, 1e-12);
}

TEST(PingPong, IsNotMeaningfulWhereTimesFall) {
  EXPECT_FALSE(fit_ping_pong({{8, 2e-6}, {64, 1e-6}}, 1).segments.front().is_meaningful());
  EXPECT_TRUE(fit_ping_pong({{8, 1e-6}, {64, 2e-6}}, 1).segments.front().is_meaningful());
}

TEST(PingPong, HasTheHalfLengthsOfTheLecture) {
  const auto half = [](double latency_s, double bandwidth) {
    return PingPongSegment{.latency_s = latency_s, .bandwidth_bytes_per_s = bandwidth}.half_bytes();
  };
  EXPECT_NEAR(half(76e-6, 111e6), 8436, 0.5);
  EXPECT_NEAR(half(4.14e-6, 827e6), 3424, 0.5);
  EXPECT_NEAR(half(20.8e-6, 1320e6), 27456, 0.5);
  EXPECT_NEAR(half(4.14e-6, 1320e6), 5465, 0.5);
}

TEST(PingPong, GainsAThirdByTwiceTheBandwidthAtItsHalfLength) {
  EXPECT_NEAR(gain_of_bandwidth(8436, 8436, 2), 4.0 / 3, 1e-12);
  EXPECT_NEAR(gain_of_latency(8436, 8436, 2), 4.0 / 3, 1e-12);
  EXPECT_NEAR(gain_of_bandwidth(1e15, 8436, 2), 2, 1e-9) << "bandwidth is all that long messages know";
  EXPECT_NEAR(gain_of_bandwidth(0, 8436, 2), 1, 1e-12) << "and nothing to empty ones";
  EXPECT_NEAR(gain_of_latency(0, 8436, 2), 2, 1e-12);
}

TEST(PingPong, TakesThePieceOfItsLength) {
  const std::vector<machine::MessagePiece> pieces{{0, 1e-6, 1e9}, {1000, 5e-6, 2e9}};
  EXPECT_DOUBLE_EQ(message_time_s(pieces, 0), 1e-6);
  EXPECT_DOUBLE_EQ(message_time_s(pieces, 999), 1e-6 + 999e-9);
  EXPECT_DOUBLE_EQ(message_time_s(pieces, 1000), 5.5e-6);
  EXPECT_DOUBLE_EQ(message_time_s(pieces, 1e6), 505e-6);
}

}  // namespace
}  // namespace penstock::model
