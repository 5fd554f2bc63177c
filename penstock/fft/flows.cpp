#include "penstock/fft/flows.hpp"

namespace penstock::fft {
namespace {

// Blocks begin on pairs of cache lines, so that neighbours' stores never share one.
constexpr std::int64_t block_alignment = 128;

/// Walks what `receiver` receives, in the order in which it lies there: calls `visit(sender, block, first_message)`.
/// Returns the bytes of all.
template <class Visit>
std::int64_t walk_received(const Decomposition& decomposition, const FlowShape& shape, int receiver, int ranks,
                           Visit visit) {
  const Box wanted = decomposition.pencil(shape.to, receiver);
  std::int64_t offset = 0;
  std::size_t message = 0;
  for (int sender = 0; sender < ranks; ++sender) {
    const Box common = intersect(decomposition.pencil(shape.from, sender), wanted);
    if (common.count() == 0) {
      continue;
    }
    Block block = Block::aligned(common, shape.order, shape.element_bytes, shape.cut, shape.grain, shape.strip);
    block.offset_bytes = offset;
    visit(sender, block, message);
    offset += (block.bytes() + block_alignment - 1) / block_alignment * block_alignment;
    message += static_cast<std::size_t>(block.grains());
  }
  return offset;
}

}  // namespace

Flows make_flows(const Decomposition& decomposition, const FlowShape& shape, int rank, int ranks) {
  Flows flows;
  flows.received_bytes =
      walk_received(decomposition, shape, rank, ranks, [&](int sender, const Block& block, std::size_t message) {
        flows.incoming.push_back({block, message});
        for (std::int64_t grain = 0; grain < block.grains(); ++grain) {
          const std::int64_t begin = block.grain_offset(grain);
          flows.incoming_messages.push_back({.peer = sender,
                                             .offset = static_cast<std::size_t>(block.offset_bytes + begin),
                                             .bytes = static_cast<std::size_t>(block.grain_offset(grain + 1) - begin)});
        }
      });
  // Each rank begins with its right neighbour, so that they do not all write to the same one.
  for (int i = 1; i <= ranks; ++i) {
    const int receiver = (rank + i) % ranks;
    if (intersect(decomposition.pencil(shape.from, rank), decomposition.pencil(shape.to, receiver)).count() == 0) {
      continue;
    }
    walk_received(decomposition, shape, receiver, ranks, [&](int sender, const Block& block, std::size_t message) {
      if (sender != rank) {
        return;
      }
      flows.outgoing.push_back({block, flows.outgoing_messages.size()});
      for (std::int64_t grain = 0; grain < block.grains(); ++grain) {
        const std::int64_t begin = block.grain_offset(grain);
        flows.outgoing_messages.push_back({.peer = receiver,
                                           .offset = static_cast<std::size_t>(block.offset_bytes + begin),
                                           .bytes = static_cast<std::size_t>(block.grain_offset(grain + 1) - begin),
                                           .index = message + static_cast<std::size_t>(grain)});
      }
    });
  }
  return flows;
}

}  // namespace penstock::fft
