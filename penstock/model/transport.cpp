#include "penstock/model/transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::model {

using machine::Machine;
using machine::Transport;

void require_network(const Machine& machine, std::int64_t nodes) {
  if (nodes > 1 && !machine.network) {
    throw Error(
        fmt::format("{} has no network, and {} nodes need one: its machine file wants [network] and [[transports]]",
                    machine.name, nodes));
  }
}

Transport find_transport(const Machine& machine, const std::string& name) {
  if (name.empty() && !machine.transports.empty()) {
    return machine.transports.front();
  }
  if (name.empty()) {
    return {.name = "ideal", .progress = 1, .pieces = {{0, 0, std::numeric_limits<double>::infinity()}}};
  }
  std::vector<std::string> known;
  for (const Transport& transport : machine.transports) {
    if (transport.name == name) {
      return transport;
    }
    known.push_back(transport.name);
  }
  throw Error(fmt::format("{} has no transport '{}'; it has {}", machine.name, name,
                          known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

}  // namespace penstock::model
