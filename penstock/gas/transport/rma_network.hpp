// Puts and gets by MPI's one-sided calls; messages by its two-sided ones.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "penstock/gas/transport/mpi_network.hpp"
#include "penstock/gas/transport/network.hpp"

namespace penstock::gas {

/// One dynamic window for all memory of a world: memory is attached and detached by each rank alone, so that segments
/// come and go without MPI's collective calls, in which a rank would not serve its peers.
class RmaNetwork final : public Network {
 public:
  /// Collective over `comm`, which is taken over; all ranks are about it at the same time. Throws Error where MPI makes
  /// no window; not on all ranks alike.
  RmaNetwork(MPI_Comm comm, std::mutex& mutex, std::shared_ptr<PeerWatch> watch);
  ~RmaNetwork() override;
  RmaNetwork(const RmaNetwork&) = delete;
  RmaNetwork& operator=(const RmaNetwork&) = delete;

  void send(int peer, const Header& header, std::span<const std::byte> payload, std::shared_ptr<Sent> sent) override;
  bool progress(Inbox& inbox) override;
  std::vector<std::byte> expose(std::span<std::byte> memory) override;
  void withdraw(std::span<std::byte> memory) override;
  std::shared_ptr<RemoteMemory> reach(int peer, std::span<const std::byte> key) override;

 private:
  class Memory;
  /// What was begun: its MPI request, and what is finished with that.
  struct Transfer {
    MPI_Request request;
    std::shared_ptr<Sent> done;
    std::shared_ptr<Sent> remote;  // of a put
  };
  /// Of one peer: transfers under way, and puts that have left and are to be flushed.
  struct Peer {
    std::deque<Transfer> transfers;
    std::vector<std::shared_ptr<Sent>> unflushed;
  };

  std::mutex& mutex_;
  MpiNetwork messages_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::map<int, Peer> busy_;
};

}  // namespace penstock::gas
