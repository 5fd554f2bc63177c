// Test bodies that run on every kind of world: ranks that are threads, or the ranks that mpiexec started.
#pragma once

#include <functional>
#include <initializer_list>

#include "penstock/gas/gas.hpp"

namespace penstock::gas {

/// Runs `body` on a world of each of these many thread ranks; or, where the program was started under mpiexec with
/// --world=TRANSPORT, once on the world of its ranks, whatever their number.
void on_worlds(std::initializer_list<int> ranks, const std::function<void(Team&)>& body);

}  // namespace penstock::gas
