// Checks of the values of a machine file against one another. Private to the module.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "penstock/machine/machine.hpp"

namespace penstock::machine {

/// Called with a key of the table and what is wrong with it; does not return.
using Refuse = std::function<void(std::string_view key, const std::string& problem)>;

void check(const Node& node, const Refuse& refuse);
void check(const DevicePass& pass, const Refuse& refuse);
void check(const Device& device, const Refuse& refuse);
void check(const Network& network, const Refuse& refuse);
void check(const Transport& transport, const Refuse& refuse);
void check(const Machine& machine, const Refuse& refuse);

/// Nothing to check: the keys of these tables do not depend on one another.
inline void check(const ThreadBandwidth&, const Refuse&) {}
inline void check(const CacheLevel&, const Refuse&) {}
inline void check(const FftRate&, const Refuse&) {}
inline void check(const TileCopy&, const Refuse&) {}
inline void check(const MemoryLevel&, const Refuse&) {}
inline void check(const MessagePiece&, const Refuse&) {}

}  // namespace penstock::machine
