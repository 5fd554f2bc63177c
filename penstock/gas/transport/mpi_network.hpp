// Messages between ranks by MPI's two-sided calls: receives stand ready for short ones, long ones go to their place.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "penstock/gas/transport/network.hpp"

namespace penstock::gas {

class PeerWatch;

class MpiNetwork final : public Network {
 public:
  /// Takes `comm` over, for nothing but this. `mutex` serialises the rank's MPI calls; `watch` knows of dead peers, for
  /// which nothing waits at the end.
  MpiNetwork(MPI_Comm comm, std::mutex& mutex, std::shared_ptr<PeerWatch> watch);
  ~MpiNetwork() override;
  MpiNetwork(const MpiNetwork&) = delete;
  MpiNetwork& operator=(const MpiNetwork&) = delete;

  void send(int peer, const Header& header, std::span<const std::byte> payload, std::shared_ptr<Sent> sent) override;
  void progress(Inbox& inbox) override;

 private:
  /// A message, or the header of one that is longer.
  struct Packet {
    Header header;
    std::array<std::byte, most_packet_bytes> payload;
  };
  struct Receiving {
    Packet packet;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Sending {
    std::unique_ptr<Packet> packet;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::shared_ptr<Sent> sent;
  };
  /// A message that came behind a long one which is not whole yet.
  struct Waiting {
    int source;
    Header header;
    std::vector<std::byte> payload;
  };
  struct LongMessage {
    int source;
    Header header;
    std::byte* place;
    MPI_Request request;
  };

  static bool is_long(const Header& header) noexcept;
  void expect(Receiving& receiving);
  void drain();
  void finish_sends();
  bool take_next(Inbox& inbox);
  void take(Inbox& inbox, int source, const Header& header, std::span<const std::byte> payload);
  void take_long(Inbox& inbox);
  void take_waiting(Inbox& inbox);
  bool is_receiving_from(int source) const noexcept;
  bool has_waiting(int source) const noexcept;

  MPI_Comm comm_;
  std::mutex& mutex_;
  std::shared_ptr<PeerWatch> watch_;
  // MPI fills the receives of one rank in the order in which they were posted, so that the first is the next message.
  std::vector<Receiving> receives_;
  std::size_t next_receive_ = 0;
  std::vector<std::deque<Sending>> sends_;  // by peer
  std::vector<int> busy_peers_;             // that have some
  std::vector<std::unique_ptr<Packet>> spare_packets_;
  std::deque<LongMessage> long_;  // at most one of each source
  std::deque<Waiting> waiting_;
  // By peer, the packets so far.
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

}  // namespace penstock::gas
