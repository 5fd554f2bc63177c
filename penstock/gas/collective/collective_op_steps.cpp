// How a collective call carries out a step: sends, copies, receives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "penstock/base/base.hpp"
#include "penstock/gas/collective/collective_op.hpp"
#include "penstock/gas/collective/collective_registry.hpp"
#include "penstock/gas/core/rank_index.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

/// Data that lie in no segment are read by the system from this length on: one copy of its own then takes less time
/// than two through the queue.
constexpr std::size_t min_read_bytes = std::size_t{128} << 10;

Layout layout_of(const Layout* layout, std::size_t bytes) {
  return layout != nullptr ? *layout : Layout::contiguous(static_cast<std::int64_t>(bytes));
}

std::int64_t signed_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

CollectiveMessage CollectiveOp::message_of(std::size_t step, Phase phase) const {
  const Step& of = schedule_.steps[step];
  return {.phase = phase,
          .kind = schedule_.kind,
          .root = schedule_.root,
          .calls = team_.endpoints()[index(of.peer)].calls,
          .call = number_,
          .source = team_.rank(),
          .ordinal = progress_[step].ordinal,
          .tells = is_for_sender(phase) ? of.bytes : of.tells};
}

void CollectiveOp::send(std::size_t step, Phase phase, std::span<const std::byte> payload, std::uint64_t offset) {
  CollectiveMessage message = message_of(step, phase);
  message.offset = offset;
  message.payload_bytes = payload.size();
  const int peer = world_rank_of(schedule_.steps[step].peer);
  team_.engine().send_locked(peer, message.header(), payload);
}

void CollectiveOp::run_send(std::size_t step, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Engine& engine = team_.engine();
  const std::span<const std::byte> data(of.from, of.bytes);
  const auto pack = [&](std::byte* to) {
    engine.movers().compile(*of.from_layout, Layout::contiguous(signed_of(of.bytes)))(of.from, to);
  };
  if (of.bytes <= max_inline_bytes) {
    std::array<std::byte, max_inline_bytes> packed;
    if (of.from_layout != nullptr) {
      pack(packed.data());
    }
    send(step, Phase::whole, of.from_layout != nullptr ? std::span<const std::byte>(packed.data(), of.bytes) : data);
    progress.is_done = true;
    return;
  }
  if (!progress.has_begun && is_local(of.peer)) {
    progress.is_offered = offer(step);
  }
  if (progress.is_offered || (waits_for_ready(of) && !progress.may_send)) {
    return;
  }
  if (progress.transfer().place != nullptr) {
    move(step, of.from, progress.transfer().place, budget);
    if (progress.moved == of.bytes) {
      send(step, Phase::placed, {});
      progress.is_done = true;
    }
    return;
  }
  if (is_local(of.peer)) {
    progress.is_offered = progress.moved == 0 && offer_unmapped(step);
    if (!progress.is_offered) {
      send_pieces(step);
    }
    return;
  }
  send_through_network(step);
}

/// Names a place of this rank to the target of a message, where that can reach it; the layout of the place, if it has
/// one, to go with the message.
std::vector<std::byte> CollectiveOp::name_place(CollectiveMessage& message, const std::byte* data, std::size_t bytes,
                                                const Layout* layout) const {
  const std::int64_t lowest = layout != nullptr ? layout->lower_bound() : 0;
  const std::int64_t highest = layout != nullptr ? layout->upper_bound() : signed_of(bytes);
  const Engine::SegmentAddress place = team_.engine().address_of(data + lowest, data + highest);
  if (place.segment == 0) {
    return {};
  }
  std::vector<std::byte> told = layout != nullptr ? layout::to_bytes(*layout) : std::vector<std::byte>();
  if (told.size() > max_inline_bytes) {
    return {};  // a layout that is too long to tell is followed here
  }
  message.segment = place.segment;
  message.offset = place.offset - static_cast<std::uint64_t>(lowest);  // its origin may lie outside the segment
  message.payload_bytes = told.size();
  return told;
}

/// Where that is; nullptr where this rank has no part in the segment, or has freed it.
std::byte* CollectiveOp::named_place(const CollectiveMessage& message) const {
  std::byte* const base = team_.engine().mapped(world_rank_of(message.source), message.segment);
  return base == nullptr ? nullptr : base + static_cast<std::ptrdiff_t>(message.offset);
}

/// Has a receiver of this node read the data where they lie, if it can. Reading what another processor has written is
/// up to three times as fast as writing where it has read: loads are asked for ahead, stores wait for their lines.
bool CollectiveOp::offer(std::size_t step) {
  const Step& of = schedule_.steps[step];
  CollectiveMessage message = message_of(step, Phase::offered);
  const std::vector<std::byte> layout = name_place(message, of.from, of.bytes, of.from_layout);
  if (message.segment == 0) {
    return false;
  }
  team_.engine().send_locked(world_rank_of(of.peer), message.header(), layout);
  return true;
}

/// The same of data that lie in no segment.
bool CollectiveOp::offer_unmapped(std::size_t step) {
  const Step& of = schedule_.steps[step];
  if (of.bytes < min_read_bytes || of.from_layout != nullptr ||
      !team_.engine().node_memory().is_read_by(world_rank_of(of.peer))) {
    return false;
  }
  NodeMemory::Offer& offered = progress_[step].transfer().offered;
  offered = team_.engine().node_memory().offer(world_rank_of(of.peer), of.from);
  send(step, Phase::offered, {}, offered.name());
  return true;
}

/// Reads as much of what was offered as the budget allows. A sender whose call has failed tells so before its data
/// change or go: a poll of the messages after the last read tells whether the data were good, or why there are none.
void CollectiveOp::pull(std::size_t step, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  const Engine& engine = team_.engine();
  if (transfer.known_at != 0) {
    if (engine.has_polled(transfer.known_at)) {
      progress.is_done = progress.moved == of.bytes;
      if (!progress.is_done) {
        fail(fmt::format("{}: rank {} cannot read the data of rank {} any more", name_of(schedule_.kind), team_.rank(),
                         of.peer));
      }
    }
    return;
  }
  if (transfer.source != nullptr && of.kind == Step::Kind::receive) {
    move(step, transfer.source, of.to, budget);
  } else {
    const std::size_t unit = schedule_.combination.element_bytes;
    const std::size_t bytes = std::min(budget / unit * unit, of.bytes - progress.moved);
    if (transfer.source != nullptr) {
      take(step, progress.moved, {transfer.source + progress.moved, bytes});
    } else if (!take_unmapped(step, bytes)) {
      transfer.known_at = engine.next_poll();
      return;
    }
    progress.moved += bytes;
    budget -= bytes;
  }
  if (progress.moved == of.bytes) {
    send(step, Phase::taken, {});
    transfer.known_at = engine.next_poll();
  }
}

/// The next bytes of a sender whose memory is not mapped here, through the system; false where that refuses.
bool CollectiveOp::take_unmapped(std::size_t step, std::size_t bytes) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  const Engine& engine = team_.engine();
  const auto read = [&](std::span<std::byte> to) {
    return engine.node_memory().read(world_rank_of(of.peer), transfer.offer, progress.moved, to);
  };
  if (of.kind == Step::Kind::receive && of.to_layout == nullptr) {
    return read({of.to + progress.moved, bytes});
  }
  std::vector<std::byte> parcel(bytes);
  if (!read(parcel)) {
    return false;
  }
  take(step, progress.moved, parcel);
  return true;
}

/// Through the queue to a rank of this node whose place is not mapped here.
void CollectiveOp::send_pieces(std::size_t step) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  Engine& engine = team_.engine();
  const std::size_t most = max_inline_bytes / schedule_.combination.element_bytes * schedule_.combination.element_bytes;
  const int peer = world_rank_of(of.peer);
  if (of.from_layout != nullptr && !transfer.mover) {
    transfer.mover = engine.movers().compile(*of.from_layout, Layout::contiguous(signed_of(of.bytes)));
  }
  std::array<std::byte, max_inline_bytes> packed;
  CollectiveMessage message = message_of(step, Phase::piece);
  while (progress.moved < of.bytes) {
    const std::size_t bytes = std::min(most, of.bytes - progress.moved);
    const std::byte* data = of.from + progress.moved;
    if (transfer.mover) {
      transfer.mover->move_part(of.from, packed.data() - progress.moved, signed_of(progress.moved),
                                signed_of(progress.moved + bytes));
      data = packed.data();
    }
    message.offset = progress.moved;
    message.payload_bytes = bytes;
    if (!engine.try_send_locked(peer, message.header(), {data, bytes})) {
      return;
    }
    progress.moved += bytes;
  }
  progress.is_done = true;
}

/// In packets, a few at a time: long messages would have the network ask the receiver, whose answer waits behind what
/// that is sending itself, so that the two directions take turns.
void CollectiveOp::send_through_network(std::size_t step) {
  constexpr std::size_t max_under_way = 8;
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  Engine& engine = team_.engine();
  const std::size_t element_bytes = schedule_.combination.element_bytes;
  const std::size_t most = max_packet_bytes / element_bytes * element_bytes;
  if (of.from_layout != nullptr && !transfer.mover) {
    transfer.mover = engine.movers().compile(*of.from_layout, Layout::contiguous(signed_of(of.bytes)));
  }
  for (;;) {
    std::erase_if(transfer.sent, [](const auto& piece) { return piece->is_done(); });
    if (progress.moved == of.bytes || transfer.sent.size() == max_under_way) {
      break;
    }
    const std::size_t bytes = std::min(most, of.bytes - progress.moved);
    const std::byte* data = of.from + progress.moved;
    transfer.sent.push_back(std::make_shared<Completion>());
    if (transfer.mover) {
      std::vector<std::byte>& packed = transfer.sent.back()->parcel;
      packed.resize(bytes);
      transfer.mover->move_part(of.from, packed.data() - progress.moved, signed_of(progress.moved),
                                signed_of(progress.moved + bytes));
      data = packed.data();
    }
    CollectiveMessage message = message_of(step, waits_for_ready(of) ? Phase::piece : Phase::whole);
    message.offset = progress.moved;
    message.payload_bytes = bytes;
    engine.send_locked(world_rank_of(of.peer), message.header(), {data, bytes}, transfer.sent.back());
    progress.moved += bytes;
  }
  progress.is_done = progress.moved == of.bytes && transfer.sent.empty();
}

void CollectiveOp::run_copy(std::size_t step, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (!progress.has_begun && (of.from_layout != nullptr || of.to_layout != nullptr)) {
    progress.transfer().mover =
        team_.engine().movers().compile(layout_of(of.from_layout, of.bytes), layout_of(of.to_layout, of.bytes));
  }
  move(step, of.from, of.to, budget);
  progress.is_done = progress.moved == of.bytes;
}

/// Moves as much as the budget allows.
void CollectiveOp::move(std::size_t step, const std::byte* from, std::byte* to, std::size_t& budget) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  const std::size_t bytes = std::min(budget, of.bytes - progress.moved);
  if (bytes == 0) {
    return;
  }
  if (progress.has_mover()) {
    progress.kept->mover->move_part(from, to, signed_of(progress.moved), signed_of(progress.moved + bytes));
    mover::finish_streaming();
  } else {
    std::memcpy(to + progress.moved, from + progress.moved, bytes);
  }
  progress.moved += bytes;
  budget -= bytes;
}

void CollectiveOp::begin_receive(std::size_t step) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  if (progress.has_parcel) {
    take(step, 0, progress.transfer().parcel);
    progress.is_done = true;
    return;
  }
  if (!waits_for_ready(of) || progress.is_pulling()) {
    return;
  }
  if (progress.is_refused) {
    send(step, Phase::refused, {});
    return;
  }
  CollectiveMessage message = message_of(step, Phase::ready);
  std::vector<std::byte> layout;
  if (is_local(of.peer) && of.kind == Step::Kind::receive) {
    layout = name_place(message, of.to, of.bytes, of.to_layout);
  }
  team_.engine().send_locked(world_rank_of(of.peer), message.header(), layout);
}

void CollectiveOp::take(std::size_t step, std::size_t offset, std::span<const std::byte> data) {
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
    if (!progress.transfer().mover) {
      progress.transfer().mover =
          team_.engine().movers().compile(Layout::contiguous(signed_of(of.bytes)), *of.to_layout);
    }
    progress.transfer().mover->move_part(data.data() - offset, of.to, signed_of(offset),
                                         signed_of(offset + data.size()));
  } else if (data.data() != to) {
    std::memcpy(to, data.data(), data.size());
  }
}

void CollectiveOp::take_offer(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  if (message.segment == 0) {
    transfer.offer = message.offset;
    return;
  }
  transfer.source = named_place(message);
  if (transfer.source == nullptr) {
    progress.is_refused = true;
    if (progress.has_begun) {
      send(step, Phase::refused, {});
    }
    return;
  }
  if (of.to_layout != nullptr || !payload.empty()) {
    PENSTOCK_ASSERT(of.kind == Step::Kind::receive);
    transfer.mover = team_.engine().movers().compile(
        payload.empty() ? Layout::contiguous(signed_of(of.bytes)) : layout::layout_from(payload),
        layout_of(of.to_layout, of.bytes));
  }
}

void CollectiveOp::take_ready(std::size_t step, const CollectiveMessage& message, std::span<const std::byte> payload) {
  const Step& of = schedule_.steps[step];
  Progress& progress = progress_[step];
  Transfer& transfer = progress.transfer();
  progress.may_send = true;
  if (progress.is_offered || message.segment == 0) {
    return;
  }
  transfer.place = named_place(message);
  if (transfer.place == nullptr) {
    return;
  }
  if (of.from_layout != nullptr || !payload.empty()) {
    transfer.mover = team_.engine().movers().compile(
        layout_of(of.from_layout, of.bytes),
        payload.empty() ? Layout::contiguous(signed_of(of.bytes)) : layout::layout_from(payload));
  }
}

}  // namespace penstock::gas
