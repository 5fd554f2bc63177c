// The constructors of engines, among which `make_engine` chooses. Private to the module.
#pragma once

#include <memory>

#include "penstock/percolate/transfer.hpp"

namespace penstock::percolate {

/// Throws std::system_error where the system refuses a thread.
std::unique_ptr<Engine> make_thread_engine(int threads);

/// None where this kernel does not let this process use io_uring.
std::unique_ptr<Engine> make_uring_engine(int depth);

}  // namespace penstock::percolate
