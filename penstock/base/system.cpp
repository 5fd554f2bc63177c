#include "penstock/base/system.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace penstock {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string system_identity() {
  std::string boot;
  return std::ifstream("/proc/sys/kernel/random/boot_id") >> boot ? boot : host_name();
}

}  // namespace penstock
