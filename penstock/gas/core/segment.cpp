// Segments: memory that peers read and write, and the signals that tell of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/atomic_operation.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/core/segment_state.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

/// The payload of the answer goes to the buffer of the one who asked.
class GetRequest final : public Request {
 public:
  explicit GetRequest(std::span<std::byte> data) : data_(data) {}
  std::byte* place(const Header&) override { return data_.data(); }
  void take(const Header&, std::span<const std::byte> payload) override {
    if (payload.data() != data_.data()) {
      std::memcpy(data_.data(), payload.data(), payload.size());
    }
  }

 private:
  std::span<std::byte> data_;
};

class ValueRequest final : public Request {
 public:
  void take(const Header& header, std::span<const std::byte>) override { value = header.a; }
  std::uint64_t value = 0;
};

}  // namespace

Segment::Segment(const Team& team, std::size_t bytes, std::size_t signals) {
  std::string failure;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2 ||
      signals > std::numeric_limits<std::size_t>::max() / 4 / State::signal_bytes) {
    failure = fmt::format("a segment of {} bytes and {} signals: more than an address space", bytes, signals);
  }
  team.agree(failure);
  team.run_or_revoke([&] { make(team, bytes, signals); });
}

/// Collective: memory of `bytes` bytes here. Where ranks of one host reach one another through the network alone it is
/// the network's, if that has memory of its own: no segment then has another kind, between which networks keep no
/// order.
std::unique_ptr<Region> Segment::State::map(const Team& team, std::size_t bytes) {
  const TransportTraits& traits = team.transport();
  const std::vector<int>& hosts = team.placement().hosts;
  if (traits.network && !traits.maps_memory && Placement::count(hosts) < team.size()) {
    std::unique_ptr<Region> region;
    team.together([&] { region = team.parts().engine->allocate(bytes); });
    if (region != nullptr) {
      region->at.resize(index(team.size()));
      region->at[index(team.rank())] = region->mine.data();
      return region;
    }
  }
  return team.parts().transport->map(bytes);
}

/// Collective, of lengths that can be.
void Segment::make(const Team& team, std::size_t bytes, std::size_t signals) {
  State::PeerSegment mine{.bytes = bytes, .signals = signals, .world_rank = team.world_rank(team.rank())};
  state_ = std::make_unique<State>(team, State::map(team, State::signals_offset(mine) + signals * State::signal_bytes));
  std::byte* const data = state_->region->mine.data();
  const auto change = [first = data + State::signals_offset(mine)](std::uint64_t signal, std::uint64_t value) {
    State::apply(State::counter_at(first, signal), value);
  };
  mine.id = state_->engine.add_segment({.data = data, .bytes = bytes, .change = change});
  state_->id = mine.id;
  mine.address = reinterpret_cast<std::uintptr_t>(data);
  std::vector<std::byte> key = state_->expose(team);
  mine.key_bytes = key.size();
  // Peers that have learnt all numbers may put while this rank is still about it.
  state_->parts = team.all_gather(mine);
  state_->reach_parts(team, std::move(key));
  for (int peer = 0; peer < team.size(); ++peer) {
    const State::PeerSegment& part = state_->parts[index(peer)];
    if (address_at(peer) != nullptr && peer != team.rank()) {
      state_->engine.map_segment(mine.id, part.world_rank, part.id, address_at(peer));
    }
  }
}

std::vector<std::byte> Segment::State::expose(const Team& team) {
  has_far_peers = !team.are_all_local();
  if (!has_far_peers) {
    return {};
  }
  keeps_order = engine.network_traits()->keeps_order;
  std::vector<std::byte> key = engine.expose(*region);
  is_exposed = !key.empty();
  return key;
}

void Segment::State::reach_parts(const Team& team, std::vector<std::byte> key) {
  const std::size_t most = std::ranges::max_element(parts, {}, &PeerSegment::key_bytes)->key_bytes;
  if (most == 0) {
    return;
  }
  remote.resize(parts.size());
  key.resize(most);
  std::vector<std::byte> keys(parts.size() * most);
  team.parts().transport->all_gather(key.data(), most, keys.data());
  for (int peer = 0; peer < team.size(); ++peer) {
    const PeerSegment& part = parts[index(peer)];
    if (!team.is_local(peer)) {
      remote[index(peer)] = engine.reach(part.world_rank, std::span(keys).subspan(index(peer) * most, part.key_bytes));
    }
  }
}

Segment::~Segment() = default;
Segment::Segment(Segment&&) noexcept = default;
Segment& Segment::operator=(Segment&&) noexcept = default;

std::span<std::byte> Segment::local() const noexcept {
  return state_->region->mine.first(state_->parts[index(state_->rank)].bytes);
}

std::size_t Segment::bytes_in_huge_pages() const {
  return penstock::bytes_in_huge_pages(state_->region->mine.data());
}

std::size_t Segment::bytes_of(int peer) const {
  return state_->part_of("the length of a part", peer).bytes;
}

std::byte* Segment::address_at(int peer) const {
  state_->part_of("the address of a part", peer);
  return state_->region->at[index(peer)];
}

void Put::wait_or_abandon() {
  try {
    remote.wait();
  } catch (...) {
    source.abandon();
    remote.abandon();
    throw;
  }
}

bool Segment::State::put_in_place(int peer, std::size_t offset, std::span<const std::byte> data,
                                  const Change& change) const {
  check("a put", data.data(), peer, offset, data.size());
  check_signal(peer, change.signal);
  std::byte* const base = region->at[index(peer)];
  if (base == nullptr) {
    return false;
  }
  if (!data.empty()) {
    std::memcpy(base + offset, data.data(), data.size());
  }
  apply(peer, change);
  return true;
}

void Segment::State::put_remotely(RemoteMemory& memory, int peer, std::size_t offset, std::span<const std::byte> data,
                                  const Change& change, std::shared_ptr<Completion> source,
                                  std::shared_ptr<Completion> seen) {
  if (is_set_by_put(change)) {
    engine.put_then_set(memory, offset, data, memory, word_of(peer, change.signal, change.value), std::move(source));
  } else if (change.signal == no_signal) {
    engine.put(memory, offset, data, std::move(source), std::move(seen));
  } else {
    engine.put_then_send(parts[index(peer)].world_rank, memory, offset, data, put_header(peer, 0, 0, change),
                         std::move(source), std::move(seen));
  }
}

Event Segment::State::put_by_messages(int peer, std::size_t offset, std::span<const std::byte> data,
                                      const Change& change, const std::shared_ptr<Request>& request) {
  // What is a few packets long goes as such, in order: a long message has the network ask first, which costs more than
  // to copy them.
  constexpr std::size_t max_in_packets = 4 * max_packet_bytes;
  const int world_rank = parts[index(peer)].world_rank;
  if (request == nullptr && data.size() <= max_inline_bytes) {  // which are copied
    engine.send(world_rank, put_header(peer, offset, data.size(), change), data);
    return {};
  }
  std::vector<Event> sources;
  while (data.size() > max_packet_bytes && data.size() <= max_in_packets) {
    auto sent = std::make_shared<Completion>();
    engine.send(world_rank, put_header(peer, offset, max_packet_bytes, {}), data.first(max_packet_bytes), sent);
    sources.push_back(event_of(std::move(sent), peer));
    data = data.subspan(max_packet_bytes);
    offset += max_packet_bytes;
  }
  auto sent = std::make_shared<Completion>();
  const Header header = put_header(peer, offset, data.size(), change);
  if (request != nullptr) {
    engine.ask(world_rank, header, data, request, sent);
  } else {
    engine.send(world_rank, header, data, sent);
  }
  sources.push_back(event_of(std::move(sent), peer));
  return sources.size() == 1 ? std::move(sources.front()) : all_of(sources);
}

Put Segment::start_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change) {
  const trace::Span span("put", trace::Category::send, state_->about(peer, data.size(), change.signal));
  if (state_->put_in_place(peer, offset, data, change)) {
    return {};
  }
  if (RemoteMemory* const memory = state_->remote_for_put(peer, data.size(), change); memory != nullptr) {
    auto sent = std::make_shared<Completion>();
    auto remote = std::make_shared<Completion>();
    state_->put_remotely(*memory, peer, offset, data, change, sent, remote);
    return {.source = state_->event_of(std::move(sent), peer), .remote = state_->event_of(std::move(remote), peer)};
  }
  auto request = std::make_shared<Request>();
  Event source = state_->put_by_messages(peer, offset, data, change, request);
  return {.source = std::move(source), .remote = state_->event_of(std::move(request), peer)};
}

Event Segment::send_put_bytes(int peer, std::size_t offset, std::span<const std::byte> data, const Change& change) {
  const trace::Span span(data.empty() ? "signal" : "put", trace::Category::send,
                         state_->about(peer, data.size(), change.signal));
  if (state_->put_in_place(peer, offset, data, change)) {
    return {};
  }
  if (RemoteMemory* const memory = state_->remote_for_put(peer, data.size(), change); memory != nullptr) {
    if (state_->is_set_by_put(change) && data.size() <= max_copied_bytes) {
      state_->put_remotely(*memory, peer, offset, data, change, nullptr, nullptr);
      return {};
    }
    auto sent = std::make_shared<Completion>();
    state_->put_remotely(*memory, peer, offset, data, change, sent, std::make_shared<Completion>());
    return state_->event_of(std::move(sent), peer);
  }
  return state_->put_by_messages(peer, offset, data, change, nullptr);
}

Event Segment::start_get_bytes(int peer, std::size_t offset, std::span<std::byte> data) {
  const trace::Span span("get", trace::Category::move, state_->about(peer, data.size()));
  const State::PeerSegment& part = state_->check("a get", data.data(), peer, offset, data.size());
  if (data.empty()) {
    return {};
  }
  if (const std::byte* base = address_at(peer); base != nullptr) {
    std::memcpy(data.data(), base + offset, data.size());
    return {};
  }
  if (RemoteMemory* const memory = state_->remote_at(peer); memory != nullptr) {
    auto done = std::make_shared<Completion>();
    state_->engine.get(*memory, offset, data, done);
    return state_->event_of(std::move(done), peer);
  }
  auto request = std::make_shared<GetRequest>(data);
  state_->engine.ask(part.world_rank,
                     {.kind = MessageKind::get, .target = part.id, .offset = offset, .bytes = data.size()}, {},
                     request);
  return state_->event_of(std::move(request), peer);
}

std::uint64_t Segment::State::carry_out_at(Pointer<> word, const AtomicOperation& operation) {
  const PeerSegment& part = check("an atomic operation", nullptr, word.rank, word.offset, operation.bytes);
  if (word.offset % operation.bytes != 0) {
    throw Error(fmt::format("an atomic operation on {} bytes at offset {}: the word must be aligned to its size",
                            operation.bytes, word.offset));
  }
  if (std::byte* base = region->at[index(word.rank)]; base != nullptr) {
    return carry_out(operation, base + word.offset);
  }
  Header header = header_of(operation);
  header.target = part.id;
  header.offset = word.offset;
  auto request = std::make_shared<ValueRequest>();
  engine.ask(part.world_rank, header, {}, request);
  event_of(request, word.rank).wait();
  return request->value;
}

std::uint64_t Segment::fetch_add_word(Pointer<> word, std::size_t bytes, std::uint64_t value) {
  return state_->carry_out_at(
      word, {.kind = AtomicKind::fetch_add, .bytes = static_cast<std::uint8_t>(bytes), .operand = value});
}

std::uint64_t Segment::compare_swap_word(Pointer<> word, std::size_t bytes, std::uint64_t expected,
                                         std::uint64_t desired) {
  return state_->carry_out_at(word, {.kind = AtomicKind::compare_swap,
                                     .bytes = static_cast<std::uint8_t>(bytes),
                                     .operand = desired,
                                     .expected = expected});
}

void Segment::notify(int peer, std::size_t signal) {
  static_cast<void>(send_put_bytes(peer, 0, {}, {.signal = signal}));
}

void Segment::set(int peer, std::size_t signal, std::uint64_t value) {
  static_cast<void>(send_put_bytes(peer, 0, {}, {.signal = signal, .value = value}));
}

std::uint64_t Segment::value(std::size_t signal) const {
  return state_->own_counter(signal).load(std::memory_order_acquire);
}

bool Segment::test(std::size_t signal, std::uint64_t at_least) const {
  if (value(signal) >= at_least) {
    return true;
  }
  state_->engine.progress();
  if (value(signal) >= at_least) {
    return true;
  }
  state_->calls.check_revoked();
  return false;
}

void Segment::wait(std::size_t signal, std::uint64_t at_least) const {
  if (value(signal) >= at_least) {
    return;
  }
  const trace::Span span(
      "wait", trace::Category::wait,
      {.after = trace::this_track() == nullptr ? 0 : State::signal_id(state_->parts[index(state_->rank)], signal)});
  state_->calls.wait([&] { return value(signal) >= at_least; });
}

std::size_t Segment::wait_any(std::span<const std::uint64_t> at_least) const {
  if (at_least.empty()) {
    throw Error("a wait for any of no signals would not end");
  }
  const trace::Span span("wait for any", trace::Category::wait);
  std::size_t found = 0;
  state_->calls.wait([&] {
    for (found = 0; found < at_least.size(); ++found) {
      if (value(found) >= at_least[found]) {
        return true;
      }
    }
    return false;
  });
  return found;
}

}  // namespace penstock::gas
