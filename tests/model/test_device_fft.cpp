// The time of a transform on devices: reckoned by hand for a device with round figures.
#include <gtest/gtest.h>

#include "penstock/base/error.hpp"
#include "penstock/model/device_fft.hpp"
#include "penstock/model/model.hpp"
#include "tests/fails_with.hpp"

namespace penstock::model {
namespace {

/// 100 GB/s of memory; passes at 50 GB/s, of which pencils side by side are read at half of that; a bus of 10 GB/s.
machine::Machine with_round_device() {
  machine::Machine machine = machine::built_in();
  machine.node.device = machine::Device{.name = "round",
                                        .count = 1,
                                        .memory_bytes = std::int64_t{16} << 30,
                                        .memory_bandwidth_bytes_per_s = 100e9,
                                        .to_device_bytes_per_s = 10e9,
                                        .to_host_bytes_per_s = 10e9,
                                        .bus_progress = 1,
                                        .launch_s = 1e-5,
                                        .copy_latency_s = 1e-6,
                                        .passes = {{64, "pencils", "points", 1 << 20, 25e9, 50e9, 0, 50e9},
                                                   {64, "points", "points", 1 << 20, 50e9, 100e9, 50e9, 100e9}}};
  machine.transports = {{.name = "mpi",
                         .progress = 0.5,
                         .send_overhead_s = 2e-6,
                         .receive_overhead_s = 3e-6,
                         .pieces = {{0, 10e-6, 1e9}}}};
  return machine;
}

/// Bytes whose pass takes 10 ms where points are read.
constexpr double pass_bytes = 500e6;

DeviceFftStage stage(bool reads_pencils) {
  return {.pass = {.length = 64, .reads = reads_pencils ? "pencils" : "points"}, .pass_bytes = pass_bytes};
}

TEST(DeviceFft, OfFieldsOnTheDeviceIsItsPasses) {
  const DeviceFft run{.stages = {stage(false), stage(true), stage(true)}, .fields = 3};
  const DeviceFftTime time = device_fft_time(with_round_device(), run);
  ASSERT_EQ(time.passes_s.size(), 3U);
  EXPECT_DOUBLE_EQ(time.passes_s[0], 3 * 10e-3);
  EXPECT_DOUBLE_EQ(time.passes_s[1], 3 * 20e-3);
  EXPECT_DOUBLE_EQ(time.launch_s, 3 * 1e-5);
  EXPECT_EQ(time.bus_s, 0);
  EXPECT_DOUBLE_EQ(time.total_s, 3 * (50e-3 + 1e-5));
}

TEST(DeviceFft, CopiesBlocksAtTheRateOfMemory) {
  DeviceFft run{.stages = {stage(false)}};
  run.stages[0].copied_bytes = 1e9;
  EXPECT_DOUBLE_EQ(device_fft_time(with_round_device(), run).pass_s, 20e-3);
  run.stages[0].pass_bytes = 0;  // data that only changes places
  EXPECT_DOUBLE_EQ(device_fft_time(with_round_device(), run).pass_s, 10e-3);
}

TEST(DeviceFft, HidesAllButTheLongestStepOfChunksThatFollowOneAnother) {
  DeviceFft run{.stages = {stage(false), stage(true)}};
  run.stages[0].chunks = run.stages[1].chunks = 4;
  run.stages[0].received_bytes = run.stages[1].sent_bytes = 50e6;  // 5 ms each
  DeviceFftTime time = device_fft_time(with_round_device(), run);
  EXPECT_DOUBLE_EQ(time.bus_s, 10e-3);
  EXPECT_DOUBLE_EQ(time.launch_s, 7e-5);
  // The second stage begins when the first one has ended: each hides what it shares with the bus, but one chunk.
  EXPECT_DOUBLE_EQ(time.hidden_s, 0.75 * (5e-3 + 5e-3));
  EXPECT_DOUBLE_EQ(time.total_s, time.pass_s + time.bus_s + time.launch_s - time.hidden_s);

  run.stages[1].follows_chunks = true;
  time = device_fft_time(with_round_device(), run);
  EXPECT_DOUBLE_EQ(time.hidden_s, 0.75 * (5e-3 + 5e-3));  // one kernel at a time

  machine::Machine machine = with_round_device();
  machine.node.device->bus_progress = 0;
  EXPECT_EQ(device_fft_time(machine, run).hidden_s, 0);
  run.stages[1].chunks = 1;
  EXPECT_EQ(device_fft_time(with_round_device(), run).hidden_s, 0);
}

TEST(DeviceFft, OverlapsWhatAPassBringsFromTheHostWithThatPass) {
  DeviceFft run{.stages = {stage(false), stage(false)}};
  for (DeviceFftStage& each : run.stages) {
    each.chunks = 4;
    each.received_bytes = each.sent_bytes = 80e6;  // 8 ms each
    each.is_received_by_chunks = true;
  }
  const DeviceFftTime time = device_fft_time(with_round_device(), run);
  EXPECT_DOUBLE_EQ(time.hidden_s, 2 * 0.75 * (8e-3 + 8e-3));
}

TEST(DeviceFft, BringsWhatPeersSendWhileTheyTransform) {
  DeviceFft run{.stages = {stage(false), stage(true)}, .ranks_per_node = 2, .ty = 1, .tz = 2};
  machine::Machine machine = with_round_device();
  machine.node.device->count = 2;
  run.stages[0].chunks = 4;
  run.stages[0].sent_bytes = run.stages[0].peer_bytes = 30e6;  // 3 ms
  run.stages[0].sent_copies = 4;
  run.stages[0].peers = 1;
  run.stages[1].received_bytes = 30e6;
  run.stages[1].received_copies = 4;
  const DeviceFftTime time = device_fft_time(machine, run);
  EXPECT_DOUBLE_EQ(time.bus_s, 2 * (3e-3 + 4e-6));
  EXPECT_DOUBLE_EQ(time.hidden_s, 0.75 * 2 * (3e-3 + 4e-6));
  EXPECT_EQ(time.message_s, 0);  // through memory that both map

  machine.node.device->count = 1;  // which both share
  const DeviceFftTime shared = device_fft_time(machine, run);
  EXPECT_DOUBLE_EQ(shared.pass_s, 2 * time.pass_s);
  EXPECT_DOUBLE_EQ(shared.bus_s, 2 * time.bus_s);
}

TEST(DeviceFft, SendsMessagesWhereMemoryIsNotShared) {
  DeviceFft run{.stages = {stage(false), stage(true)}, .ranks_per_node = 2, .ty = 1, .tz = 2, .is_node_shared = false};
  machine::Machine machine = with_round_device();
  machine.node.cores = 2;
  machine.node.device->count = 2;
  run.stages[0].sent_bytes = run.stages[0].peer_bytes = 30e6;
  run.stages[0].peers = 1;
  const DeviceFftTime time = device_fft_time(machine, run);
  EXPECT_DOUBLE_EQ(time.message_s, 10e-6 + 30e-3 + 5e-6);
  run.stages[0].chunks = 2;
  const DeviceFftTime two = device_fft_time(machine, run);
  // Half of the transfer goes on during work, which is longer than that.
  EXPECT_DOUBLE_EQ(two.hidden_s, 0.5 * 3e-3 + 0.5 * std::min(13e-3, 0.5 * (30e-3 + 10e-6)));
}

TEST(DeviceFft, AcrossNodesLoadsTheirLinks) {
  DeviceFft run{.stages = {stage(false)}, .nodes = 2, .ranks_per_node = 1, .ty = 1, .tz = 2};
  machine::Machine machine = with_round_device();
  machine.count = 2;
  machine.network = machine::Network{.link_bandwidth_bytes_per_s = 0.5e9};
  run.stages[0].sent_bytes = run.stages[0].peer_bytes = 30e6;
  run.stages[0].peers = 1;
  EXPECT_DOUBLE_EQ(device_fft_time(machine, run).message_s, 60e-3 + 10e-6 + 5e-6);
  machine.network.reset();
  EXPECT_TRUE(fails_with({"network"}, [&] { device_fft_time(machine, run); }));
}

TEST(DeviceFft, TellsRatesBetweenThoseThatWereMeasured) {
  const machine::Device device{.memory_bandwidth_bytes_per_s = 100e9,
                               .passes = {{64, "points", "points", 1 << 20, 40e9, 80e9, 0, 0},
                                          {64, "points", "points", 1 << 24, 20e9, 80e9, 0, 0},
                                          {256, "points", "points", 1 << 20, 60e9, 80e9, 0, 0},
                                          {256, "points", "points", 1 << 24, 40e9, 80e9, 0, 0}}};
  const auto rate = [&](std::int64_t length, double bytes) {
    return device_pass_rate(device, {.length = length}, bytes);
  };
  EXPECT_DOUBLE_EQ(rate(64, 1 << 20), 40e9);
  EXPECT_DOUBLE_EQ(rate(64, 1 << 10), 40e9);
  EXPECT_DOUBLE_EQ(rate(64, 1 << 30), 20e9);
  EXPECT_DOUBLE_EQ(rate(64, 1 << 22), 1 / (0.5 / 40e9 + 0.5 / 20e9));
  EXPECT_DOUBLE_EQ(rate(128, 1 << 20), 50e9);
  EXPECT_EQ(device_pass_rate(device, {.length = 64, .fft = {.is_real = true}}, 1e6), 0);
  EXPECT_DOUBLE_EQ(device_pass_rate({.memory_bandwidth_bytes_per_s = 7e9}, {.length = 64}, 1e6), 7e9);
}

TEST(DeviceFft, IsRefusedWhereTheMachineDoesNotTellEnough) {
  const DeviceFft run{.stages = {stage(false)}};
  machine::Machine machine = with_round_device();
  machine.node.device.reset();
  EXPECT_TRUE(fails_with({"has no node.device: penstock calibrate --device measures it"},
                         [&] { device_fft_time(machine, run); }));
  machine = with_round_device();
  DeviceFft real = {.stages = {stage(true)}};
  real.stages[0].pass.fft.is_real = true;  // in double precision: a rate of 0
  EXPECT_DOUBLE_EQ(device_fft_time(machine, DeviceFft{.stages = {stage(true)}}).pass_s, 20e-3);
  EXPECT_TRUE(fails_with({"does no such transforms"}, [&] { device_fft_time(machine, real); }));
  EXPECT_TRUE(fails_with({"0 fields"}, [&] { device_fft_time(machine, {.fields = 0}); }));
  EXPECT_THROW(device_fft_time(machine, {.ranks_per_node = 2, .ty = 3}), Error);
}

TEST(DeviceFft, GainsByWhatBoundsIt) {
  DeviceFft run{.stages = {stage(false)}};
  EXPECT_EQ(device_fft_gains(with_round_device(), run).front().resource, Resource::device);
  run.stages[0].received_bytes = 1e9;
  const std::vector<Gain> gains = device_fft_gains(with_round_device(), run);
  EXPECT_EQ(gains.front().resource, Resource::bus_bandwidth);
  const double time_s = 0.1 + 10e-3 + 1e-5;
  EXPECT_DOUBLE_EQ(gains.front().factor, time_s / (time_s - 0.05));
}

}  // namespace
}  // namespace penstock::model
