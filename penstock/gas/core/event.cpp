#include "penstock/gas/core/event.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/revocation.hpp"

namespace penstock::gas {

namespace {

class AllOf final : public Operation {
 public:
  AllOf(std::vector<std::shared_ptr<Operation>> operations, std::vector<int> peers,
        std::vector<std::shared_ptr<const Revocation>> revocations)
      : operations_(std::move(operations)), peers_(std::move(peers)), revocations_(std::move(revocations)) {}
  bool is_done() const noexcept override {
    return std::ranges::all_of(operations_, [](const auto& operation) { return operation->is_done(); });
  }
  void check() const override {
    for (const auto& operation : operations_) {
      operation->check();
    }
  }
  void check_revoked() const override {
    for (const auto& revocation : revocations_) {
      revocation->check();
    }
    for (const auto& operation : operations_) {
      operation->check_revoked();
    }
  }
  void abandon() noexcept override {
    for (const auto& operation : operations_) {
      operation->abandon();
    }
  }
  Awaited awaited() const override {
    const auto first = std::ranges::find_if(operations_, [](const auto& operation) { return !operation->is_done(); });
    Awaited awaited;
    if (first != operations_.end()) {
      awaited = (*first)->awaited();
      awaited.peer = std::max(awaited.peer, peers_[static_cast<std::size_t>(first - operations_.begin())]);
    }
    return awaited;
  }

 private:
  std::vector<std::shared_ptr<Operation>> operations_;
  std::vector<int> peers_;                                      // of each
  std::vector<std::shared_ptr<const Revocation>> revocations_;  // each once
};

}  // namespace

Event::Event(Engine& engine, std::shared_ptr<Operation> operation, std::shared_ptr<const Revocation> revocation,
             int peer)
    : engine_(&engine), operation_(std::move(operation)), revocation_(std::move(revocation)), peer_(peer) {}

bool Event::is_done() {
  if (operation_ == nullptr) {
    return true;
  }
  if (operation_->is_done()) {
    std::exchange(operation_, nullptr)->check();
    return true;
  }
  if (revocation_ != nullptr) {
    revocation_->check();
  }
  operation_->check_revoked();
  return false;
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
    const Awaited awaited = trace::this_track() != nullptr ? operation_->awaited() : Awaited();
    const trace::Span span(awaited.name, awaited.category, {.peer = std::max(peer_, awaited.peer), .id = awaited.id});
    engine_->wait([this] { return is_done(); });
  }
}

void Event::abandon() noexcept {
  if (operation_ != nullptr) {
    engine_->abandon(*operation_);
    operation_ = nullptr;
  }
}

void Event::wait_or_abandon() {
  try {
    wait();
  } catch (...) {
    abandon();
    throw;
  }
}

Event all_of(std::span<const Event> events) {
  Engine* engine = nullptr;
  std::vector<std::shared_ptr<Operation>> operations;
  std::vector<int> peers;
  std::vector<std::shared_ptr<const Revocation>> revocations;
  for (const Event& event : events) {
    if (event.operation_ != nullptr) {
      PENSTOCK_ASSERT(engine == nullptr || engine == event.engine_);
      engine = event.engine_;
      operations.push_back(event.operation_);
      peers.push_back(event.peer_);
      if (event.revocation_ != nullptr && std::ranges::find(revocations, event.revocation_) == revocations.end()) {
        revocations.push_back(event.revocation_);
      }
    }
  }
  return operations.empty()
             ? Event()
             : Event(*engine, std::make_shared<AllOf>(std::move(operations), std::move(peers), std::move(revocations)));
}

void wait_all(std::span<Event> events) {
  for (Event& event : events) {
    event.wait();
  }
}

std::size_t wait_any(std::span<Event> events) {
  if (events.empty()) {
    throw Error("a wait for any of no events would not end");
  }
  const trace::Span span("wait for any", trace::Category::wait);
  for (Backoff backoff;; backoff.pause()) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].test()) {
        return i;
      }
    }
  }
}

}  // namespace penstock::gas
