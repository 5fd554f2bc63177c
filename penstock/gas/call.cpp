#include "penstock/gas/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/team_calls.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

/// So many steps from the first that is not done may be under way: they bound what is searched and kept.
constexpr std::size_t window = 16;

/// So much is copied before messages are looked at again: some tens of microseconds.
constexpr std::size_t budget_bytes = std::size_t{256} << 10;

/// Networks carry messages of up to this length at once: the receiver keeps what comes before its step has begun. Of
/// longer ones, which would fill its memory, the way there and back that asking takes is a small part of the time.
constexpr std::size_t most_unasked_bytes = std::size_t{256} << 10;

constexpr std::size_t nowhere = ~std::size_t{0};

std::string describe(CallKind kind, int root) {
  const bool has_root = kind == CallKind::broadcast || kind == CallKind::reduce || kind == CallKind::gather;
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

Layout layout_of(const Layout* layout, std::size_t bytes) {
  return layout != nullptr ? *layout : Layout::contiguous(static_cast<std::int64_t>(bytes));
}

std::int64_t signed_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

Call::Call(TeamCalls& team, std::uint64_t number, Schedule schedule)
    : team_(team), number_(number), schedule_(std::move(schedule)), progress_(schedule_.steps.size()) {
  const std::vector<Step>& steps = schedule_.steps;
  by_peer_.reserve(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != Step::Kind::copy) {
      by_peer_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  std::ranges::sort(by_peer_, {}, [&](std::uint32_t i) { return std::tuple(steps[i].is_receive(), steps[i].peer, i); });
  std::uint32_t ordinal = 0;
  for (std::size_t k = 0; k < by_peer_.size(); ++k) {
    const Step& step = steps[by_peer_[k]];
    const bool is_first =
        k == 0 || steps[by_peer_[k - 1]].peer != step.peer || steps[by_peer_[k - 1]].is_receive() != step.is_receive();
    ordinal = is_first ? 0 : ordinal + 1;
    progress_[by_peer_[k]].ordinal = ordinal;
  }
}

std::size_t Call::find(bool is_receive, int peer, std::uint32_t ordinal) const noexcept {
  const auto key = [&](std::uint32_t i) {
    const Step& step = schedule_.steps[i];
    return std::tuple(step.is_receive(), step.peer, progress_[i].ordinal);
  };
  const auto found = std::ranges::lower_bound(by_peer_, std::tuple(is_receive, peer, ordinal), {}, key);
  return found == by_peer_.end() || key(*found) != std::tuple(is_receive, peer, ordinal) ? nowhere : *found;
}

void Call::check() const {
  if (!failure_.empty()) {
    throw Error(failure_);
  }
}

void Call::advance() {
  if (is_done()) {
    return;
  }
  std::size_t budget = budget_bytes;
  for (bool has_moved = true; has_moved && failure_.empty();) {
    const std::size_t end = std::min(first_ + window, schedule_.steps.size());
    for (std::size_t i = first_; i < end; ++i) {
      Progress& progress = progress_[i];
      if (!progress.is_done && (progress.has_begun || may_begin(i))) {
        run(i, budget);
      }
    }
    has_moved = false;
    while (first_ < end && progress_[first_].is_done) {
      ++first_;
      has_moved = first_ < schedule_.steps.size() && end < schedule_.steps.size();
    }
  }
  finish_if_resolved();
}

bool Call::is_local(int peer) const {
  return team_.engine().is_local(team_.seats()[static_cast<std::size_t>(peer)].world_rank);
}

bool Call::waits_for_ready(const Step& step) const {
  return step.bytes > (is_local(step.peer) ? most_inline_bytes : most_unasked_bytes);
}

bool Call::may_begin(std::size_t step) const noexcept {
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

void Call::run(std::size_t step, std::size_t& budget) {
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
  }
  progress_[step].has_begun = true;
}

CollectiveMessage Call::message_of(std::size_t step, Phase phase) const {
  const Step& of = schedule_.steps[step];
  return {.phase = phase,
          .kind = schedule_.kind,
          .root = schedule_.root,
          .calls = team_.seats()[static_cast<std::size_t>(of.peer)].calls,
          .call = number_,
          .source = team_.rank(),
          .ordinal = progress_[step].ordinal,
          .tells = of.tells};
}

void Call::send(std::size_t step, Phase phase, std::span<const std::byte> payload, std::uint64_t offset) {
  CollectiveMessage message = message_of(step, phase);
  message.offset = offset;
  message.payload_bytes = payload.size();
  const int peer = team_.seats()[static_cast<std::size_t>(schedule_.steps[step].peer)].world_rank;
  team_.engine().send_in_turn(peer, message.header(), payload, progress_[step].sent);
}

void Call::run_send(std::size_t step, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Engine& engine = team_.engine();
  const std::span<const std::byte> data(of.from, of.bytes);
  const auto pack = [&](std::byte* to) {
    engine.movers().compile(*of.from_layout, Layout::contiguous(signed_of(of.bytes)))(of.from, to);
  };
  if (of.bytes <= most_inline_bytes) {
    std::array<std::byte, most_inline_bytes> packed;
    if (of.from_layout != nullptr) {
      pack(packed.data());
    }
    send(step, Phase::whole, of.from_layout != nullptr ? std::span<const std::byte>(packed.data(), of.bytes) : data);
    progress.is_done = true;
    return;
  }
  if (waits_for_ready(of) && !progress.may_send) {
    return;
  }
  if (progress.place != nullptr) {
    move(step, progress.place, budget);
    if (progress.moved == of.bytes) {
      send(step, Phase::placed, {});
      progress.is_done = true;
    }
    return;
  }
  if (is_local(of.peer)) {
    send_pieces(step);
    return;
  }
  if (progress.sent == nullptr) {
    progress.sent = std::make_shared<Sent>();
    if (of.from_layout != nullptr) {
      progress.sent->parcel.resize(of.bytes);
      pack(progress.sent->parcel.data());
    }
    send(step, Phase::whole, of.from_layout != nullptr ? std::span<const std::byte>(progress.sent->parcel) : data);
  }
  progress.is_done = progress.sent->is_done();
}

/// Through the queue to a rank of this node whose place is not mapped here.
void Call::send_pieces(std::size_t step) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Engine& engine = team_.engine();
  const std::size_t most =
      most_inline_bytes / schedule_.combination.element_bytes * schedule_.combination.element_bytes;
  const int peer = team_.seats()[static_cast<std::size_t>(of.peer)].world_rank;
  if (of.from_layout != nullptr && !progress.mover) {
    progress.mover = engine.movers().compile(*of.from_layout, Layout::contiguous(signed_of(of.bytes)));
  }
  std::array<std::byte, most_inline_bytes> packed;
  CollectiveMessage message = message_of(step, Phase::piece);
  while (progress.moved < of.bytes) {
    const std::size_t bytes = std::min(most, of.bytes - progress.moved);
    const std::byte* data = of.from + progress.moved;
    if (progress.mover) {
      progress.mover->move_part(of.from, packed.data() - progress.moved, signed_of(progress.moved),
                                signed_of(progress.moved + bytes));
      data = packed.data();
    }
    message.offset = progress.moved;
    message.payload_bytes = bytes;
    if (!engine.try_send_in_turn(peer, message.header(), {data, bytes})) {
      return;
    }
    progress.moved += bytes;
  }
  progress.is_done = true;
}

void Call::run_copy(std::size_t step, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (!progress.has_begun && (of.from_layout != nullptr || of.to_layout != nullptr)) {
    progress.mover =
        team_.engine().movers().compile(layout_of(of.from_layout, of.bytes), layout_of(of.to_layout, of.bytes));
  }
  move(step, of.to, budget);
  progress.is_done = progress.moved == of.bytes;
}

/// Moves as much as the budget allows.
void Call::move(std::size_t step, std::byte* to, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  const std::size_t bytes = std::min(budget, of.bytes - progress.moved);
  if (bytes == 0) {
    return;
  }
  if (progress.mover) {
    progress.mover->move_part(of.from, to, signed_of(progress.moved), signed_of(progress.moved + bytes));
    mover::finish_streaming();
  } else {
    std::memcpy(to + progress.moved, of.from + progress.moved, bytes);
  }
  progress.moved += bytes;
  budget -= bytes;
}

void Call::begin_receive(std::size_t step) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (progress.has_parcel) {
    take(step, 0, progress.parcel);
    progress.is_done = true;
    return;
  }
  if (!waits_for_ready(of)) {
    return;
  }
  Engine& engine = team_.engine();
  const int peer = team_.seats()[static_cast<std::size_t>(of.peer)].world_rank;
  CollectiveMessage message = message_of(step, Phase::ready);
  message.tells = of.bytes;
  std::vector<std::byte> layout;
  if (engine.is_local(peer) && of.kind == Step::Kind::receive) {
    const std::int64_t lowest = of.to_layout != nullptr ? of.to_layout->lower_bound() : 0;
    const std::int64_t highest = of.to_layout != nullptr ? of.to_layout->upper_bound() : signed_of(of.bytes);
    const Engine::Place place = engine.place_of(of.to + lowest, of.to + highest);
    if (of.to_layout != nullptr && place.segment != 0) {
      layout = layout::to_bytes(*of.to_layout);
    }
    // The origin of the layout may lie outside the segment; a layout that is too long to tell is unpacked here.
    if (layout.size() <= most_inline_bytes) {
      message.segment = place.segment;
      message.offset = place.offset - static_cast<std::uint64_t>(lowest);
      message.payload_bytes = layout.size();
    } else {
      layout.clear();
    }
  }
  engine.send_in_turn(peer, message.header(), layout);
}

std::byte* Call::place(const CollectiveMessage& message) {
  const std::size_t step = find(true, message.source, message.ordinal);
  if (!failure_.empty() || step == nowhere || message.payload_bytes != schedule_.steps[step].bytes ||
      !may_begin(step)) {
    return nullptr;
  }
  progress_[step].is_placed = true;
  const Step& of = schedule_.steps[step];
  if (of.kind == Step::Kind::receive && of.to_layout == nullptr) {
    return of.to;
  }
  progress_[step].parcel.resize(of.bytes);
  return progress_[step].parcel.data();
}

void Call::take(std::size_t step, std::size_t offset, std::span<const std::byte> data) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (data.empty()) {
    return;
  }
  std::byte* const to = of.to + offset;
  const Combination& combination = schedule_.combination;
  switch (of.kind) {
    case Step::Kind::combine_as_left:
      combination.combine(data.data(), to, to, data.size() / combination.element_bytes);
      return;
    case Step::Kind::combine_as_right:
      combination.combine(to, data.data(), to, data.size() / combination.element_bytes);
      return;
    default:
      break;
  }
  if (of.to_layout != nullptr) {
    if (!progress.mover) {
      progress.mover = team_.engine().movers().compile(Layout::contiguous(signed_of(of.bytes)), *of.to_layout);
    }
    progress.mover->move_part(data.data() - offset, of.to, signed_of(offset), signed_of(offset + data.size()));
  } else if (data.data() != to) {
    std::memcpy(to, data.data(), data.size());
  }
}

void Call::deliver(const CollectiveMessage& message, std::span<const std::byte> payload) {
  const bool is_ready = message.phase == Phase::ready;
  const std::size_t step = message.phase == Phase::failed ? nowhere : find(!is_ready, message.source, message.ordinal);
  if (step != nowhere) {
    progress_[step].is_placed = false;
  }
  if (!failure_.empty()) {
    return;
  }
  if (message.phase == Phase::failed) {
    failure_.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
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
  is_ready ? take_ready(step, message, payload) : take_data(step, message, payload);
}

bool Call::agrees(const CollectiveMessage& message, std::size_t step) {
  const std::string_view name = name_of(schedule_.kind);
  const int me = team_.rank();
  if (step == nowhere) {
    fail(fmt::format("rank {} and rank {} give different lengths to a collective call ({})", message.source, me, name));
    return false;
  }
  const Step& of = schedule_.steps[step];
  const bool is_exchange = schedule_.kind == CallKind::exchange;
  const bool is_ready = message.phase == Phase::ready;
  const std::size_t expected = is_ready ? of.bytes : of.tells;
  if (message.tells != expected) {
    fail(is_exchange || is_ready
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

void Call::take_ready(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  progress.may_send = true;
  if (message.segment == 0) {
    return;
  }
  Engine& engine = team_.engine();
  std::byte* const base = engine.mapped(team_.seats()[static_cast<std::size_t>(of.peer)].world_rank, message.segment);
  PENSTOCK_ASSERT(base != nullptr);
  progress.place = base + static_cast<std::ptrdiff_t>(message.offset);
  if (of.from_layout != nullptr || !payload.empty()) {
    progress.mover = engine.movers().compile(
        layout_of(of.from_layout, of.bytes),
        payload.empty() ? Layout::contiguous(signed_of(of.bytes)) : layout::layout_from(payload));
  }
}

void Call::take_data(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (!progress.has_begun) {
    // It may be the step's turn already.
    if (!may_begin(step)) {
      progress.parcel.assign(payload.begin(), payload.end());
      progress.has_parcel = true;
      return;
    }
  }
  take(step, message.offset, payload);
  progress.moved += message.phase == Phase::placed ? of.bytes : payload.size();
  progress.is_done = progress.moved == of.bytes;
}

void Call::fail(const std::string& why) {
  failure_ = why;
  send_failure(team_, number_, schedule_.kind, why);
}

/// A call that has failed is done when nothing of the caller's memory is in MPI's hands.
void Call::finish_if_resolved() {
  const auto is_free = [](const Progress& progress) {
    return !progress.is_placed && (progress.sent == nullptr || progress.sent->is_done());
  };
  const bool is_resolved =
      failure_.empty() ? first_ == schedule_.steps.size() : std::ranges::all_of(progress_, is_free);
  if (is_resolved) {
    is_done_.store(true, std::memory_order_release);
  }
}

void send_failure(TeamCalls& team, std::uint64_t number, CallKind kind, const std::string& why) {
  const std::span<const std::byte> text = std::as_bytes(std::span(why));
  for (int peer = 0; peer < team.member().size; ++peer) {
    const TeamCalls::Seat& seat = team.seats()[static_cast<std::size_t>(peer)];
    if (peer != team.rank()) {
      const CollectiveMessage message{.phase = Phase::failed,
                                      .kind = kind,
                                      .calls = seat.calls,
                                      .call = number,
                                      .source = team.rank(),
                                      .payload_bytes = std::min(text.size(), most_inline_bytes)};
      team.engine().send_in_turn(seat.world_rank, message.header(), text.first(message.payload_bytes));
    }
  }
}

}  // namespace penstock::gas
