// Which engine serves, found out at run time: containers and hardened kernels forbid io_uring.
#include "penstock/percolate/engines.hpp"

#include <algorithm>

#include "penstock/base/config.hpp"
#include "penstock/base/error.hpp"

namespace penstock::percolate {

#if !PENSTOCK_HAS_URING
std::unique_ptr<Engine> make_uring_engine(int) {
  return nullptr;
}
#endif

bool has_uring() {
  return make_uring_engine(1) != nullptr;
}

std::unique_ptr<Engine> make_engine(EngineChoice choice, int depth) {
  if (depth < 1) {
    throw Error("an engine with no request at a time moves nothing: give a depth of 1 or more");
  }
  if (choice != EngineChoice::threads) {
    if (auto engine = make_uring_engine(depth)) {
      return engine;
    }
    if (choice == EngineChoice::uring) {
      throw Error(PENSTOCK_HAS_URING ? "this kernel does not let this process use io_uring: use threads"
                                     : "this build has no io_uring (liburing was not found): use threads");
    }
  }
  // More blocking threads than this only wait for one another at the disk.
  constexpr int max_threads = 16;
  return make_thread_engine(std::min(depth, max_threads));
}

}  // namespace penstock::percolate
