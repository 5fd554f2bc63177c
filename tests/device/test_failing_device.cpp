// Devices that fail: too little memory, and a device that is lost midway. On the imitation alone (imitated_cuda.cpp),
// which has 1 GiB and is lost after as many launches as it is told.
#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/device_peers.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "tests/fails_with.hpp"

namespace penstock::fft {
namespace {

TEST(FailingDevice, TooLittleMemoryIsRefusedOnEveryRank) {
  for (const int ranks : {1, 2}) {
    gas::run_world(ranks, [&](gas::Team& team) {
      Options options;
      options.size = {8192, 8192, 1};
      const std::string share = ranks == 1 ? "may have 960 MiB" : "may have 480 MiB, as 2 ranks share it";
      EXPECT_TRUE(fails_with({"of the memory of the device imitation for chunks of one plane", share},
                             [&] { DevicePlan<double>(team, device::open("cuda:0"), options); }));
    });
  }
}

TEST(FailingDevice, PlansTakeTheMemoryThatTheyTell) {
  gas::Team team = gas::world_alone();
  const std::shared_ptr<const device::Device> device = device::open("cuda:0");
  for (const std::uint64_t budget_bytes : {0, 400'000}) {
    Options options;
    options.size = {32, 24, 40};
    options.memory_budget_bytes = budget_bytes;
    const std::uint64_t before = device->available_bytes();
    const DevicePlan<double> plan(team, device, options, FieldsOn::host);
    const std::uint64_t taken = before - device->available_bytes();
    EXPECT_GT(taken, 0);
    EXPECT_LE(taken, plan.memory().device_bytes);
    EXPECT_LE(plan.memory().device_bytes, budget_bytes == 0 ? before : budget_bytes);
    EXPECT_EQ(plan.forward_stages().back().pass, budget_bytes == 0 ? 0 : 1);
  }
}

/// Collective: transforms fields of host memory until the device is lost.
void lose_device(const gas::Team& team, std::uint64_t budget_bytes, MessagePath path = MessagePath::host) {
  Options options;
  options.size = {12, 12, 12};
  options.memory_budget_bytes = budget_bytes;
  DevicePlan<double> plan = PlanMaker::make<double>(team, device::open("cuda:0"), options, FieldsOn::host, path);
  EXPECT_EQ(plan.forward_stages().back().pass > 0, budget_bytes > 0);
  EXPECT_EQ(plan.messages().direct_from_bytes.has_value(), path == MessagePath::direct);
  std::vector<std::complex<double>> field(static_cast<std::size_t>(plan.output_stride()));
  const auto transform = [&] { plan.forward(std::span<const std::complex<double>>(field), field); };
  const auto transform_until_it_fails = [&] {
    for (int i = 0; i < 1000; ++i) {
      transform();
    }
  };
  EXPECT_TRUE(fails_with({"the device imitation", "unspecified launch failure"}, transform_until_it_fails));
  // The plan is of no more use, and says why.
  EXPECT_TRUE(fails_with({"the device imitation"}, transform));
}

TEST(FailingDevice, ALostOneEndsTheTransformOnEveryRank) {
  gas::run_world(3, [](gas::Team& team) { lose_device(team, 0); });
}

// These in processes of their own: a lost device is lost for good.
TEST(FailingDevice, ALostOneEndsATransformWhoseMessagesGoStraight) {
  gas::run_world(3, [](gas::Team& team) { lose_device(team, 0, MessagePath::direct); });
}

TEST(FailingDevice, ALostOneEndsATransformWhoseBlocksAreOnTheHost) {
  gas::run_world(3, [](gas::Team& team) { lose_device(team, 40'000); });
}

}  // namespace
}  // namespace penstock::fft

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  const std::vector<penstock::device::Properties> devices = penstock::device::list();
  if (devices.empty() || devices.front().name != "imitation") {
    return 77;  // skipped
  }
  return RUN_ALL_TESTS();
}
