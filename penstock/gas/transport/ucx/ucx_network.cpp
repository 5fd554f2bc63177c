// Messages, and progress of all that is under way.
#include "penstock/gas/transport/ucx/ucx_network.hpp"

#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/ucx/ucx_network_parts.hpp"

namespace penstock::gas {
/// For the next call of UCX, after which it is to be watched: most are done at once, and never under way.
UcxNetwork::Operation& UcxNetwork::begin(Peer& peer) {
  if (spare_operations_.empty()) {
    spare_operations_.emplace_back();
  }
  Operation& operation = spare_operations_.front();
  operation.peer = &peer;
  return operation;
}

/// After a call of UCX: whether it is under way, and will tell; else it is done already, or has failed.
bool UcxNetwork::watch(ucs_status_ptr_t request, Operation& operation) {
  if (request == nullptr || UCS_PTR_IS_ERR(request)) {
    resolve(operation, UCS_PTR_STATUS(request));
    return false;
  }
  operations_.splice(operations_.end(), spare_operations_, spare_operations_.begin());
  operation.self = std::prev(operations_.end());
  return true;
}

void UcxNetwork::resolve(Operation& operation, ucs_status_t status) {
  if (status == UCS_OK) {
    if (operation.sent != nullptr) {
      operation.sent->finish();
    }
    for (const auto& put : operation.flushed) {
      put->finish();
    }
    if (!operation.flushed.empty()) {
      operation.peer->is_flushing = false;
    }
  } else {
    operation.peer->failure = status;
    has_failure_ = true;
  }
  if (operation.packet != nullptr) {
    spare_packets_.push_back(std::move(operation.packet));
  }
  operation.sent = nullptr;
  operation.flushed.clear();
  operation.memory = nullptr;
}

void UcxNetwork::on_end(void* request, ucs_status_t status, void* operation) {
  auto& ended = *static_cast<Operation*>(operation);
  UcxNetwork& network = *ended.peer->network;
  network.resolve(ended, status);
  network.spare_operations_.splice(network.spare_operations_.begin(), network.operations_, ended.self);
  ucx::api().ucp_request_free(request);
}

void UcxNetwork::on_received(void* request, ucs_status_t status, std::size_t, void* operation) {
  on_end(request, status, operation);
}

void UcxNetwork::send(int peer, const Header& header, std::span<const std::byte> payload,
                      std::shared_ptr<Completion> sent) {
  Peer& to = peers_[index(peer)];
  const ucp_ep_h endpoint = endpoint_of(to);
  Operation& operation = begin(to);
  if (spare_packets_.empty()) {
    operation.packet = std::make_unique<Packet>();
  } else {
    operation.packet = std::move(spare_packets_.back());
    spare_packets_.pop_back();
  }
  Packet& packet = *operation.packet;
  packet.front = {.source = static_cast<std::uint32_t>(rank_), .number = to.sent++};
  PacketWriter writer(packet.message);
  ucp_request_param_t param = report_to(operation);
  if (payload.size() <= max_packet_bytes) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
  }
  if (payload.size() > max_inline_bytes) {
    operation.sent = std::move(sent);
    writer.append(header, {});
    watch(ucx::api().ucp_am_send_nbx(endpoint, message_id, &packet, sizeof packet.front + writer.bytes(),
                                     payload.data(), payload.size(), &param),
          operation);
    return;
  }
  writer.append(header, payload);
  if (sent != nullptr) {
    sent->finish();
  }
  watch(ucx::api().ucp_am_send_nbx(endpoint, message_id, nullptr, 0, &packet, sizeof packet.front + writer.bytes(),
                                   &param),
        operation);
}

/// UCX calls it, through which nothing may be thrown.
ucs_status_t UcxNetwork::on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                    std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& network = *static_cast<UcxNetwork*>(self);
  const std::span<const std::byte> given(static_cast<const std::byte*>(data), bytes);
  const std::span<const std::byte> packet =
      header_bytes == 0 ? given : std::span(static_cast<const std::byte*>(header), header_bytes);
  const bool is_announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  try {
    Packet::Front front;
    std::memcpy(&front, packet.data(), sizeof front);
    const PacketReader::Message message = PacketReader(packet.subspan(sizeof front)).next();
    const std::span<const std::byte> payload = header_bytes == 0 ? message.payload : given;
    const bool is_held = is_announced || !payload.empty();
    network.line_up(
        network.peers_.at(front.source), front.number,
        {.header = message.header, .held = is_held ? data : nullptr, .payload = payload, .is_announced = is_announced});
    return is_held ? UCS_INPROGRESS : UCS_OK;
  } catch (...) {
    network.broken_ = std::current_exception();
    network.has_failure_ = true;
    return UCS_OK;
  }
}

/// Puts what has come where it belongs among the messages of the peer.
void UcxNetwork::line_up(Peer& peer, std::uint32_t number, const Arrival& arrival) {
  if (number != peer.received) {
    peer.early.emplace(number, arrival);
    return;
  }
  peer.arrivals.push_back(arrival);
  ++peer.received;
  for (auto next = peer.early.begin(); next != peer.early.end() && next->first == peer.received;
       next = peer.early.erase(next)) {
    peer.arrivals.push_back(next->second);
    ++peer.received;
  }
  if (!peer.is_with_arrivals) {
    with_arrivals_.push_back(&peer);
    peer.is_with_arrivals = true;
  }
}

/// Gives the inbox what has come from the peer, in order, as far as it is whole; true where there was something.
bool UcxNetwork::hand_over(Peer& peer, Inbox& inbox) {
  for (bool has_delivered = false;; has_delivered = true) {
    if (peer.fetch.has_value()) {
      if (!peer.fetch->done->is_done()) {
        return has_delivered;
      }
      const Peer::Fetch fetch = *std::exchange(peer.fetch, std::nullopt);
      inbox.deliver(peer.rank, fetch.header, fetch.place);
      continue;
    }
    if (peer.arrivals.empty()) {
      return has_delivered;
    }
    const Arrival arrival = peer.arrivals.front();
    peer.arrivals.pop_front();
    if (!arrival.is_announced) {
      const HeldPayload held(*worker_, arrival.held);
      inbox.deliver(peer.rank, arrival.header, arrival.payload);
      continue;
    }
    peer.fetch = {.header = arrival.header,
                  .place = {inbox.place(peer.rank, arrival.header), arrival.payload.size()},
                  .done = std::make_shared<Completion>()};
    Operation& operation = begin(peer);
    operation.sent = peer.fetch->done;
    ucp_request_param_t param = report_to(operation);
    param.cb.recv_am = on_received;
    watch(ucx::api().ucp_am_recv_data_nbx(worker_->get(), arrival.held, peer.fetch->place.data(),
                                          peer.fetch->place.size(), &param),
          operation);
  }
}

void UcxNetwork::drive() {
  // More than one round where there is much to do, but none after a message: it may be what is waited for.
  for (int rounds = 0; rounds < 16; ++rounds) {
    if (ucx::api().ucp_worker_progress(worker_->get()) == 0 || !with_arrivals_.empty()) {
      break;
    }
  }
  flush_all();
}

/// Teams and exchanges are MPI's: what they have under way goes on while a rank waits for what is UCX's.
void UcxNetwork::drive_mpi() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock.owns_lock()) {
    int is_there = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }
}

bool UcxNetwork::progress(Inbox& inbox) {
  constexpr unsigned turns_between = 16;
  drive();
  if (++turns_ % turns_between == 0) {
    drive_mpi();
  }
  bool has_delivered = false;
  for (std::size_t i = 0; i < with_arrivals_.size();) {
    Peer& peer = *with_arrivals_[i];
    has_delivered = hand_over(peer, inbox) || has_delivered;
    if (peer.fetch.has_value()) {
      ++i;
    } else {
      peer.is_with_arrivals = false;
      with_arrivals_[i] = with_arrivals_.back();
      with_arrivals_.pop_back();
    }
  }
  if (has_failure_) {
    tell_of_failures();
  }
  return has_delivered;
}

}  // namespace penstock::gas
