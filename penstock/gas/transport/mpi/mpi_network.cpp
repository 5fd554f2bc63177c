#include "penstock/gas/transport/mpi/mpi_network.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/peer_watch.hpp"

namespace penstock::gas {
namespace {

constexpr int packet_tag = 1;
constexpr int long_tag = 2;
/// Receives that stand ready. What comes beyond waits in MPI.
constexpr std::size_t ready_receives = 16;
/// So many packets go to a peer at once; what is sent beyond before the rank polls the network again may be
/// gathered.
constexpr int max_before_progress = 4;
/// What is gathered goes when it is this long: the receiver sees a packet when it is whole.
constexpr std::size_t max_gathered_bytes = std::size_t{8} << 10;

}  // namespace

bool MpiNetwork::is_long(const Header& header) noexcept {
  const bool has_payload = header.kind != MessageKind::get;
  return has_payload && header.bytes > max_packet_bytes;
}

/// Whether the sender has to come back for the answer, and nobody else can wait for the message.
bool MpiNetwork::is_waited_for(const Header& header) noexcept {
  const bool is_request = header.kind <= MessageKind::atomic && header.cookie != 0;
  const bool raises = header.kind <= MessageKind::put_layout && header.signal != Header::no_signal;
  return is_request && !raises;
}

MpiNetwork::MpiNetwork(MPI_Comm comm, std::mutex& mutex, std::shared_ptr<PeerWatch> watch)
    : comm_(comm), mutex_(mutex), watch_(std::move(watch)), receives_(ready_receives) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm_, &size), "MPI_Comm_size");
  peers_.resize(index(size));
  for (Receiving& receiving : receives_) {
    expect(receiving);
  }
}

MpiNetwork::~MpiNetwork() {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) {
    return;
  }
  if constexpr (is_simulated) {
    return;  // its communicators' numbers are not used again, and telling all of all would be the most of its messages
  }
  if (!is_drained_) {
    drain(usual_patience_s);
  }
  for (Receiving& receiving : receives_) {
    MPI_Cancel(&receiving.request);
    MPI_Wait(&receiving.request, MPI_STATUS_IGNORE);
  }
  for (const auto& peer : peers_) {
    while (peer != nullptr && !peer->sends.empty()) {
      // What was sent to a rank that has died is never done: MPI keeps it.
      static_cast<void>(peer->sends.front().packet.release());
      peer->sends.pop_front();
    }
  }
  MPI_Comm_free(&comm_);
}

bool MpiNetwork::drain(double patience_s) noexcept try {
  is_drained_ = true;
  class Nobody final : public Inbox {
   public:
    std::byte* place(int, const Header& header) override { return parcels_.emplace_back(header.bytes).data(); }
    void deliver(int, const Header&, std::span<const std::byte>) override {}

   private:
    std::deque<std::vector<std::byte>> parcels_;
  };
  struct Counts {
    std::vector<std::uint64_t> sent;
    std::vector<std::uint64_t> to_come;
  };
  auto counts = std::make_unique<Counts>();
  auto nobody = std::make_unique<Nobody>();
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::scoped_lock lock(mutex_);
    end_round();
    const auto sent = [](const auto& peer) { return peer == nullptr ? 0 : peer->sent; };
    std::ranges::transform(peers_, std::back_inserter(counts->sent), sent);
    counts->to_come.resize(peers_.size());
    check_mpi(
        MPI_Ialltoall(counts->sent.data(), 1, MPI_UINT64_T, counts->to_come.data(), 1, MPI_UINT64_T, comm_, &request),
        "MPI_Ialltoall");
  }
  bool is_told = false;
  const auto received = [](const auto& peer) { return peer == nullptr ? 0 : peer->received; };
  const auto is_whole = [&] {
    {
      const std::scoped_lock lock(mutex_);
      is_told = is_told || is_complete(request);
    }
    while (progress(*nobody)) {
    }
    return is_told && std::ranges::equal(peers_, counts->to_come, {}, received) && busy_peers_.empty() &&
           long_.empty() && waiting_.empty();
  };
  if (!wait_for_end(*watch_, is_whole, patience_s)) {
    static_cast<void>(counts.release());  // MPI goes on with them
    static_cast<void>(nobody.release());
    return false;
  }
  return true;
} catch (const Error&) {
  return false;  // MPI itself has failed; there is nobody to tell
}

MpiNetwork::Peer& MpiNetwork::peer_of(int rank) {
  std::unique_ptr<Peer>& peer = peers_[index(rank)];
  if (peer == nullptr) {
    peer = std::make_unique<Peer>();
  }
  return *peer;
}

void MpiNetwork::expect(Receiving& receiving) {
  const std::scoped_lock lock(mutex_);
  check_mpi(
      MPI_Irecv(&receiving.packet, sizeof(Packet), MPI_BYTE, MPI_ANY_SOURCE, packet_tag, comm_, &receiving.request),
      "MPI_Irecv");
}

void MpiNetwork::send(int peer, const Header& header, std::span<const std::byte> payload,
                      std::shared_ptr<Completion> sent) {
  const std::scoped_lock lock(mutex_);
  Peer& to = peer_of(peer);
  const bool goes_alone = is_long(header);
  const std::span<const std::byte> within = goes_alone ? std::span<const std::byte>() : payload;
  if (!to.writer.has_room_for(within.size())) {
    if (to.open != nullptr) {
      send_packet(peer, {}, nullptr);
    }
    if (spare_packets_.empty()) {
      to.open = std::make_unique_for_overwrite<Packet>();
    } else {
      to.open = std::move(spare_packets_.back());
      spare_packets_.pop_back();
    }
    to.writer = PacketWriter(to.open->bytes);
  }
  to.writer.append(header, within);
  if (to.sent_since_progress == 0) {
    sent_to_since_progress_.push_back(peer);
  }
  const bool is_short = payload.size() <= max_inline_bytes;
  if (is_short && sent != nullptr) {
    sent->finish();
  }
  if (to.sent_since_progress++ < max_before_progress || !is_short || !is_waited_for(header) ||
      to.writer.bytes() > max_gathered_bytes) {
    // Who sends much learns how fast it goes.
    send_packet(peer, goes_alone ? payload : std::span<const std::byte>(), is_short ? nullptr : std::move(sent));
  }
}

/// Sends what has been gathered for a peer, and what follows the last of it.
void MpiNetwork::send_packet(int peer, std::span<const std::byte> long_payload, std::shared_ptr<Completion> sent) {
  Peer& to = peer_of(peer);
  ++to.sent;
  Sending sending{.packet = std::move(to.open), .sent = std::move(sent)};
  check_mpi(MPI_Isend(sending.packet->bytes.data(), static_cast<int>(to.writer.bytes()), MPI_BYTE, peer, packet_tag,
                      comm_, &sending.requests[0]),
            "MPI_Isend");
  to.writer = PacketWriter();
  if (!long_payload.empty()) {
    const ByteType type(long_payload.size());
    check_mpi(MPI_Isend(long_payload.data(), type.count(), type.get(), peer, long_tag, comm_, &sending.requests[1]),
              "MPI_Isend");
  }
  if (to.sends.empty()) {
    busy_peers_.push_back(peer);
  }
  to.sends.push_back(std::move(sending));
}

/// Sends what has been gathered for all peers.
void MpiNetwork::end_round() {
  for (const int peer : sent_to_since_progress_) {
    Peer& to = peer_of(peer);
    to.sent_since_progress = 0;
    if (to.open != nullptr) {
      send_packet(peer, {}, nullptr);
    }
  }
  sent_to_since_progress_.clear();
}

/// A peer's messages leave in order, so that the first tells of the others.
void MpiNetwork::finish_sends() {
  std::erase_if(busy_peers_, [this](int peer) {
    std::deque<Sending>& sends = peer_of(peer).sends;
    while (!sends.empty()) {
      Sending& first = sends.front();
      int is_done = 0;
      check_mpi(MPI_Testall(2, first.requests.data(), &is_done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (is_done == 0) {
        return false;
      }
      if (first.sent != nullptr) {
        first.sent->finish();
      }
      spare_packets_.push_back(std::move(first.packet));
      sends.pop_front();
    }
    return true;
  });
}

bool MpiNetwork::take_next(Inbox& inbox) {
  Receiving& receiving = receives_[next_receive_];
  MPI_Status status;
  int bytes = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (!is_complete(receiving.request, &status)) {
      return false;
    }
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  }
  const int source = status.MPI_SOURCE;
  ++peer_of(source).received;
  next_receive_ = (next_receive_ + 1) % receives_.size();
  try {
    take_packet(inbox, source, std::span(receiving.packet.bytes).first(static_cast<std::size_t>(bytes)));
  } catch (...) {
    expect(receiving);  // a message is taken once, whatever comes of it
    throw;
  }
  expect(receiving);
  return true;
}

void MpiNetwork::take_packet(Inbox& inbox, int source, std::span<const std::byte> packet) {
  std::exception_ptr thrown;
  for (PacketReader reader(packet); !reader.is_at_end();) {
    const auto [header, payload] = reader.next();
    // Messages of a peer are taken in their order; but those of collective calls, of which none is long, need none.
    const bool is_behind = is_receiving_from(source) || has_waiting(source);
    if (thrown != nullptr || (is_behind && header.kind != MessageKind::collective)) {
      waiting_.push_back({source, header, {payload.begin(), payload.end()}});
      continue;
    }
    try {
      take(inbox, source, header, payload);
    } catch (...) {
      thrown = std::current_exception();  // the rest is taken later
    }
  }
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
}

bool MpiNetwork::has_waiting(int source) const noexcept {
  return std::ranges::any_of(waiting_, [&](const Waiting& message) { return message.source == source; });
}

bool MpiNetwork::is_receiving_from(int source) const noexcept {
  return std::ranges::any_of(long_, [&](const LongMessage& message) { return message.source == source; });
}

/// Hands a message to the inbox, or, where it is long, receives its payload first.
void MpiNetwork::take(Inbox& inbox, int source, const Header& header, std::span<const std::byte> payload) {
  if (!is_long(header)) {
    inbox.deliver(source, header, payload);
    return;
  }
  LongMessage message{source, header, inbox.place(source, header), MPI_REQUEST_NULL};
  const std::scoped_lock lock(mutex_);
  const ByteType type(header.bytes);
  check_mpi(MPI_Irecv(message.place, type.count(), type.get(), source, long_tag, comm_, &message.request), "MPI_Irecv");
  long_.push_back(message);
}

void MpiNetwork::take_long(Inbox& inbox) {
  for (std::size_t i = 0; i < long_.size();) {
    {
      const std::scoped_lock lock(mutex_);
      if (!is_complete(long_[i].request)) {
        ++i;
        continue;
      }
    }
    const LongMessage message = long_[i];
    long_.erase(long_.begin() + static_cast<std::ptrdiff_t>(i));
    inbox.deliver(message.source, message.header, {message.place, message.header.bytes});
  }
}

void MpiNetwork::take_waiting(Inbox& inbox) {
  for (std::size_t i = 0; i < waiting_.size();) {
    if (is_receiving_from(waiting_[i].source)) {
      ++i;
      continue;
    }
    const Waiting message = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    take(inbox, message.source, message.header, message.payload);
  }
}

bool MpiNetwork::progress(Inbox& inbox) {
  {
    const std::scoped_lock lock(mutex_);
    end_round();
    finish_sends();
  }
  // One at a time: to ask for the next costs a call of the system, and whoever waits may have what it waits for.
  const bool has_taken = take_next(inbox);
  take_long(inbox);
  take_waiting(inbox);
  return has_taken;
}

}  // namespace penstock::gas
