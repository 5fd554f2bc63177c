// The network over MPI's two-sided calls: receives are posted beforehand for short messages, long ones go to their
// final place.
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
#include "penstock/gas/transport/packet.hpp"

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

  NetworkTraits traits() const noexcept override { return {.name = "mpi", .keeps_order = true}; }
  void send(int peer, const Header& header, std::span<const std::byte> payload,
            std::shared_ptr<Completion> sent) override;
  bool progress(Inbox& inbox) override;

  /// Collective, before the end: takes what peers have sent and nobody asks for any more, as happens where a call has
  /// failed; MPI would take it for a message of the next communicator that gets this one's number. False where a
  /// process has died, MPI has failed, or some do not come to their end for `patience_s`. The destructor drains what
  /// nobody has.
  bool drain(double patience_s) noexcept;

 private:
  /// Messages, of which the last may be the header of one that is longer.
  struct Packet {
    Packet() noexcept {}  // not zeroed
    alignas(8) std::array<std::byte, PacketWriter::max_header_bytes + max_packet_bytes> bytes;
  };
  struct Receiving {
    Packet packet;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Sending {
    std::unique_ptr<Packet> packet;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::shared_ptr<Completion> sent;
  };
  struct Peer {
    std::deque<Sending> sends;     // that MPI has
    std::unique_ptr<Packet> open;  // what is being filled
    PacketWriter writer;           // into it
    int sent_since_progress = 0;   // messages since the last progress
    // The packets so far.
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
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
  static bool is_waited_for(const Header& header) noexcept;
  Peer& peer_of(int rank);
  void expect(Receiving& receiving);
  void send_packet(int peer, std::span<const std::byte> long_payload, std::shared_ptr<Completion> sent);
  void end_round();
  void finish_sends();
  bool take_next(Inbox& inbox);
  void take_packet(Inbox& inbox, int source, std::span<const std::byte> packet);
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
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; those that there was something to or from
  std::vector<int> busy_peers_;               // to which MPI is sending
  std::vector<int> sent_to_since_progress_;   // to which something was sent since the last progress
  std::vector<std::unique_ptr<Packet>> spare_packets_;
  std::deque<LongMessage> long_;  // at most one of each source
  std::deque<Waiting> waiting_;
  bool is_drained_ = false;
};

}  // namespace penstock::gas
