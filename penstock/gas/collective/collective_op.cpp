// How a collective call goes through its schedule: what begins when, and which message is which step's.
#include "penstock/gas/collective/collective_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/rank_index.hpp"

namespace penstock::gas {
namespace {

/// So many steps from the first that is not done may be under way: they bound what is searched and kept.
constexpr std::size_t window = 16;

/// So much is copied before messages are polled again: some tens of microseconds.
constexpr std::size_t budget_bytes = std::size_t{256} << 10;

/// What a call of more steps needed is given back when it is done.
constexpr std::size_t max_kept_steps = 64;

constexpr std::size_t nowhere = ~std::size_t{0};

std::string describe(CollectiveKind kind, int root) {
  const bool has_root =
      kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  return has_root ? fmt::format("{} with root {}", name_of(kind), root) : std::string(name_of(kind));
}

bool overlap(const std::byte* a, std::size_t a_bytes, const std::byte* b, std::size_t b_bytes) {
  return a != nullptr && b != nullptr && std::less<>()(a, b + b_bytes) && std::less<>()(b, a + a_bytes);
}

/// Whether the order of the two matters.
bool conflict(const Step& a, const Step& b) {
  return overlap(a.to, a.bytes, b.to, b.bytes) || overlap(a.to, a.bytes, b.from, b.bytes) ||
         overlap(a.from, a.bytes, b.to, b.bytes);
}

}  // namespace

Schedule& CollectiveOp::renew(std::uint64_t number) {
  number_ = number;
  first_ = 0;
  is_waiting_ = false;
  has_held_back_ = false;
  failure_.clear();
  is_done_.store(false, std::memory_order_relaxed);
  return schedule_;
}

void CollectiveOp::prepare() {
  const std::vector<Step>& steps = schedule_.steps;
  if (progress_.size() < steps.size()) {
    progress_.resize(steps.size());
  }
  bool is_known = shape_.size() == steps.size();
  shape_.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    progress_[i] = {.ordinal = progress_[i].ordinal, .kept = nullptr};
    const std::uint64_t shape = key_of(steps[i].is_receive(), steps[i].peer, steps[i].kind == Step::Kind::copy ? 1 : 0);
    is_known = is_known && shape_[i] == shape;
    shape_[i] = shape;
  }
  if (!is_known) {
    put_in_order();
  }
}

/// Finds which step is which of its peer's.
void CollectiveOp::put_in_order() {
  const std::vector<Step>& steps = schedule_.steps;
  by_peer_.clear();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != Step::Kind::copy) {
      const auto step = static_cast<std::uint32_t>(i);
      by_peer_.push_back({key_of(steps[i].is_receive(), steps[i].peer, step), step});
    }
  }
  std::ranges::sort(by_peer_, {}, &Addressed::key);
  std::uint64_t previous = 0;
  for (std::size_t k = 0; k < by_peer_.size(); ++k) {
    Addressed& each = by_peer_[k];
    const std::uint64_t first = key_of(steps[each.step].is_receive(), steps[each.step].peer, 0);
    each.key = k > 0 && previous >= first ? previous + 1 : first;
    progress_[each.step].ordinal = static_cast<std::uint32_t>(each.key - first);
    previous = each.key;
  }
}

bool CollectiveOp::is_small() const noexcept {
  return progress_.size() <= max_kept_steps && schedule_.scratch.capacity() <= max_inline_bytes &&
         schedule_.layouts.empty();
}

std::size_t CollectiveOp::find(bool is_receive, int peer, std::uint32_t ordinal) const noexcept {
  const std::uint64_t key = key_of(is_receive, peer, ordinal);
  const auto found = std::ranges::lower_bound(by_peer_, key, {}, &Addressed::key);
  return found == by_peer_.end() || found->key != key ? nowhere : found->step;
}

Awaited CollectiveOp::awaited() const {
  return {
      .name = name_of(schedule_.kind).data(), .category = trace::Category::collective, .id = team_.trace_id(number_)};
}

void CollectiveOp::check() const {
  if (!failure_.empty()) {
    team_.engine().check_peers_now();  // a rank that gives up because another has died would seem the cause
    throw Error(failure_);
  }
}

void CollectiveOp::abandon() noexcept {
  if (is_done() || !failure_.empty()) {
    return;
  }
  try {
    fail(fmt::format("{}: rank {} has given it up, as something was thrown there while it waited",
                     name_of(schedule_.kind), team_.rank()));
  } catch (...) {
    // The peers cannot be told: their own waits will fail as this rank's has.
  }
  finish_if_resolved();
}

void CollectiveOp::advance() {
  if (is_done()) {
    return;
  }
  std::size_t budget = budget_bytes;
  pass_done();  // messages complete steps too, and what waits behind the window may begin then
  if (!is_waiting_ || has_held_back_) {
    while (failure_.empty() && advance_once(budget)) {
    }
  }
  finish_if_resolved();
}

/// Goes once through the steps that may be under way; true where another time may do more at once.
bool CollectiveOp::advance_once(std::size_t& budget) {
  const std::size_t end = std::min(first_ + window, schedule_.steps.size());
  bool has_finished = false;
  is_waiting_ = true;
  has_held_back_ = end < schedule_.steps.size();
  // Receives first: what tells a sender that it may begin must not wait behind what this rank sends itself.
  for (const bool is_receive : {true, false}) {
    for (std::size_t i = first_; i < end; ++i) {
      const Progress& progress = progress_[i];
      if (schedule_.steps[i].is_receive() != is_receive || progress.is_done) {
        continue;
      }
      if (!progress.has_begun && !schedule_.is_independent && !may_begin(i)) {
        has_held_back_ = true;
        continue;
      }
      run(i, budget);
      has_finished = has_finished || progress.is_done;
      is_waiting_ = is_waiting_ && (progress.is_done || !needs_turn(i));
    }
  }
  pass_done();
  return has_finished && has_held_back_;
}

void CollectiveOp::pass_done() noexcept {
  while (first_ < schedule_.steps.size() && progress_[first_].is_done) {
    ++first_;
  }
}

/// Whether a step that is under way goes on without a message.
bool CollectiveOp::needs_turn(std::size_t step) const {
  const Step& of = schedule_.steps[step];
  const Progress& progress = progress_[step];
  if (of.is_receive()) {
    return progress.is_pulling();
  }
  return of.kind == Step::Kind::copy || !(progress.is_offered || (waits_for_ready(of) && !progress.may_send));
}

int CollectiveOp::world_rank_of(int peer) const {
  return team_.endpoints()[index(peer)].world_rank;
}

bool CollectiveOp::is_local(int peer) const {
  return team_.engine().is_local(world_rank_of(peer));
}

bool CollectiveOp::waits_for_ready(const Step& step) const {
  // What comes before its step has begun is kept: longer data would fill the receiver's memory, and take so long that
  // asking first is a small part of it.
  return step.bytes > (is_local(step.peer) ? max_inline_bytes : max_packet_bytes);
}

bool CollectiveOp::may_begin(std::size_t step) const noexcept {
  if (step >= first_ + window) {
    return false;
  }
  if (schedule_.is_independent) {
    return true;
  }
  for (std::size_t i = first_; i < step; ++i) {
    if (!progress_[i].is_done && conflict(schedule_.steps[i], schedule_.steps[step])) {
      return false;
    }
  }
  return true;
}

void CollectiveOp::run(std::size_t step, std::size_t& budget) {
  switch (schedule_.steps[step].kind) {
    case Step::Kind::send:
      run_send(step, budget);
      break;
    case Step::Kind::copy:
      run_copy(step, budget);
      break;
    default:
      if (!progress_[step].has_begun) {
        begin_receive(step);
      }
      if (progress_[step].is_pulling()) {
        pull(step, budget);
      }
  }
  progress_[step].has_begun = true;
}

void CollectiveOp::deliver(const CollectiveMessage& message, std::span<const std::byte> payload) {
  const std::size_t step =
      message.phase == Phase::failed ? nowhere : find(!is_for_sender(message.phase), message.source, message.ordinal);
  if (!failure_.empty()) {
    return;
  }
  if (message.phase == Phase::failed) {
    failure_.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    tell_readers();
    return;
  }
  if (message.kind != schedule_.kind || message.root != schedule_.root) {
    fail(fmt::format("the ranks of a team make different collective calls at a time: rank {} {}, rank {} {}",
                     message.source, describe(message.kind, message.root), team_.rank(),
                     describe(schedule_.kind, schedule_.root)));
    return;
  }
  if (!agrees(message, step)) {
    return;
  }
  is_waiting_ = is_waiting_ && (is_data(message.phase) || message.phase == Phase::taken);
  switch (message.phase) {
    case Phase::offered:
      take_offer(step, message, payload);
      break;
    case Phase::taken:
      progress_[step].kept = nullptr;
      progress_[step].is_done = true;
      break;
    case Phase::refused:
      progress_[step].is_offered = false;
      progress_[step].may_send = true;
      break;
    case Phase::ready:
      take_ready(step, message, payload);
      break;
    default:
      take_data(step, message, payload);
  }
}

bool CollectiveOp::agrees(const CollectiveMessage& message, std::size_t step) {
  const std::string_view name = name_of(schedule_.kind);
  const int me = team_.rank();
  if (step == nowhere) {
    fail(fmt::format("rank {} and rank {} give different lengths to a collective call ({})", message.source, me, name));
    return false;
  }
  const Step& of = schedule_.steps[step];
  const bool is_exchange = schedule_.kind == CollectiveKind::exchange;
  const bool is_sender = is_for_sender(message.phase);
  const std::size_t expected = is_sender ? of.bytes : of.tells;
  if (message.tells != expected) {
    fail(is_exchange || is_sender
             ? fmt::format("{}: rank {} sends {} bytes to rank {}, which expects {}", name, me, expected,
                           message.source, message.tells)
             : fmt::format("{}: rank {} gives {} bytes and rank {} gives {}; give all ranks the same", name,
                           message.source, message.tells, me, expected));
    return false;
  }
  if (message.phase == Phase::whole && message.payload_bytes != of.bytes) {
    fail(fmt::format("{}: rank {} sends {} bytes to rank {}, which expects {}", name, message.source,
                     message.payload_bytes, me, of.bytes));
    return false;
  }
  return true;
}

void CollectiveOp::take_data(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (!progress.has_begun) {
    // It may be the step's turn already.
    if (!may_begin(step)) {
      progress.transfer().parcel.assign(payload.begin(), payload.end());
      progress.has_parcel = true;
      return;
    }
  }
  take(step, message.offset, payload);
  progress.moved += message.phase == Phase::placed ? of.bytes : payload.size();
  progress.is_done = progress.moved == of.bytes;
}

void CollectiveOp::fail(const std::string& why) {
  failure_ = why;
  send_failure(team_, Phase::failed, number_, schedule_.kind, why);
}

/// Of a call that has failed by another rank: whoever reads this rank's memory must know before that changes, and may
/// hear of the failure later from the rank that caused it.
void CollectiveOp::tell_readers() {
  for (std::size_t i = first_; i < schedule_.steps.size(); ++i) {
    if (progress_[i].is_offered && !progress_[i].is_done) {
      send_failure_to(team_, schedule_.steps[i].peer, Phase::failed, number_, schedule_.kind, failure_);
    }
  }
}

void CollectiveOp::finish_if_resolved() {
  if (failure_.empty() ? first_ == schedule_.steps.size() : has_left_memory()) {
    is_done_.store(true, std::memory_order_release);
  }
}

/// Of a call that has failed: whether nobody reads the caller's memory any more, or takes what is read there from now
/// on for the caller's data.
bool CollectiveOp::has_left_memory() {
  bool has_left = true;
  for (std::size_t i = 0; i < schedule_.steps.size(); ++i) {
    Progress& progress = progress_[i];
    if (progress.is_offered && !progress.is_done &&
        !team_.engine().has_flushed(world_rank_of(schedule_.steps[i].peer))) {
      has_left = false;  // its reader does not know yet
    } else if (progress.kept != nullptr) {
      progress.kept->offered = {};
      has_left =
          has_left && std::ranges::all_of(progress.kept->sent, [](const auto& piece) { return piece->is_done(); });
    }
  }
  return has_left;
}

void send_failure_to(CollectiveRegistry& team, int peer, Phase phase, std::uint64_t number, CollectiveKind kind,
                     std::string_view why) {
  const std::span<const std::byte> text = std::as_bytes(std::span(why)).first(std::min(why.size(), max_inline_bytes));
  const CollectiveRegistry::Endpoint& endpoint = team.endpoints()[index(peer)];
  const CollectiveMessage message{.phase = phase,
                                  .kind = kind,
                                  .calls = endpoint.calls,
                                  .call = number,
                                  .source = team.rank(),
                                  .payload_bytes = text.size()};
  team.engine().send_locked(endpoint.world_rank, message.header(), text);
}

void send_failure(CollectiveRegistry& team, Phase phase, std::uint64_t number, CollectiveKind kind,
                  std::string_view why) {
  for (int peer = 0; peer < team.member().size; ++peer) {
    if (peer != team.rank()) {
      send_failure_to(team, peer, phase, number, kind, why);
    }
  }
}

}  // namespace penstock::gas
