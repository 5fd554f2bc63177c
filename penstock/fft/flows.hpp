// The messages of one exchange: which boxes go between which ranks, and how each lies in memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "penstock/fft/block.hpp"
#include "penstock/fft/decomposition.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// All that passes between this rank and one peer in an exchange: a block, each of its grains one message.
struct Flow {
  Block block;
  std::size_t first_message = 0;  ///< the message of grain 0; the others follow
};

/// An exchange from pencils along one direction to pencils along another, as one rank sees it.
struct Flows {
  std::vector<Flow> outgoing;
  std::vector<Flow> incoming;
  std::vector<gas::Outgoing> outgoing_messages;
  std::vector<gas::Incoming> incoming_messages;
  std::int64_t received_bytes = 0;  ///< the size of the memory that peers write into
};

/// What shapes an exchange: from pencils along `from` to pencils along `to`, each box stored in `order`, cut along the
/// sender's outer direction into messages of `grain` planes (0: one message), and in strips as Block tells.
struct FlowShape {
  int from = 0;
  int to = 0;
  std::array<int, 3> order{};
  int cut = 0;
  std::int64_t grain = 0;
  std::int64_t strip = 0;
  std::int64_t element_bytes = 0;
};

Flows make_flows(const Decomposition& decomposition, const FlowShape& shape, int rank, int ranks);

}  // namespace penstock::fft
