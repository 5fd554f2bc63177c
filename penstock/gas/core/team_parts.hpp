// The parts that a team is made of. Private to the module.
#pragma once

#include <memory>
#include <vector>

#include "penstock/base/trace.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/placement.hpp"
#include "penstock/gas/core/team.hpp"
#include "penstock/gas/exchange/network_rates.hpp"
#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// The parts of a team, from the bottom up.
struct TeamParts {
  std::shared_ptr<Transport> transport;
  std::shared_ptr<Engine> engine;  // of the world, for all teams of it
  std::vector<int> world_ranks;
  Placement placement;
  TransportTraits traits;
  std::shared_ptr<const NetworkRates> network_rates;  // once measured
  std::unique_ptr<CollectiveRegistry> calls;          // the collective calls that are under way
};

/// Records a collective call of the transport in a timeline, which names the rank that came last.
class [[nodiscard]] CollectiveSpan {
 public:
  CollectiveSpan(const char* name, const TeamParts& parts) noexcept
      : span_(name, trace::Category::collective,
              {.id = trace::this_track() == nullptr
                         ? 0
                         : trace::mix({parts.calls->trace_id(), 2, parts.transport->completed()})}) {}

 private:
  trace::Span span_;
};

/// Collective: the team of all ranks that a transport reaches.
Team make_world(std::unique_ptr<Transport> transport);

}  // namespace penstock::gas
