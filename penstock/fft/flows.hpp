// The messages of one exchange: which boxes go between which ranks, and how each lies in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// What passes between this rank and one peer in an exchange, or a part of it that goes by itself: a block, each of its
/// grains one message.
struct Flow {
  Block block;
  std::int64_t part = 0;          ///< 0: sent grain by grain; the others, once all grains are, in their order
  std::size_t first_message = 0;  ///< the message of grain 0; the others follow
  std::size_t first_grain = 0;    ///< which of the sender's own grains grain 0 is a part of
};

/// An exchange as one rank sees it.
struct Flows {
  std::vector<Flow> outgoing;  ///< by part
  std::vector<Flow> incoming;
  std::vector<gas::Outgoing> outgoing_messages;
  std::vector<gas::Incoming> incoming_messages;
  std::int64_t received_bytes = 0;  ///< the size of the memory that peers write into
};

/// What shapes an exchange: what a sender and a receiver have in common is stored in `order`, cut into messages as the
/// sender's box is along its outer direction `cut`, every `grain` planes (0: one message), and in strips as Block
/// tells. Of the receiver's box the last `late_eighths` eighths along `order[0]` are parts of their own, each a message
/// that is not cut.
struct FlowShape {
  std::array<int, 3> order{};
  int cut = 0;
  std::int64_t grain = 0;
  std::int64_t late_eighths = 0;
  std::int64_t strip = 0;
  std::int64_t element_bytes = 0;
};

/// The exchange that brings what each rank has of the boxes `from` to where it is wanted, the boxes `to`.
Flows make_flows(const Boxes& from, const Boxes& to, const FlowShape& shape, int rank);

}  // namespace penstock::fft
