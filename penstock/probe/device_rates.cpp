#include "penstock/probe/device_rates.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "penstock/base/base.hpp"

namespace penstock::probe {
namespace {

/// The time of one call of `work` on `stream`: the least of several, the first of which is not counted.
template <class Work>
double best_time_s(device::Stream& stream, Work work) {
  constexpr int calls = 6;
  double best_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < calls; ++i) {
    const double begin_s = seconds();
    work();
    stream.finish();
    if (i > 0) {
      best_s = std::min(best_s, seconds() - begin_s);
    }
  }
  return std::max(best_s, 1e-9);
}

}  // namespace

DeviceRates device_rates(const device::Device& device) {
  // Far more than any cache of the device, and little of its memory.
  constexpr std::uint64_t wanted_bytes = std::uint64_t{256} << 20;
  constexpr std::uint64_t host_bytes = std::uint64_t{64} << 20;
  const std::uint64_t bytes = std::min(wanted_bytes, device.available_bytes() / 16);
  const std::unique_ptr<device::Memory> from = device.allocate(bytes);
  const std::unique_ptr<device::Memory> to = device.allocate(bytes);
  const std::unique_ptr<device::HostMemory> host = device.allocate_host(std::min(host_bytes, bytes));
  const std::unique_ptr<device::Stream> stream = device.make_stream();
  const device::Rows rows{.row_bytes = host->bytes().size()};
  const auto of_host = static_cast<double>(host->bytes().size());
  std::ranges::fill(host->bytes(), std::byte{});
  DeviceRates rates;
  rates.to_device_bytes_per_s =
      of_host / best_time_s(*stream, [&] { stream->copy_to_device(from->location(), host->bytes().data(), rows); });
  rates.to_host_bytes_per_s =
      of_host / best_time_s(*stream, [&] { stream->copy_to_host(host->bytes().data(), from->location(), rows); });
  rates.memory_bandwidth_bytes_per_s = 2 * static_cast<double>(bytes) / best_time_s(*stream, [&] {
                                         stream->copy(to->location(), from->location(), bytes);
                                       });
  return rates;
}

}  // namespace penstock::probe
