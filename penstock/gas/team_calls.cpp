#include "penstock/gas/team_calls.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/call.hpp"
#include "penstock/gas/collective_message.hpp"

namespace penstock::gas {

TeamCalls::TeamCalls(std::shared_ptr<Engine> engine, int rank)
    : engine_(std::move(engine)), rank_(rank), id_(engine_->add_calls(*this)) {}

TeamCalls::~TeamCalls() {
  engine_->in_turn([&] {
    engine_->count_calls(-std::ssize(running_));
    running_.clear();
  });
  engine_->remove_calls(id_);
}

Event TeamCalls::start(Schedule schedule) {
  std::shared_ptr<Call> call;
  engine_->in_turn([&] {
    call = std::make_shared<Call>(*this, ++begun_, std::move(schedule));
    running_.push_back(call);
    engine_->count_calls(1);
    const auto is_other = [&](const Early& early) { return early.header.cookie != begun_; };
    const auto first = std::stable_partition(early_.begin(), early_.end(), is_other);
    for (auto it = first; it != early_.end(); ++it) {
      call->deliver(CollectiveMessage::of(it->header), it->payload);
      if (it->payload.capacity() > 0) {
        spare_.push_back(std::move(it->payload));
      }
    }
    early_.erase(first, early_.end());
    call->advance();
    drop_done();
  });
  return {*engine_, std::move(call)};
}

void TeamCalls::refuse(CallKind kind, const std::string& why) {
  engine_->in_turn([&] {
    send_failure(*this, ++begun_, kind, why);
    std::erase_if(early_, [&](const Early& early) { return early.header.cookie == begun_; });
  });
  throw Error(why);
}

void TeamCalls::advance() {
  if (running_.empty()) {
    return;
  }
  for (const auto& call : running_) {
    call->advance();
  }
  drop_done();
}

void TeamCalls::drop_done() {
  const std::size_t dropped = std::erase_if(running_, [](const auto& call) { return call->is_done(); });
  engine_->count_calls(-static_cast<std::ptrdiff_t>(dropped));
}

Call* TeamCalls::find(std::uint64_t number) const noexcept {
  const auto found = std::ranges::find(running_, number, [](const auto& call) { return call->number(); });
  return found == running_.end() ? nullptr : found->get();
}

void TeamCalls::deliver(const Header& header, std::span<const std::byte> payload) {
  if (Call* const call = find(header.cookie); call != nullptr) {
    call->deliver(CollectiveMessage::of(header), payload);
    call->advance();
    drop_done();
    return;
  }
  if (header.cookie <= begun_) {
    return;  // of a call that has failed here
  }
  Early early{.header = header, .payload = {}};
  if (!spare_.empty() && !payload.empty()) {
    early.payload = std::move(spare_.back());
    spare_.pop_back();
  }
  early.payload.assign(payload.begin(), payload.end());
  early_.push_back(std::move(early));
}

}  // namespace penstock::gas
