// Frames arrive when rate, delay and what else is on the wires let them.
#include <gtest/gtest.h>

#include "tests/cluster/wires.hpp"

namespace penstock::cluster {
namespace {

using namespace std::chrono_literals;

constexpr Wire gigabit{.bits_per_s = 1'000'000'000, .delay = 30us};
constexpr std::size_t full = 1514;            // header and 1500 bytes
constexpr Time full_time = 1538 * Time(8);    // on the wire at 1 Gbit/s
constexpr Time shortest_time = 84 * Time(8);  // Ethernet's shortest frame, with preamble and gap

Time send(Wires& wires, std::size_t from, std::size_t to, std::size_t bytes, Time now) {
  const std::int64_t on_wire = wire_bytes(bytes);
  return wires.arrive(from, to, on_wire, wires.leave(from, on_wire, now));
}

TEST(Wires, CarryARowOfFramesAsTheFramesThatANetworkCardMakesOfIt) {
  constexpr std::size_t headers = 66;
  constexpr std::size_t payload = 1448;
  EXPECT_EQ(wire_bytes(headers, 0, payload), wire_bytes(headers));
  EXPECT_EQ(wire_bytes(headers, 1, payload), wire_bytes(headers + 1));
  EXPECT_EQ(wire_bytes(headers, payload, payload), wire_bytes(headers + payload));
  EXPECT_EQ(wire_bytes(headers, 44 * payload, payload), 44 * wire_bytes(full));
  EXPECT_EQ(wire_bytes(headers, 44 * payload + 100, payload), 44 * wire_bytes(full) + wire_bytes(headers + 100));
}

TEST(Wires, HoldAFrameForItsTimeOnTheWireAndTheDelay) {
  Wires wires(gigabit, 2);
  EXPECT_EQ(send(wires, 0, 1, full, 5ms), 5ms + full_time + 30us);
  EXPECT_EQ(wires.free_at(0), 5ms + full_time);
  EXPECT_EQ(send(wires, 1, 0, 42, 5ms), 5ms + shortest_time + 30us);  // the other way at once
}

TEST(Wires, CarryFramesOneAfterTheOther) {
  Wires wires(gigabit, 3);
  send(wires, 0, 1, full, 0ns);
  EXPECT_EQ(send(wires, 0, 2, full, 1us), 2 * full_time + 30us);
}

TEST(Wires, CarryTheFramesOfTwoSendersToOneOneAfterTheOther) {
  Wires wires(gigabit, 3);
  send(wires, 0, 2, full, 0ns);
  EXPECT_EQ(send(wires, 1, 2, full, 0ns), 2 * full_time + 30us);
}

TEST(Wires, ThatAreTakenPauseTheSendersAndLoseNothing) {
  Wires wires(gigabit, 4);
  Time last{0};
  constexpr int count = 3000;
  for (int i = 0; i < count; ++i) {
    for (std::size_t from = 0; from < 3; ++from) {
      const Time arrival = send(wires, from, 3, full, wires.free_at(from));
      EXPECT_GE(arrival, last + full_time);
      last = arrival;
      // What waits in the switch is what has left its sender and is not yet on the receiver's wire.
      EXPECT_LE(arrival - wires.free_at(from), 30us + 128 * 1024 * Time(8));
    }
  }
  EXPECT_EQ(last, 3 * count * full_time + 30us);  // the receiver's wire was never idle
}

TEST(Wires, WithoutALimitTakeNoTime) {
  Wires wires({.bits_per_s = 0, .delay = 1ms}, 2);
  EXPECT_EQ(send(wires, 0, 1, full, 7ns), 1ms + 7ns);
  EXPECT_EQ(wires.free_at(0), 7ns);
}

}  // namespace
}  // namespace penstock::cluster
