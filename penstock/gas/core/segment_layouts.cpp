// Puts and gets between layouts: compiled copies where the peer is mapped, packed messages elsewhere.
#include <utility>

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

std::size_t run_offset(Pointer<> origin, const Layout& run) {
  return origin.offset + static_cast<std::size_t>(run.lower_bound());
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

Put Segment::start_put_layout(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local,
                              std::size_t signal) {
  const State::Part& part = state_->check("a put", data, to.rank, to.offset, remote, local.bytes());
  state_->check_signal(to.rank, signal);
  if (is_one_run(remote, local)) {
    return start_put_bytes(to.rank, run_offset(to, remote), run_at(data, local), signal);
  }
  Engine& engine = state_->engine;
  if (std::byte* base = address_at(to.rank); base != nullptr) {
    engine.movers().compile(local, remote)(data, base + to.offset);
    state_->raise(to.rank, signal);
    return {};
  }
  auto sent = std::make_shared<Sent>();
  std::vector<std::byte>& parcel = sent->parcel;
  parcel = layout::to_bytes(remote);
  const std::size_t layout_bytes = parcel.size();
  parcel.resize(layout_bytes + static_cast<std::size_t>(local.bytes()));
  engine.movers().compile(local, Layout::contiguous(local.bytes()))(data, parcel.data() + layout_bytes);
  auto request = std::make_shared<Request>();
  engine.ask(part.world_rank,
             {.kind = MessageKind::put_layout,
              .target = part.id,
              .offset = to.offset,
              .bytes = parcel.size(),
              .signal = signal,
              .a = layout_bytes},
             parcel, request, sent);
  return {.source = {}, .remote = state_->event_of(std::move(request))};
}

Put Segment::start_put(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local) {
  return start_put_layout(to, remote, data, local, no_signal);
}

Put Segment::start_put_signal(Pointer<> to, const Layout& remote, const std::byte* data, const Layout& local,
                              std::size_t signal) {
  return start_put_layout(to, remote, data, local, signal);
}

Event Segment::start_get(Pointer<> from, const Layout& remote, std::byte* data, const Layout& local) {
  const State::Part& part = state_->check("a get", data, from.rank, from.offset, remote, local.bytes());
  if (is_one_run(remote, local)) {
    return start_get_bytes(from.rank, run_offset(from, remote), run_at(data, local));
  }
  Engine& engine = state_->engine;
  if (const std::byte* base = address_at(from.rank); base != nullptr) {
    engine.movers().compile(remote, local)(base + from.offset, data);
    return {};
  }
  auto request =
      std::make_shared<GetLayoutRequest>(engine.movers().compile(Layout::contiguous(local.bytes()), local), data);
  auto sent = std::make_shared<Sent>();
  sent->parcel = layout::to_bytes(remote);
  engine.ask(part.world_rank,
             {.kind = MessageKind::get_layout, .target = part.id, .offset = from.offset, .bytes = sent->parcel.size()},
             sent->parcel, request, sent);
  return state_->event_of(std::move(request));
}

}  // namespace penstock::gas
