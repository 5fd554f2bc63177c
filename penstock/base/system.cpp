#include "penstock/base/system.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace penstock {

std::string system_identity() {
  std::string boot;
  if (std::ifstream("/proc/sys/kernel/random/boot_id") >> boot) {
    return boot;
  }
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace penstock
