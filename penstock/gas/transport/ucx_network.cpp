// Messages, and progress of all that is under way.
#include "penstock/gas/transport/ucx_network.hpp"

#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/rank_index.hpp"
#include "penstock/gas/transport/mpi_messages.hpp"
#include "penstock/gas/transport/ucx_network_parts.hpp"

namespace penstock::gas {
UcxNetwork::Operation& UcxNetwork::begin(Peer& peer) {
  Operation& operation = operations_.emplace_back(
      Operation{.peer = &peer, .self = {}, .sent = nullptr, .flushed = {}, .packet = nullptr, .memory = nullptr});
  operation.self = std::prev(operations_.end());
  return operation;
}

/// After a call of UCX: whether it is done already, or has failed, or will tell.
void UcxNetwork::watch(ucs_status_ptr_t request, Operation& operation) {
  if (request == nullptr || UCS_PTR_IS_ERR(request)) {
    end(operation, UCS_PTR_STATUS(request));
  }
}

void UcxNetwork::end(Operation& operation, ucs_status_t status) {
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
  operations_.erase(operation.self);
}

void UcxNetwork::on_end(void* request, ucs_status_t status, void* operation) {
  auto& ended = *static_cast<Operation*>(operation);
  ended.peer->network->end(ended, status);
  ucx().ucp_request_free(request);
}

void UcxNetwork::on_received(void* request, ucs_status_t status, std::size_t, void* operation) {
  on_end(request, status, operation);
}

void UcxNetwork::send(int peer, const Header& header, std::span<const std::byte> payload, std::shared_ptr<Sent> sent) {
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
  packet.front = {.header = header, .source = static_cast<std::uint32_t>(rank_), .number = to.sent++};
  ucp_request_param_t param = report_to(operation);
  if (payload.size() <= most_inline_bytes) {
    if (!payload.empty()) {
      std::memcpy(packet.payload.data(), payload.data(), payload.size());
    }
    payload = {packet.payload.data(), payload.size()};
    if (sent != nullptr) {
      sent->finish();
    }
  } else {
    operation.sent = std::move(sent);
  }
  if (payload.size() <= most_packet_bytes) {
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
  }
  watch(ucx().ucp_am_send_nbx(endpoint, message_id, &packet.front, sizeof packet.front, payload.data(), payload.size(),
                              &param),
        operation);
}

ucs_status_t UcxNetwork::on_message(void* self, const void* header, std::size_t, void* data, std::size_t bytes,
                                    const ucp_am_recv_param_t* param) {
  auto& network = *static_cast<UcxNetwork*>(self);
  Packet::Front front;
  std::memcpy(&front, header, sizeof front);
  const bool is_announced = (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
  const bool is_kept = is_announced || bytes > 0;
  Peer& peer = network.peers_[front.source];
  peer.early.emplace(
      front.number,
      Arrival{.header = front.header, .data = is_kept ? data : nullptr, .bytes = bytes, .is_announced = is_announced});
  for (auto next = peer.early.begin(); next != peer.early.end() && next->first == peer.received;
       next = peer.early.erase(next)) {
    peer.arrivals.push_back(next->second);
    ++peer.received;
  }
  if (!peer.arrivals.empty() && !peer.is_with_arrivals) {
    peer.is_with_arrivals = true;
    network.with_arrivals_.push_back(&peer);
  }
  return is_kept ? UCS_INPROGRESS : UCS_OK;
}

/// Gives the inbox what has come from the peer, in order, as far as it is whole.
void UcxNetwork::hand_over(Peer& peer, Inbox& inbox) {
  for (;;) {
    if (peer.fetch.has_value()) {
      if (!peer.fetch->done->is_done()) {
        return;
      }
      const Peer::Fetch fetch = *std::exchange(peer.fetch, std::nullopt);
      inbox.deliver(peer.rank, fetch.header, fetch.place);
    }
    if (peer.arrivals.empty()) {
      return;
    }
    const Arrival arrival = peer.arrivals.front();
    peer.arrivals.pop_front();
    if (!arrival.is_announced) {
      const HeldPayload held(*worker_, arrival.data);
      inbox.deliver(peer.rank, arrival.header, {static_cast<const std::byte*>(arrival.data), arrival.bytes});
      continue;
    }
    peer.fetch = {.header = arrival.header,
                  .place = {inbox.place(peer.rank, arrival.header), arrival.bytes},
                  .done = std::make_shared<Sent>()};
    Operation& operation = begin(peer);
    operation.sent = peer.fetch->done;
    ucp_request_param_t param = report_to(operation);
    param.cb.recv_am = on_received;
    watch(ucx().ucp_am_recv_data_nbx(worker_->get(), arrival.data, peer.fetch->place.data(), arrival.bytes, &param),
          operation);
  }
}

void UcxNetwork::drive() {
  // More than one round where there is much to do; never without end while peers go on sending.
  for (int rounds = 0; rounds < 16 && ucx().ucp_worker_progress(worker_->get()) != 0; ++rounds) {
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
  for (std::size_t i = 0; i < with_arrivals_.size();) {
    Peer& peer = *with_arrivals_[i];
    hand_over(peer, inbox);
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
  return false;
}

}  // namespace penstock::gas
