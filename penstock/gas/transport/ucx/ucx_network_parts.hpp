// The parts of the network over UCX: packets, arrivals, peers and operations under way. Private to its sources.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "penstock/gas/transport/packet.hpp"
#include "penstock/gas/transport/ucx/ucx_network.hpp"

namespace penstock::gas {

/// The numbers of our active messages.
inline constexpr unsigned message_id = 1;
inline constexpr unsigned farewell_id = 2;

/// Gives a payload that UCX holds back to it.
class HeldPayload {
 public:
  HeldPayload(const ucx::Worker& worker, void* data) : worker_(worker), data_(data) {}
  ~HeldPayload() {
    if (data_ != nullptr) {
      ucx::api().ucp_am_data_release(worker_.get(), data_);
    }
  }
  HeldPayload(const HeldPayload&) = delete;
  HeldPayload& operator=(const HeldPayload&) = delete;

 private:
  const ucx::Worker& worker_;
  void* data_;
};

/// A short message, which travels as it lies here, or the header of a long one.
///
/// UCX 1.13 sends at once, from the memory that it is given, what comes as one piece and is short enough for its
/// transport (some 90 bytes within a node); with a header beside the payload each message takes a request and a buffer
/// more, and what is longer a copy more.
struct UcxNetwork::Packet {
  /// UCP promises no order between active messages; those from one rank to another are put in order by their numbers.
  struct Front {
    std::uint32_t source;
    std::uint32_t number;
  };

  Front front;
  /// As a PacketWriter writes it.
  std::array<std::byte, PacketWriter::max_header_bytes + max_inline_bytes> message;
};

/// A message that has come, whose payload UCX holds, or will fetch when told where to.
struct UcxNetwork::Arrival {
  Header header;
  void* held;  // what UCX is to have back, or fetches the payload by; nullptr where it holds nothing
  std::span<const std::byte> payload;
  bool is_announced;  // the payload is to be fetched
};

struct UcxNetwork::Peer {
  /// A payload that is being fetched to its place.
  struct Fetch {
    Header header;
    std::span<std::byte> place;
    std::shared_ptr<Completion> done;
  };

  Peer(UcxNetwork* of, int its_rank, std::vector<std::byte> its_address)
      : network(of), rank(its_rank), address(std::move(its_address)) {}

  UcxNetwork* network;
  int rank;
  std::vector<std::byte> address;
  ucp_ep_h endpoint = nullptr;  // until it is first used
  ucs_status_t failure = UCS_OK;
  bool has_left = false;

  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::map<std::uint32_t, Arrival> early;  // by number: came before what was sent before
  std::deque<Arrival> arrivals;            // in order
  std::optional<Fetch> fetch;              // of the message before those
  bool is_with_arrivals = false;

  std::vector<std::shared_ptr<Completion>> unflushed;  // puts
  bool is_flushing = false;
};

/// What UCX is about and tells the end of.
struct UcxNetwork::Operation {
  Peer* peer;
  std::list<Operation>::iterator self;
  std::shared_ptr<Completion> sent;                  // finished with it
  std::vector<std::shared_ptr<Completion>> flushed;  // the same, of a flush
  std::unique_ptr<Packet> packet;
  std::shared_ptr<RemoteMemory> memory;
  std::array<std::byte, max_copied_bytes> copy;  // of what is put and short
};

}  // namespace penstock::gas
