#include "penstock/gas/event.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/engine.hpp"

namespace penstock::gas {

Event::Event(Engine& engine, std::shared_ptr<const Operation> operation)
    : engine_(&engine), operation_(std::move(operation)) {}

bool Event::is_done() {
  if (operation_ != nullptr && operation_->is_done()) {
    std::exchange(operation_, nullptr)->check();
  }
  return operation_ == nullptr;
}

bool Event::test() {
  if (is_done()) {
    return true;
  }
  engine_->progress();
  return is_done();
}

void Event::wait() {
  if (!is_done()) {
    engine_->wait([this] { return is_done(); });
  }
}

void wait_all(std::span<Event> events) {
  for (Event& event : events) {
    event.wait();
  }
}

std::size_t wait_any(std::span<Event> events) {
  PENSTOCK_ASSERT(!events.empty());
  for (Backoff backoff;; backoff.pause()) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].test()) {
        return i;
      }
    }
  }
}

std::vector<std::size_t> test_some(std::span<Event> events) {
  std::vector<std::size_t> done;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].test()) {
      done.push_back(i);
    }
  }
  return done;
}

}  // namespace penstock::gas
