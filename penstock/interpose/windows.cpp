#include "penstock/interpose/windows.hpp"

#include <utility>

namespace penstock::interpose {

void Windows::add(Operation operation) {
  const std::lock_guard lock(mutex_);
  operations_.push_back(std::move(operation));
  held_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<Operation> Windows::take(MPI_Win window, int target) noexcept {
  std::vector<Operation> taken;
  if (held_.load(std::memory_order_relaxed) == 0) {
    return taken;
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(operations_, [&](Operation& operation) {
    if (operation.window != window || (target != every_target && operation.target != target)) {
      return false;
    }
    taken.push_back(std::move(operation));
    held_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
  return taken;
}

void Windows::complete(std::vector<Operation>& operations) noexcept {
  for (Operation& operation : operations) {
    if (operation.user != nullptr) {
      operation.type->unpack(operation.count, operation.packed.data(), operation.user,
                             operation.type->bytes() * operation.count);
    }
  }
}

}  // namespace penstock::interpose
