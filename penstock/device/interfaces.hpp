// The two interfaces behind a device, each in a file of its own. Private to the module.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device/device.hpp"

namespace penstock::device {

/// The devices of one interface; empty where the system does not have it.
std::vector<Properties> list_cuda();
std::vector<Properties> list_opencl();

/// Opens device `index` of the interface's list.
std::shared_ptr<const Device> open_cuda(std::size_t index);
std::shared_ptr<const Device> open_opencl(std::size_t index);

/// A number that no other process has.
std::uint64_t process_number();

/// A shared library of the system that is opened by one of `names`, and then stays open; null where there is none.
void* open_library(std::initializer_list<const char*> names) noexcept;

/// Finds a function of a library. Returns whether it is there.
template <class Function>
bool find_function(void* library, Function& function, const char* name) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// Throws Error: the device has no room for `wanted` bytes.
[[noreturn]] void throw_no_room(const Properties& properties, std::uint64_t wanted, std::uint64_t available);

/// Throws Error: the kernel cannot be compiled, and why.
[[noreturn]] void throw_not_compiled(const Properties& properties, const std::string& name, const std::string& log);

}  // namespace penstock::device
