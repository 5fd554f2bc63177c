#include <algorithm>
#include <limits>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"

namespace penstock::device {

double min_seconds(const std::function<void()>& work) {
  constexpr int times = 3;
  work();
  double min_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const double begin_s = seconds();
    work();
    min_s = std::min(min_s, seconds() - begin_s);
  }
  return std::max(min_s, 1e-9);
}

Rates measure_rates(const Device& device, std::uint64_t max_bytes) {
  // Far more than caches hold.
  const std::uint64_t bytes = std::min({std::uint64_t{256} << 20, max_bytes / 2, device.properties().allocation_bytes});
  const std::unique_ptr<Memory> from = device.allocate(bytes);
  const std::unique_ptr<Memory> to = device.allocate(bytes);
  const std::unique_ptr<HostMemory> host = device.allocate_host(std::min(std::uint64_t{64} << 20, bytes));
  const std::unique_ptr<Stream> stream = device.make_stream();
  std::ranges::fill(host->bytes(), std::byte{});
  std::byte* const data = host->bytes().data();
  const Rows rows{.row_bytes = host->bytes().size()};
  for (std::uint64_t at = 0; at < bytes; at += rows.row_bytes) {  // memory that nobody has written may not be there
    stream->copy_to_device(from->location() + at, data, {.row_bytes = std::min(rows.row_bytes, bytes - at)});
  }
  const auto rate = [&](std::uint64_t moved, auto copy) {
    const double time_s = min_seconds([&] {
      copy();
      stream->finish();
    });
    return static_cast<double>(moved) / time_s;
  };
  return {
      .memory_bandwidth_bytes_per_s = rate(2 * bytes, [&] { stream->copy(to->location(), from->location(), bytes); }),
      .to_device_bytes_per_s = rate(rows.row_bytes, [&] { stream->copy_to_device(from->location(), data, rows); }),
      .to_host_bytes_per_s = rate(rows.row_bytes, [&] { stream->copy_to_host(data, from->location(), rows); })};
}

}  // namespace penstock::device
