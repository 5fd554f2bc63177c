// Test bodies that run on every kind of world: ranks that are threads, or the ranks that mpiexec started.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// Runs `body` on a world of each of these many thread ranks; or, where the program was started under mpiexec with
/// --world=TRANSPORT, once on the world of its ranks, whatever their number, which tests have one after the other.
void on_worlds(std::initializer_list<int> ranks, const std::function<void(Team&)>& body);

/// Collective: what the ranks of some node take together where each takes `bytes` bytes: the most of all nodes.
std::uint64_t max_on_a_node(const Team& team, std::uint64_t bytes);

}  // namespace penstock::gas
