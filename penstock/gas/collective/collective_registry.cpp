#include "penstock/gas/collective/collective_registry.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collective_message.hpp"
#include "penstock/gas/collective/collective_op.hpp"
#include "penstock/gas/core/revocation.hpp"

namespace penstock::gas {
namespace {

/// As many calls as programs commonly have under way at once.
constexpr std::size_t max_spare_calls = 16;

}  // namespace

CollectiveRegistry::CollectiveRegistry(std::shared_ptr<Engine> engine, int rank)
    : engine_(std::move(engine)),
      revocation_(std::make_shared<Revocation>(*engine_)),
      shown_revocation_(revocation_),
      rank_(rank),
      id_(engine_->add_calls(*this)) {}

CollectiveRegistry::~CollectiveRegistry() {
  engine_->under_lock([&] {
    engine_->count_calls(-std::ssize(running_));
    running_.clear();
  });
  engine_->remove_calls(id_);
}

void CollectiveRegistry::check_revoked() const {
  revocation_->check();
}

std::shared_ptr<CollectiveOp> CollectiveRegistry::spare_call() {
  const auto found = std::ranges::find_if(spare_, [](const auto& call) { return call.use_count() == 1; });
  if (found == spare_.end()) {
    return std::make_shared<CollectiveOp>(*this);
  }
  std::shared_ptr<CollectiveOp> call = std::move(*found);
  *found = std::move(spare_.back());
  spare_.pop_back();
  return call;
}

void CollectiveRegistry::begin(const std::shared_ptr<CollectiveOp>& call) {
  call->prepare();
  running_.push_back(call);
  engine_->count_calls(1);
  ++begun_;
  if (!early_.empty()) {
    const auto is_other = [&](const Early& early) { return early.header.cookie != begun_; };
    const auto first = std::stable_partition(early_.begin(), early_.end(), is_other);
    for (auto it = first; it != early_.end(); ++it) {
      call->deliver(CollectiveMessage::of(it->header), it->payload);
      if (it->payload.capacity() > 0) {
        spare_payloads_.push_back(std::move(it->payload));
      }
    }
    early_.erase(first, early_.end());
  }
  call->advance();
  if (call->is_done()) {
    drop_done();
  }
}

void CollectiveRegistry::refuse(CollectiveKind kind, const std::string& why) {
  check_revoked();
  engine_->under_lock([&] {
    send_failure(*this, Phase::failed, ++begun_, kind, why);
    std::erase_if(early_, [&](const Early& early) { return early.header.cookie == begun_; });
  });
  throw Error(why);
}

void CollectiveRegistry::revoke(std::string_view why, std::uint64_t completed) noexcept {
  try {
    engine_->under_lock([&] {
      if (!revocation_->is_set()) {
        take_revocation(why, completed);
        send_failure(*this, Phase::revoked, completed, CollectiveKind::barrier, why);
      }
    });
  } catch (...) {
    // The peers cannot be told: what keeps this rank from it will show in their waits.
  }
  engine_->flush_queues();
}

/// With the progress lock held: ends the calls that are under way.
void CollectiveRegistry::take_revocation(std::string_view why, std::uint64_t completed) {
  revocation_->set(why, completed);
  for (const auto& call : running_) {
    call->deliver({.phase = Phase::failed, .kind = CollectiveKind::barrier}, std::as_bytes(std::span(why)));
    call->advance();
  }
  drop_done();
  early_.clear();
}

void CollectiveRegistry::advance() {
  bool has_advanced = false;
  for (const auto& call : running_) {
    if (!call->is_waiting()) {
      call->advance();
      has_advanced = true;
    }
  }
  if (has_advanced) {
    drop_done();
  }
}

void CollectiveRegistry::drop_done() {
  const std::size_t ran = running_.size();
  std::size_t kept = 0;
  for (std::shared_ptr<CollectiveOp>& call : running_) {
    if (!call->is_done()) {
      std::swap(running_[kept++], call);
    } else if (spare_.size() < max_spare_calls && call->is_small()) {
      spare_.push_back(std::move(call));
    }
  }
  running_.resize(kept);
  engine_->count_calls(static_cast<std::ptrdiff_t>(kept) - static_cast<std::ptrdiff_t>(ran));
}

CollectiveOp* CollectiveRegistry::find(std::uint64_t number) const noexcept {
  const auto found = std::ranges::find(running_, number, [](const auto& call) { return call->number(); });
  return found == running_.end() ? nullptr : found->get();
}

void CollectiveRegistry::deliver(const Header& header, std::span<const std::byte> payload) {
  if (CollectiveMessage::of(header).phase == Phase::revoked) {
    take_revocation({reinterpret_cast<const char*>(payload.data()), payload.size()}, header.cookie);
    return;
  }
  if (CollectiveOp* const call = find(header.cookie); call != nullptr) {
    call->deliver(CollectiveMessage::of(header), payload);
    call->advance();
    if (call->is_done()) {
      drop_done();
    }
    return;
  }
  if (header.cookie <= begun_ || revocation_->is_set()) {
    return;  // of a call that has failed here, or will not begin
  }
  Early early{.header = header, .payload = {}};
  if (!spare_payloads_.empty() && !payload.empty()) {
    early.payload = std::move(spare_payloads_.back());
    spare_payloads_.pop_back();
  }
  early.payload.assign(payload.begin(), payload.end());
  early_.push_back(std::move(early));
}

}  // namespace penstock::gas
