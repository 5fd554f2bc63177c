// The messages of one exchange: which boxes go between which ranks, and how each lies in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// What passes between this rank and one peer in an exchange, or a deferred part of that.
struct Flow {
  Block block;
  std::int64_t part = 0;          ///< 0: sent as planes are done; the others are deferred, and sent in their order
  std::size_t first_message = 0;  ///< the number of the block's message 0; the others follow
  std::size_t first_group = 0;    ///< which group of the sender's planes the planes of message 0 are a part of
};

/// An exchange as one rank sees it.
struct Flows {
  std::vector<Flow> outgoing;  ///< by part
  std::vector<Flow> incoming;
  std::vector<gas::Outgoing> outgoing_messages;
  std::vector<gas::Incoming> incoming_messages;
  std::int64_t received_bytes = 0;  ///< the size of the memory that peers write into
};

/// The layout and the message boundaries of what a sender and a receiver share. It is stored in `order` and in strips,
/// as Block tells. Its messages are groups of the sender's planes along `cut`. The last `deferred_parts` parts of the
/// receiver's box along `order[0]` are messages of their own, which are not cut.
struct FlowShape {
  std::array<int, 3> order{};
  int cut = 0;
  std::int64_t planes_per_message = 0;  ///< as in shape::Tuning
  std::int64_t deferred_parts = 0;      ///< as in shape::Tuning
  std::int64_t strip = 0;
  std::int64_t element_bytes = 0;
};

/// The exchange that brings what each rank has of the boxes `from` to where it is wanted, the boxes `to`.
Flows make_flows(const Boxes& from, const Boxes& to, const FlowShape& shape, int rank);

/// The exchange that leaves what each rank has of the boxes `from` in the arrays of the ranks, the parts `to`: one
/// message for each receiver, from the first to the last byte of its array that the sender writes.
Flows make_flows_into_arrays(const Boxes& from, const std::vector<Distribution>& to, std::int64_t element_bytes,
                             int rank);

}  // namespace penstock::fft
