// Devices that fail: too little memory, and a device that is lost midway. On the imitation alone (imitated_cuda.cpp),
// which has 1 GiB and is lost after as many launches as it is told.
#include <gtest/gtest.h>

#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/gas/gas.hpp"
#include "tests/fails_with.hpp"

namespace penstock::fft {
namespace {

TEST(FailingDevice, TooLittleMemoryIsRefusedOnEveryRank) {
  for (const int ranks : {1, 2}) {
    gas::run_world(ranks, [](gas::Team& team) {
      Options options;
      options.size = {512, 512, 256};
      EXPECT_TRUE(fails_with({"the device imitation has no room for", "1.00 GiB"},
                             [&] { DevicePlan<double>(team, device::open("cuda:0"), options); }));
    });
  }
}

TEST(FailingDevice, ALostOneEndsTheTransformOnEveryRank) {
  gas::run_world(3, [](gas::Team& team) {
    Options options;
    options.size = {12, 12, 12};
    const std::shared_ptr<const device::Device> device = device::open("cuda:0");
    DevicePlan<double> plan(team, device, options);
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
  });
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
