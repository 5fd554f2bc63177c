#include "penstock/cli/calibrate/calibrate_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::cli {
namespace {

/// The devices that the interface of `properties` has of this name.
std::int64_t count_alike(const device::Properties& properties) {
  const std::vector<device::Properties> all = device::list();
  return std::ranges::count_if(all, [&](const device::Properties& each) {
    return each.interface == properties.interface && each.name == properties.name;
  });
}

void take_pass(CalibratedMachine& to, const probe::DevicePassRates& rates) {
  std::vector<machine::DevicePass>& passes = to.machine.node.device->passes;
  const std::string key = fmt::format("node.device.passes.{}.", passes.size());
  const auto take = [&](const char* name, const probe::Figure& figure) {
    if (figure.samples > 0) {
      note(to, key + name, figure);
    } else {
      to.comments.of_key[key + name] = "the device does no such transforms";
    }
    return figure.best;
  };
  passes.push_back({.length = rates.length,
                    .reads = rates.reads,
                    .writes = rates.writes,
                    .working_set_bytes = rates.working_set_bytes,
                    .complex_double_bytes_per_s = take("complex_double_bytes_per_s", rates.complex_double),
                    .complex_single_bytes_per_s = take("complex_single_bytes_per_s", rates.complex_single),
                    .real_double_bytes_per_s = take("real_double_bytes_per_s", rates.real_double),
                    .real_single_bytes_per_s = take("real_single_bytes_per_s", rates.real_single)});
}

}  // namespace

void calibrate_device(CalibratedMachine& calibrated, const std::shared_ptr<const device::Device>& device,
                      const probe::CalibrationOptions& options, bool is_quick, const TellStep& tell) {
  const device::Properties& properties = device->properties();
  tell("the device and its bus", usual_device_s / 20);
  const probe::DeviceCosts figures = probe::measure_device(device, options);
  calibrated.machine.node.device =
      machine::Device{.name = properties.name,
                      .count = count_alike(properties),
                      .memory_bytes = static_cast<std::int64_t>(properties.memory_bytes),
                      .memory_bandwidth_bytes_per_s = figures.memory_bandwidth_bytes_per_s.best,
                      .to_device_bytes_per_s = figures.to_device_bytes_per_s.best,
                      .to_host_bytes_per_s = figures.to_host_bytes_per_s.best,
                      .bus_progress = figures.bus_progress.best,
                      .launch_s = figures.launch_s.best,
                      .copy_latency_s = figures.copy_latency_s.best};
  calibrated.comments.of_key["node.device.name"] = properties.driver;
  for (const char* key : {"node.device.count", "node.device.memory_bytes"}) {
    calibrated.comments.of_key[key] = "as the driver tells it";
  }
  const std::string key = "node.device.";
  note(calibrated, key + "memory_bandwidth_bytes_per_s", figures.memory_bandwidth_bytes_per_s);
  note(calibrated, key + "to_device_bytes_per_s", figures.to_device_bytes_per_s);
  note(calibrated, key + "to_host_bytes_per_s", figures.to_host_bytes_per_s);
  note(calibrated, key + "bus_progress", figures.bus_progress, "measured: copies to the host beside kernels");
  note(calibrated, key + "launch_s", figures.launch_s, "measured: a kernel that does nothing");
  note(calibrated, key + "copy_latency_s", figures.copy_latency_s, "measured: 64 bytes to the device");

  const std::vector<std::int64_t> lengths = probe::device_pass_lengths(is_quick);
  const double usual_s = usual_device_s * 0.95 / static_cast<double>(2 * lengths.size());
  for (const probe::DevicePassRates& each :
       probe::measure_device_passes(device, lengths, options, [&](const std::string& step) { tell(step, usual_s); })) {
    take_pass(calibrated, each);
  }
}

}  // namespace penstock::cli
