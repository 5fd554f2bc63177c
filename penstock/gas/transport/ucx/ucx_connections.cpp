// Connections: made at the first use, watched, ended together.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/gas/transport/mpi/mpi_messages.hpp"
#include "penstock/gas/transport/ucx/ucx_network_parts.hpp"

namespace penstock::gas {
namespace {

/// How long a rank waits in the end for what is under way to peers.
constexpr double patience_s = 1;

}  // namespace

UcxNetwork::UcxNetwork(MPI_Comm comm, std::mutex& mutex, std::unique_ptr<ucx::Worker> worker,
                       std::vector<std::vector<std::byte>> addresses, std::shared_ptr<PeerWatch> processes)
    : comm_(comm), mutex_(mutex), processes_(std::move(processes)), worker_(std::move(worker)) {
  MPI_Comm_rank(comm_, &rank_);
  for (std::size_t peer = 0; peer < addresses.size(); ++peer) {
    peers_.emplace_back(this, static_cast<int>(peer), std::move(addresses[peer]));
  }
  worker_->handle(message_id, on_message, this, UCP_AM_FLAG_PERSISTENT_DATA);
  worker_->handle(farewell_id, on_farewell, this, UCP_AM_FLAG_PERSISTENT_DATA);
}

UcxNetwork::~UcxNetwork() {
  try {
    part();
  } catch (const Error&) {
    // UCX or MPI itself has failed; there is nobody to tell.
  }
  while (!exposed_.empty()) {
    withdraw({exposed_.begin()->first, 1});
  }
}

ucp_ep_h UcxNetwork::endpoint_of(Peer& peer) {
  if (peer.endpoint == nullptr) {
    ucp_ep_params_t params{};
    params.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
    params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    params.err_handler = {.cb = on_failure, .arg = &peer};
    ucx::check(ucx::api().ucp_ep_create(worker_->get(), &params, &peer.endpoint), "ucp_ep_create");
  }
  return peer.endpoint;
}

void UcxNetwork::on_failure(void* peer, ucp_ep_h, ucs_status_t status) {
  static_cast<Peer*>(peer)->failure = status;
  static_cast<Peer*>(peer)->network->has_failure_ = true;
}

void UcxNetwork::tell_of_failures() {
  if (broken_ != nullptr) {
    std::rethrow_exception(broken_);
  }
  for (const Peer& peer : peers_) {
    if (peer.failure != UCS_OK && !peer.has_left) {
      throw Error(fmt::format("rank {} has failed, or cannot be reached any more (UCX: {})", peer.rank,
                              ucx::api().ucs_status_string(peer.failure)));
    }
  }
  has_failure_ = false;  // but of those that have left
}

ucs_status_t UcxNetwork::on_farewell(void* self, const void* header, std::size_t, void*, std::size_t,
                                     const ucp_am_recv_param_t*) {
  int rank = 0;
  std::memcpy(&rank, header, sizeof rank);
  static_cast<UcxNetwork*>(self)->peers_[static_cast<std::size_t>(rank)].has_left = true;
  return UCS_OK;
}

/// Ends the connections. A rank tells those it is connected with that it leaves, so that they do not take it for dead,
/// and waits some seconds for the others, so that nothing is under way any more.
void UcxNetwork::part() {
  const auto is_connected = [](const Peer& peer) { return peer.endpoint != nullptr && peer.failure == UCS_OK; };
  for (Peer& peer : peers_) {
    if (is_connected(peer)) {
      Operation& operation = begin(peer);
      const ucp_request_param_t param = report_to(operation);
      watch(ucx::api().ucp_am_send_nbx(peer.endpoint, farewell_id, &rank_, sizeof rank_, nullptr, 0, &param),
            operation);
    }
  }
  const double deadline_s = seconds() + patience_s;
  wait_until([&] {
    drive();
    return operations_.empty() || seconds() > deadline_s || processes_->has_failed();
  });
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized == 0 && all_have_come(comm_, mutex_, *processes_, [this] { drive(); })) {
    MPI_Comm_free(&comm_);
  }
  for (Peer& peer : peers_) {
    for (const auto& [number, arrival] : peer.early) {
      peer.arrivals.push_back(arrival);
    }
    for (const Arrival& arrival : peer.arrivals) {
      const HeldPayload held(*worker_, arrival.held);
    }
    if (peer.endpoint == nullptr) {
      continue;
    }
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* const request = ucx::api().ucp_ep_close_nbx(peer.endpoint, &param);
    if (request == nullptr || UCS_PTR_IS_ERR(request)) {
      continue;
    }
    wait_until([&] {
      ucx::api().ucp_worker_progress(worker_->get());
      return ucx::api().ucp_request_check_status(request) != UCS_INPROGRESS;
    });
    ucx::api().ucp_request_free(request);
  }
  operations_.clear();  // with the keys of peers' memory that they still held
}

}  // namespace penstock::gas
