// Puts and gets between layouts: compiled copies where the peer is mapped, puts and gets of the network where it writes
// and reads the peer's memory in long pieces, packed messages elsewhere.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/segment_state.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

bool is_one_run(const Layout& remote, const Layout& local) {
  return remote.is_contiguous() && local.is_contiguous();
}

/// What a layout of one run names around `origin`.
template <class Byte>
std::span<Byte> run_at(Byte* origin, const Layout& run) {
  return {origin + run.lower_bound(), static_cast<std::size_t>(run.bytes())};
}

/// What lies `bytes` bytes behind an offset, or before it.
std::size_t moved(std::size_t offset, std::int64_t bytes) {
  return static_cast<std::size_t>(static_cast<std::int64_t>(offset) + bytes);
}

std::size_t run_offset(Pointer<> origin, const Layout& run) {
  return moved(origin.offset, run.lower_bound());
}

/// The copy from one layout to another as pieces that are contiguous on both sides: a single one, or such as are
/// `min_bytes` long in the mean; else none.
std::vector<Run> long_runs(const Layout& from, const Layout& to, std::int64_t min_bytes) {
  const std::int64_t max_pieces = std::max<std::int64_t>(from.bytes() / min_bytes, 1);
  std::vector<Run> runs;
  layout::for_each_piece(from, to, from.bytes(),
                         [&](std::int64_t source, std::int64_t destination, std::int64_t bytes) {
                           if (!runs.empty() && runs.back().from + runs.back().bytes == source &&
                               runs.back().to + runs.back().bytes == destination) {
                             runs.back().bytes += bytes;
                           } else {
                             runs.push_back({source, destination, bytes});
                           }
                           return static_cast<std::int64_t>(runs.size()) <= max_pieces;
                         });
  if (static_cast<std::int64_t>(runs.size()) > max_pieces) {
    runs.clear();
  }
  return runs;
}

/// The answer is packed, and unpacked when it is here.
class GetLayoutRequest final : public Request {
 public:
  GetLayoutRequest(mover::Mover unpack, std::byte* data)
      : unpack_(std::move(unpack)), data_(data), packed_(static_cast<std::size_t>(unpack_.bytes())) {}
  std::byte* place(const Header&) override { return packed_.data(); }
  void take(const Header&, std::span<const std::byte> payload) override { unpack_(payload.data(), data_); }

 private:
  mover::Mover unpack_;
  std::byte* data_;
  std::vector<std::byte> packed_;
};

}  // namespace

Event Segment::State::put_pieces(RemoteMemory& memory, int peer, std::size_t offset, const std::byte* data,
                                 std::span<const Run> runs, std::size_t signal,
                                 const std::shared_ptr<Completion>& source) {
  const auto bytes_of = [data](const Run& run) {
    return std::span(data + run.from, static_cast<std::size_t>(run.bytes));
  };
  const Run& last = runs.back();
  for (const Run& run : runs.first(runs.size() - 1)) {
    engine.put(memory, moved(offset, run.to), bytes_of(run), source, nullptr);
  }
  auto seen = std::make_shared<Completion>();
  put_remotely(memory, peer, moved(offset, last.to), bytes_of(last), {.signal = signal}, source, seen);
  return event_of(std::move(seen), peer);
}

Put Segment::start_put_layout(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local,
                              std::size_t signal) {
  const trace::Span span("put", trace::Category::send,
                         state_->about(to.rank, static_cast<std::size_t>(local.bytes()), signal));
  const State::PeerSegment& part = state_->check("a put", data, to.rank, to.offset, remote, local.bytes());
  state_->check_signal(to.rank, signal);
  if (is_one_run(remote, local)) {
    return start_put_bytes(to.rank, run_offset(to, remote), run_at(data, local), {.signal = signal});
  }
  Engine& engine = state_->engine;
  if (std::byte* base = address_at(to.rank); base != nullptr) {
    engine.movers().compile(local, remote)(data, base + to.offset);
    state_->apply(to.rank, {.signal = signal});
    return {};
  }
  const Layout packed = Layout::contiguous(local.bytes());
  const auto bytes = static_cast<std::size_t>(local.bytes());
  const auto pack_to = [&](std::byte* to_bytes) { engine.movers().compile(local, packed)(data, to_bytes); };
  if (RemoteMemory* const memory = state_->remote_for_put(to.rank, bytes, {.signal = signal}); memory != nullptr) {
    const std::int64_t min_bytes = engine.network_traits()->min_put_bytes;
    if (const std::vector<Run> runs = long_runs(local, remote, min_bytes); !runs.empty()) {
      auto source = std::make_shared<Completion>(runs.size());
      Event seen = state_->put_pieces(*memory, to.rank, to.offset, data, runs, signal, source);
      return {.source = state_->event_of(std::move(source), to.rank), .remote = std::move(seen)};
    }
    if (const std::vector<Run> runs = long_runs(packed, remote, min_bytes); !runs.empty()) {
      const auto source = std::make_shared<Completion>(runs.size());
      source->parcel.resize(bytes);
      pack_to(source->parcel.data());
      return {.source = {},
              .remote = state_->put_pieces(*memory, to.rank, to.offset, source->parcel.data(), runs, signal, source)};
    }
  }
  auto sent = std::make_shared<Completion>();
  std::vector<std::byte>& parcel = sent->parcel;
  parcel = layout::to_bytes(remote);
  const std::size_t layout_bytes = parcel.size();
  parcel.resize(layout_bytes + bytes);
  pack_to(parcel.data() + layout_bytes);
  auto request = std::make_shared<Request>();
  engine.ask(part.world_rank,
             {.kind = MessageKind::put_layout,
              .target = part.id,
              .offset = to.offset,
              .bytes = parcel.size(),
              .signal = signal,
              .a = layout_bytes},
             parcel, request, sent);
  return {.source = {}, .remote = state_->event_of(std::move(request), to.rank)};
}

Put Segment::start_put(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local) {
  return start_put_layout(to, remote, data, local, no_signal);
}

Put Segment::start_put_signal(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local,
                              std::size_t signal) {
  return start_put_layout(to, remote, data, local, signal);
}

Event Segment::start_get(Pointer<> from, const Layout& remote, std::byte* data, const Layout& local) {
  const trace::Span span("get", trace::Category::move,
                         state_->about(from.rank, static_cast<std::size_t>(local.bytes())));
  const State::PeerSegment& part = state_->check("a get", data, from.rank, from.offset, remote, local.bytes());
  if (is_one_run(remote, local)) {
    return start_get_bytes(from.rank, run_offset(from, remote), run_at(data, local));
  }
  Engine& engine = state_->engine;
  if (const std::byte* base = address_at(from.rank); base != nullptr) {
    engine.movers().compile(remote, local)(base + from.offset, data);
    return {};
  }
  if (RemoteMemory* const memory = state_->remote_at(from.rank); memory != nullptr) {
    if (const auto runs = long_runs(remote, local, engine.network_traits()->min_put_bytes); !runs.empty()) {
      auto done = std::make_shared<Completion>(runs.size());
      for (const Run& run : runs) {
        engine.get(*memory, moved(from.offset, run.from), {data + run.to, static_cast<std::size_t>(run.bytes)}, done);
      }
      return state_->event_of(std::move(done), from.rank);
    }
  }
  auto request =
      std::make_shared<GetLayoutRequest>(engine.movers().compile(Layout::contiguous(local.bytes()), local), data);
  auto sent = std::make_shared<Completion>();
  sent->parcel = layout::to_bytes(remote);
  engine.ask(part.world_rank,
             {.kind = MessageKind::get_layout, .target = part.id, .offset = from.offset, .bytes = sent->parcel.size()},
             sent->parcel, request, sent);
  return state_->event_of(std::move(request), from.rank);
}

}  // namespace penstock::gas
