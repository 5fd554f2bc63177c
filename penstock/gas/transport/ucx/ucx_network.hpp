// The network over UCX: messages are UCX's active messages; puts and gets are UCX's own.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "penstock/gas/transport/network.hpp"
#include "penstock/gas/transport/peer_watch.hpp"
#include "penstock/ucx/ucx.hpp"

namespace penstock::gas {

class UcxNetwork final : public Network {
 public:
  /// Takes `comm` over, by which the ranks part in the end; `mutex` serialises the rank's MPI calls. `addresses` are of
  /// the workers of all ranks, `processes` knows which of this node have died. Connections are made when they are
  /// first used.
  UcxNetwork(MPI_Comm comm, std::mutex& mutex, std::unique_ptr<ucx::Worker> worker,
             std::vector<std::vector<std::byte>> addresses, std::shared_ptr<PeerWatch> processes);
  ~UcxNetwork() override;
  UcxNetwork(const UcxNetwork&) = delete;
  UcxNetwork& operator=(const UcxNetwork&) = delete;

  /// 1 MiB in pieces of 4 KiB takes 183 us put, 167 in a message (Zen 5, 2026-11, two ranks of a node).
  NetworkTraits traits() const noexcept override {
    return {.name = "ucx", .is_one_sided = true, .keeps_order = true, .min_put_bytes = 4096};
  }
  void send(int peer, const Header& header, std::span<const std::byte> payload,
            std::shared_ptr<Completion> sent) override;
  bool progress(Inbox& inbox) override;
  std::unique_ptr<Region> allocate(std::size_t bytes) override;
  std::vector<std::byte> expose(const Region& region) override;
  void withdraw(std::span<std::byte> memory) override;
  std::shared_ptr<RemoteMemory> reach(int peer, std::span<const std::byte> key) override;

 private:
  class Memory;
  class Allocated;
  struct Arrival;
  struct Operation;
  struct Packet;
  struct Peer;

  ucp_ep_h endpoint_of(Peer& peer);
  Operation& begin(Peer& peer);
  static ucp_request_param_t report_to(Operation& operation);
  bool watch(ucs_status_ptr_t request, Operation& operation);
  void resolve(Operation& operation, ucs_status_t status);
  void flush(Peer& peer);
  void flush_all();
  void line_up(Peer& peer, std::uint32_t number, const Arrival& arrival);
  bool hand_over(Peer& peer, Inbox& inbox);
  void drive();
  void drive_mpi();
  void tell_of_failures();
  void part();

  static ucs_status_t on_message(void* self, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);
  static ucs_status_t on_farewell(void* self, const void* header, std::size_t header_bytes, void* data,
                                  std::size_t bytes, const ucp_am_recv_param_t* param);
  static void on_end(void* request, ucs_status_t status, void* operation);
  static void on_received(void* request, ucs_status_t status, std::size_t bytes, void* operation);
  static void on_failure(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  MPI_Comm comm_;
  std::mutex& mutex_;
  std::shared_ptr<PeerWatch> processes_;  // of peers on this node
  int rank_ = 0;
  std::unique_ptr<ucx::Worker> worker_;
  std::vector<Peer> peers_;
  std::list<Operation> operations_;        // under way
  std::list<Operation> spare_operations_;  // those that have ended
  std::vector<std::unique_ptr<Packet>> spare_packets_;
  std::vector<Peer*> with_arrivals_;
  std::vector<Peer*> with_puts_;  // that are to be flushed
  std::map<std::byte*, ucp_mem_h> exposed_;
  bool has_failure_ = false;
  std::exception_ptr broken_;  // what was thrown where a message could not be read
  unsigned turns_ = 0;
};

}  // namespace penstock::gas
