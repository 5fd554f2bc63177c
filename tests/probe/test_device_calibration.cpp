// What calibration measures of a device is positive, ordered as it says, and possible.
#include <gtest/gtest.h>

#include <tuple>

#include "penstock/device/device.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::probe {
namespace {

/// The least that gives a figure.
constexpr CalibrationOptions brief{.samples = 2, .sample_s = 1e-6};

void expect_possible(const Figure& figure, double least, double most) {
  EXPECT_GT(figure.best, least);
  EXPECT_LT(figure.best, most);
  EXPECT_GE(figure.spread(), 0);
  EXPECT_GE(figure.samples, brief.samples);
}

/// The first device, or none.
std::shared_ptr<const device::Device> any_device() {
  return device::list().empty() ? nullptr : device::open();
}

TEST(DeviceCalibration, MeasuresTheDeviceAndItsBus) {
  const auto device = any_device();
  if (device == nullptr) {
    GTEST_SKIP() << "this system has no device";
  }
  const DeviceCosts figures = measure_device(device, brief);
  for (const Figure& rate :
       {figures.memory_bandwidth_bytes_per_s, figures.to_device_bytes_per_s, figures.to_host_bytes_per_s}) {
    expect_possible(rate, 1e6, 1e15);
  }
  expect_possible(figures.launch_s, 0, 1);
  expect_possible(figures.copy_latency_s, 0, 1);
  EXPECT_GE(figures.bus_progress.median, 0);
  EXPECT_LE(figures.bus_progress.best, 1);
  EXPECT_LE(figures.bus_progress.median, figures.bus_progress.best);
}

TEST(DeviceCalibration, MeasuresPassesInTheOrderOfMachineFiles) {
  const auto device = any_device();
  if (device == nullptr) {
    GTEST_SKIP() << "this system has no device";
  }
  int steps = 0;
  const auto passes = measure_device_passes(device, {6, 1 << 22}, brief, [&](const std::string&) { ++steps; });
  EXPECT_EQ(steps, 2 * 2);        // in two rounds
  ASSERT_EQ(passes.size(), 10U);  // 2^22 points are more than a work-group holds
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const DevicePassRates& each = passes[i];
    EXPECT_EQ(each.length, 6);
    if (i > 0) {
      const auto order = [](const DevicePassRates& one) {
        return std::tuple(one.reads, one.writes, one.working_set_bytes);
      };
      EXPECT_LT(order(passes[i - 1]), order(each));
    }
    expect_possible(each.complex_single, 1e5, 1e15);
    expect_possible(each.real_single, 1e5, 1e15);
    if (device->properties().has_double) {
      expect_possible(each.complex_double, 1e5, 1e15);
      expect_possible(each.real_double, 1e5, 1e15);
    }
  }
  EXPECT_GT(device_pass_lengths(false).size(), device_pass_lengths(true).size());
}

}  // namespace
}  // namespace penstock::probe
