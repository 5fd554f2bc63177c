#include "penstock/cli/core/device_choice.hpp"

#include <algorithm>
#include <vector>

namespace penstock::cli {

std::shared_ptr<const device::Device> open_device(const Session& session, const std::string& selector) {
  std::shared_ptr<const device::Device> device;
  session.team.together([&] {
    if (selector != "any") {
      device = device::open(selector);
      return;
    }
    const std::vector<device::Properties> all = device::list();
    std::vector<std::size_t> accelerators;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].is_host && all[i].interface == all.front().interface) {
        accelerators.push_back(i);
      }
    }
    const std::vector<int>& nodes = session.team.placement().nodes;
    const auto me = nodes.begin() + session.team.rank();
    const auto before = static_cast<std::size_t>(std::count(nodes.begin(), me, *me));
    device = accelerators.empty() ? device::open()
                                  : device::open(device::selector_of(all, accelerators[before % accelerators.size()]));
  });
  return device;
}

}  // namespace penstock::cli
