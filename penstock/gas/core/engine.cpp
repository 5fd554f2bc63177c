#include "penstock/gas/core/engine.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"

namespace penstock::gas {
namespace {

/// The queues of a rank together take about this much, however many peers send to it.
constexpr std::size_t wanted_ring_bytes = std::size_t{1} << 20;
constexpr std::size_t max_ring_lines = 1024;

std::size_t ring_lines(std::size_t senders) {
  return std::clamp(wanted_ring_bytes / RingForm::line_bytes / senders, RingForm::fewest_lines, max_ring_lines);
}

}  // namespace

Engine::Engine(std::shared_ptr<Transport> world, bool has_processors)
    : world_(std::move(world)), local_(index(world_->size())) {
  for (int peer = 0; peer < world_->size(); ++peer) {
    if (world_->is_local(peer)) {
      local_ranks_.push_back(peer);
    }
  }
  // A rank's region holds a queue from each local peer, in order of rank.
  const std::size_t lines = ring_lines(local_ranks_.size());
  rings_ = world_->map(local_ranks_.size() * RingForm::bytes(lines));
  const auto position = static_cast<std::size_t>(std::ranges::find(local_ranks_, rank()) - local_ranks_.begin());
  for (std::size_t i = 0; i < local_ranks_.size(); ++i) {
    LocalPeer& peer = *(local_[index(local_ranks_[i])] = std::make_unique<LocalPeer>());
    peer.from = RingReader(rings_->mine.data() + i * RingForm::bytes(lines), lines);
    peer.to = RingWriter(rings_->at[index(local_ranks_[i])] + position * RingForm::bytes(lines), lines);
  }
  node_memory_ = NodeMemory(*world_);
  network_ = world_->make_network();
  patience_ = patience_for(local_ranks_.size(), has_processors, network_ != nullptr && network_->traits().is_one_sided);
  acks_.resize(index(world_->size()));
}

Engine::~Engine() = default;

Engine::Patience Engine::patience_for(std::size_t local_ranks, bool has_processors, bool is_put_to) {
  // Each poll keeps the rank that is waited for from running.
  if (!has_processors) {
    return {};
  }
  // The pause after a poll leaves the line to its writer for a while: without it a signal takes 56 ns, with it 49,
  // where a bare flag takes 45 (Zen 5, 2026-11). So many polls and pauses take about 0.6 us: some 10 us pass before the
  // first yield. Where only the network's messages can bring something, they would only make its news late; what a
  // network puts is seen by looking.
  return {.polls = local_ranks > 1 ? 16 : is_put_to ? 8 : 0, .spins = 16};
}

void Engine::send(int peer, const Header& header, std::span<const std::byte> payload,
                  std::shared_ptr<Completion> sent) {
  {
    const std::scoped_lock lock(mutex_);
    send_locked(peer, header, payload, std::move(sent));
    if (!is_local(peer) || local_[index(peer)]->waiting.empty()) {
      return;
    }
  }
  wait([&] {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    return lock.owns_lock() && local_[index(peer)]->waiting.empty();
  });
}

bool Engine::try_send_locked(int peer, const Header& header, std::span<const std::byte> payload) {
  LocalPeer& to = *local_[index(peer)];
  return to.waiting.empty() && to.to.try_write(header, payload);
}

void Engine::ask(int peer, Header header, std::span<const std::byte> payload, const std::shared_ptr<Request>& request,
                 std::shared_ptr<Completion> sent) {
  {
    const std::scoped_lock lock(mutex_);
    header.cookie = ++last_cookie_;
    requests_.emplace(header.cookie, request);
  }
  send(peer, header, payload, std::move(sent));
}

std::unique_ptr<Region> Engine::allocate(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  return network_->allocate(bytes);
}

std::vector<std::byte> Engine::expose(const Region& region) {
  const std::scoped_lock lock(mutex_);
  return network_->expose(region);
}

void Engine::withdraw(std::span<std::byte> memory, std::vector<std::shared_ptr<RemoteMemory>> reached) {
  const std::scoped_lock lock(mutex_);
  reached.clear();
  if (!memory.empty()) {
    network_->withdraw(memory);
  }
}

void Engine::keep(std::unique_ptr<Region> memory) {
  const std::scoped_lock lock(mutex_);
  kept_.push_back(std::move(memory));
}

std::shared_ptr<RemoteMemory> Engine::reach(int peer, std::span<const std::byte> key) {
  const std::scoped_lock lock(mutex_);
  return network_->reach(peer, key);
}

void Engine::put(RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data,
                 std::shared_ptr<Completion> source, std::shared_ptr<Completion> remote) {
  const std::scoped_lock lock(mutex_);
  memory.put(offset, data, std::move(source), std::move(remote));
}

void Engine::put_then_send(int peer, RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data,
                           const Header& message, std::shared_ptr<Completion> source,
                           std::shared_ptr<Completion> remote) {
  const std::scoped_lock lock(mutex_);
  memory.put(offset, data, std::make_shared<Completion>(), remote);
  followers_.push_back({.put = std::move(remote), .peer = peer, .message = message, .sent = std::move(source)});
}

void Engine::put_then_set(RemoteMemory& memory, std::size_t offset, std::span<const std::byte> data,
                          RemoteMemory& words, const Word& word, std::shared_ptr<Completion> source) {
  const std::scoped_lock lock(mutex_);
  memory.put_then_set(offset, data, words, word, std::move(source));
}

void Engine::get(RemoteMemory& memory, std::size_t offset, std::span<std::byte> data,
                 std::shared_ptr<Completion> done) {
  const std::scoped_lock lock(mutex_);
  memory.get(offset, data, std::move(done));
}

void Engine::send_followers() {
  std::erase_if(followers_, [this](const Follower& follower) {
    if (!follower.put->is_done()) {
      return false;
    }
    send_locked(follower.peer, follower.message, {}, nullptr);
    follower.sent->finish();
    return true;
  });
}

/// Answers the puts that have come since the last time, together: each alone would cost as much as the put.
void Engine::send_acks() {
  constexpr std::size_t most = max_inline_bytes / sizeof(CookieRun);
  for (const int peer : owed_acks_) {
    std::span<const CookieRun> runs(acks_[index(peer)]);
    while (!runs.empty()) {
      const auto others = runs.subspan(1, std::min(most, runs.size() - 1));
      send_locked(peer,
                  {.kind = MessageKind::done,
                   .bytes = others.size_bytes(),
                   .a = runs.front().count,
                   .cookie = runs.front().first},
                  std::as_bytes(others));
      runs = runs.subspan(1 + others.size());
    }
    acks_[index(peer)].clear();
  }
  owed_acks_.clear();
}

/// For a caller that may not come back soon.
void Engine::answer_puts() {
  const std::scoped_lock lock(mutex_);
  send_acks();
}

void Engine::send_locked(int peer, const Header& header, std::span<const std::byte> payload,
                         std::shared_ptr<Completion> sent) {
  if (!is_local(peer)) {
    network_->send(peer, header, payload, std::move(sent));
    return;
  }
  PENSTOCK_ASSERT(payload.size() <= max_inline_bytes);  // longer ones are written where they belong
  LocalPeer& to = *local_[index(peer)];
  if (!to.waiting.empty() || !to.to.try_write(header, payload)) {
    to.waiting.push_back({header, {payload.begin(), payload.end()}});
  }
  if (sent != nullptr) {
    sent->finish();
  }
}

void Engine::flush(LocalPeer& peer) {
  while (!peer.waiting.empty() && peer.to.try_write(peer.waiting.front().header, peer.waiting.front().payload)) {
    peer.waiting.pop_front();
  }
}

void Engine::take_from_queues() {
  is_polling_ = true;
  for (const int source : local_ranks_) {
    LocalPeer& peer = *local_[index(source)];
    const auto take = [&](const Header& header, std::span<const std::byte> payload) {
      deliver(source, header, payload);
    };
    while (peer.from.try_read(take)) {
    }
    if (!peer.waiting.empty()) {
      flush(peer);
    }
  }
  is_polling_ = false;
  ++polls_;
  if (!network_may_have_more_) {
    send_acks();
  }
}

void Engine::take_local() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    take_from_queues();
    advance_calls();
  }
}

void Engine::advance_calls() {
  if (calls_under_way_ == 0) {
    return;
  }
  for (const auto& [id, calls] : calls_) {
    calls->advance();
  }
}

bool Engine::take_from_network() {
  if (network_ == nullptr) {
    return false;
  }
  network_may_have_more_ = network_->progress(*this);
  send_followers();
  if (!network_may_have_more_) {
    send_acks();
  }
  return network_may_have_more_;
}

void Engine::progress() {
  // Whoever comes by seldom takes all that is there; but never without end while peers go on sending.
  for (int rounds = 0; rounds < 64; ++rounds) {
    if (!take_some()) {
      return;
    }
  }
  answer_puts();
}

bool Engine::take_some() {
  world_->check_peers();
  if (has_failed_.load(std::memory_order_acquire)) {
    std::rethrow_exception(failure_);
  }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    return false;
  }
  return take_locked();
}

bool Engine::take_locked() {
  take_from_queues();
  const bool may_have_more = take_from_network();
  advance_calls();
  return may_have_more;
}

template <class Condition>
void Engine::serve_while_failing(const Condition& is_done) noexcept {
  constexpr double patience_s = 2;
  const double deadline_s = seconds() + patience_s;
  for (Backoff backoff; seconds() < deadline_s;) {
    bool may_have_more = false;
    bool has_ended = false;
    try {
      under_lock([&] {
        has_ended = is_done();
        if (!has_ended) {
          may_have_more = take_locked();
          send_acks();  // the caller may not come back soon
        }
      });
    } catch (...) {
      // An exception is on its way to the caller already, commonly of the same cause.
    }
    if (has_ended) {
      return;
    }
    if (!may_have_more) {
      backoff.pause();
    }
  }
}

void Engine::abandon(Operation& operation) noexcept {
  under_lock([&] { operation.abandon(); });
  serve_while_failing([&] { return operation.is_done(); });
}

void Engine::flush_queues() noexcept {
  serve_while_failing([&] {
    return std::ranges::all_of(local_ranks_, [&](int peer) { return local_[index(peer)]->waiting.empty(); });
  });
}

void Engine::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  if (!has_failed_.load(std::memory_order_relaxed)) {  // others may be reading the first
    failure_ = std::move(failure);
    has_failed_.store(true, std::memory_order_release);
  }
}

std::uint32_t Engine::add_segment(SegmentPart part) {
  const std::scoped_lock lock(mutex_);
  segments_.emplace(++last_id_, std::move(part));
  return last_id_;
}

void Engine::remove_segment(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  segments_.erase(id);
  std::erase_if(mapped_, [&](const auto& entry) { return entry.second.own == id; });
}

void Engine::map_segment(std::uint32_t own, int peer, std::uint32_t id, std::byte* data) {
  const std::scoped_lock lock(mutex_);
  mapped_.insert_or_assign(mapped_key(peer, id), Mapped{own, data});
}

std::byte* Engine::mapped(int peer, std::uint32_t id) const {
  const auto found = mapped_.find(mapped_key(peer, id));
  return found == mapped_.end() ? nullptr : found->second.data;
}

Engine::SegmentAddress Engine::address_of(const std::byte* first, const std::byte* last) const {
  for (const auto& [id, part] : segments_) {
    if (std::greater_equal<>()(first, part.data) && std::less_equal<>()(last, part.data + part.bytes)) {
      return {.segment = id, .offset = static_cast<std::uint64_t>(first - part.data)};
    }
  }
  return {};
}

std::uint32_t Engine::add_table(ActiveTable table) {
  const std::scoped_lock lock(mutex_);
  tables_.emplace(++last_id_, std::move(table));
  return last_id_;
}

void Engine::remove_table(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  tables_.erase(id);
}

std::uint32_t Engine::add_calls(CallInbox& calls) {
  const std::scoped_lock lock(mutex_);
  calls_.emplace(++last_id_, &calls);
  return last_id_;
}

void Engine::remove_calls(std::uint32_t id) {
  const std::scoped_lock lock(mutex_);
  calls_.erase(id);
}

}  // namespace penstock::gas
