#include "penstock/device/device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <iterator>
#include <optional>
#include <random>

#include "penstock/base/base.hpp"
#include "penstock/base/config.hpp"
#include "penstock/device/interfaces.hpp"

namespace penstock::device {
namespace {

std::string_view name_of(Interface interface) noexcept {
  return interface == Interface::cuda ? "cuda" : "opencl";
}

/// The device that is meant; nothing where there is none.
std::optional<std::size_t> find(std::span<const Properties> devices, std::string_view selector) {
  if (selector.empty()) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (!devices[i].is_host) {
        return i;
      }
    }
    return devices.empty() ? std::nullopt : std::optional<std::size_t>(0);
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (selector == selector_of(devices[i])) {
      return i;
    }
  }
  std::size_t index = 0;
  const char* const end = selector.data() + selector.size();
  const auto [rest, error] = std::from_chars(selector.data(), end, index);
  return error == std::errc() && rest == end && index < devices.size() ? std::optional(index) : std::nullopt;
}

}  // namespace

std::vector<Properties> list() {
  std::vector<Properties> devices = list_cuda();
  std::vector<Properties> others = list_opencl();
  devices.insert(devices.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return devices;
}

std::string selector_of(const Properties& properties) {
  return properties.number < 0 ? "" : fmt::format("{}:{}", name_of(properties.interface), properties.number);
}

std::shared_ptr<const Device> open(std::string_view selector) {
  const std::vector<Properties> devices = list();
  if (devices.empty()) {
    throw Error(
        "this system has no device: neither CUDA's driver (libcuda.so.1) nor OpenCL (libOpenCL.so.1) has one; install "
        "the device's driver, or for trials on the processor pocl-opencl-icd");
  }
  const std::optional<std::size_t> index = find(devices, selector);
  if (!index) {
    std::string names;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", selector_of(devices[i]), devices[i].name);
    }
    throw Error(fmt::format("there is no device {}; this system has {}", selector, names));
  }
  const auto number = static_cast<std::size_t>(devices[*index].number);
  return devices[*index].interface == Interface::cuda ? open_cuda(number) : open_opencl(number);
}

#if !PENSTOCK_HAS_OPENCL
std::vector<Properties> list_opencl() {
  return {};
}

std::shared_ptr<const Device> open_opencl(std::size_t index) {
  throw Error(fmt::format("device opencl:{}: this build has no OpenCL", index));
}

std::shared_ptr<const Device> open_opencl(void* /*context*/, void* /*device*/) {
  throw Error("this build has no OpenCL");
}
#endif

std::uint64_t process_number() {
  // Drawn, since numbers of processes are the system's within one container only.
  static const std::uint64_t drawn = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return drawn + static_cast<std::uint64_t>(getpid());  // of a child of this one as well
}

void* open_library(std::initializer_list<const char*> names) noexcept {
  for (const char* const name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) {
      return library;
    }
  }
  return nullptr;
}

void throw_no_room(const Properties& properties, std::uint64_t wanted, std::uint64_t available) {
  throw Error(fmt::format("the device {} has no room for {}: of {}, {} are free", properties.name, format_bytes(wanted),
                          format_bytes(properties.memory_bytes), format_bytes(available)));
}

void throw_not_compiled(const Properties& properties, const std::string& name, const std::string& log) {
  throw Error(fmt::format("the device {} cannot compile the kernel {}: {}", properties.name, name, log));
}

}  // namespace penstock::device
