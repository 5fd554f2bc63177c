#include "penstock/cli/report/device_report.hpp"

#include <nlohmann/json.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/output.hpp"

namespace penstock::cli {

std::string describe_device(const device::Properties& device, const device::Rates& rates) {
  return report_line("Device", "{} ({}), {} of memory{}", device.name, device.driver, format_bytes(device.memory_bytes),
                     device.is_host ? ": the processor itself" : "") +
         report_line("", "memory {:.1f} GB/s, bus {:.1f} GB/s there and {:.1f} GB/s back (measured in this run)",
                     rates.memory_bandwidth_bytes_per_s / 1e9, rates.to_device_bytes_per_s / 1e9,
                     rates.to_host_bytes_per_s / 1e9);
}

nlohmann::ordered_json device_json(const device::Properties& device, const device::Rates& rates) {
  return {{"name", device.name},
          {"interface", device.interface == device::Interface::cuda ? "cuda" : "opencl"},
          {"driver", device.driver},
          {"is_host", device.is_host},
          {"memory_bytes", device.memory_bytes},
          {"local_memory_bytes", device.local_memory_bytes},
          {"memory_bandwidth_bytes_per_s", rates.memory_bandwidth_bytes_per_s},
          {"to_device_bytes_per_s", rates.to_device_bytes_per_s},
          {"to_host_bytes_per_s", rates.to_host_bytes_per_s}};
}

}  // namespace penstock::cli
