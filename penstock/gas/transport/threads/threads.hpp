// The threads transport: every rank is a thread of this process and all memory is in reach.
#pragma once

#include <functional>
#include <memory>

#include "penstock/gas/transport/transport.hpp"

namespace penstock::gas {

/// The transport of a team of one.
std::unique_ptr<Transport> make_alone_transport();

/// Runs `body` on `ranks` threads, each with its own rank's transport; see gas::run_world.
void run_thread_ranks(int ranks, const std::function<void(std::unique_ptr<Transport>)>& body);

}  // namespace penstock::gas
