// Devices and their memory.
#include "penstock/device/device.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/status.hpp"
#include "penstock/fft/fft.hpp"

namespace device = penstock::device;
using penstock::c::status_of;

struct penstock_device_memory {
  std::unique_ptr<device::Memory> memory;
};

namespace {

/// Copies text, and as much of it as there is room for.
template <std::size_t Bytes>
void copy_text(char (&to)[Bytes], const std::string& from) {
  to[from.copy(to, Bytes - 1)] = '\0';
}

penstock_device_properties properties_of(const device::Properties& properties) {
  penstock_device_properties result{};
  result.interface = properties.interface == device::Interface::cuda ? PENSTOCK_CUDA : PENSTOCK_OPENCL;
  result.number = static_cast<int>(properties.number);
  copy_text(result.name, properties.name);
  copy_text(result.driver, properties.driver);
  result.memory_bytes = properties.memory_bytes;
  result.local_memory_bytes = properties.local_memory_bytes;
  result.group_items = properties.group_items;
  result.compute_units = properties.compute_units;
  result.has_double = properties.has_double ? 1 : 0;
  result.is_host = properties.is_host ? 1 : 0;
  return result;
}

/// Runs `begin(stream)` on a stream of its own, and waits for it, where there is anything to copy.
template <class Begin>
penstock_status copy(const penstock_device* device, penstock_location location, const void* host, std::uint64_t bytes,
                     const Begin& begin) {
  return status_of([&] {
    if (bytes == 0) {
      return;
    }
    if (location.handle == 0 || host == nullptr) {
      throw penstock::Error("no memory to copy: a pointer or a handle is NULL");
    }
    const std::unique_ptr<device::Stream> stream = device->device->make_stream();
    begin(*stream);
    stream->finish();
  });
}

}  // namespace

extern "C" {

penstock_status penstock_device_list(penstock_device_properties* devices, size_t capacity, size_t* count) {
  return status_of([&] {
    const std::vector<device::Properties> all = device::list();
    std::transform(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(capacity, all.size())), devices,
                   properties_of);
    *count = all.size();
  });
}

penstock_status penstock_device_open(penstock_team* team, const char* selector, penstock_device** device) {
  return status_of([&] {
    team->team.agree(selector == nullptr ? "no selector of a device: it is NULL" : "");
    *device = new penstock_device{penstock::fft::open_device(team->team, selector)};
  });
}

penstock_status penstock_device_open_opencl(void* context, void* id, penstock_device** device) {
  return status_of([&] { *device = new penstock_device{device::open_opencl(context, id)}; });
}

penstock_status penstock_device_destroy(penstock_device* device) {
  return status_of([&] { delete device; });
}

penstock_device_properties penstock_device_describe(const penstock_device* device) {
  return properties_of(device->device->properties());
}

penstock_status penstock_device_available_bytes(const penstock_device* device, uint64_t* bytes) {
  return status_of([&] { *bytes = device->device->available_bytes(); });
}

penstock_status penstock_device_finish(const penstock_device* device, uint64_t stream) {
  return status_of([&] { device->device->finish(stream); });
}

penstock_status penstock_device_memory_create(const penstock_device* device, uint64_t bytes,
                                              penstock_device_memory** memory) {
  return status_of([&] { *memory = new penstock_device_memory{device->device->allocate(bytes)}; });
}

penstock_status penstock_device_memory_destroy(penstock_device_memory* memory) {
  return status_of([&] { delete memory; });
}

penstock_location penstock_device_memory_location(const penstock_device_memory* memory) {
  const device::Location location = memory->memory->location();
  return {location.handle, location.offset};
}

penstock_status penstock_copy_to_device(const penstock_device* device, penstock_location to, const void* from,
                                        uint64_t bytes) {
  return copy(device, to, from, bytes, [&](device::Stream& stream) {
    stream.copy_to_device({to.handle, to.offset}, static_cast<const std::byte*>(from), {.row_bytes = bytes});
  });
}

penstock_status penstock_copy_to_host(const penstock_device* device, void* to, penstock_location from, uint64_t bytes) {
  return copy(device, from, to, bytes, [&](device::Stream& stream) {
    stream.copy_to_host(static_cast<std::byte*>(to), {from.handle, from.offset}, {.row_bytes = bytes});
  });
}
}
