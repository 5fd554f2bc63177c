#include "penstock/fft/flows.hpp"

namespace penstock::fft {
namespace {

// Blocks begin on pairs of cache lines, so that neighbours' stores never share one.
constexpr std::int64_t block_alignment = 128;

/// Walks what `receiver` receives, in the order in which it lies there: calls `visit(sender, block, first_message)`.
/// Returns the bytes of all.
template <class Visit>
std::int64_t walk_received(const Boxes& from, const Box& wanted, const FlowShape& shape, Visit visit) {
  std::int64_t offset = 0;
  std::size_t message = 0;
  for (std::size_t sender = 0; sender < from.size(); ++sender) {
    const Box common = intersect(from[sender], wanted);
    if (common.count() == 0) {
      continue;
    }
    Block block = Block::aligned(common, shape.order, shape.element_bytes);
    block.cut_into_grains(shape.cut, shape.grain, from[sender].lower[static_cast<std::size_t>(shape.cut)]);
    block.strip = shape.strip;
    block.offset_bytes = offset;
    visit(static_cast<int>(sender), block, message);
    offset += (block.bytes() + block_alignment - 1) / block_alignment * block_alignment;
    message += static_cast<std::size_t>(block.grains());
  }
  return offset;
}

}  // namespace

Flows make_flows(const Boxes& from, const Boxes& to, const FlowShape& shape, int rank) {
  const auto ranks = static_cast<int>(from.size());
  const Box& mine = from[static_cast<std::size_t>(rank)];
  Flows flows;
  flows.received_bytes = walk_received(
      from, to[static_cast<std::size_t>(rank)], shape, [&](int sender, const Block& block, std::size_t message) {
        flows.incoming.push_back({.block = block, .first_message = message});
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
    const Box& wanted = to[static_cast<std::size_t>(receiver)];
    if (intersect(mine, wanted).count() == 0) {
      continue;
    }
    walk_received(from, wanted, shape, [&](int sender, const Block& block, std::size_t message) {
      if (sender != rank) {
        return;
      }
      const std::int64_t planes_before = block.grain_origin - mine.lower[static_cast<std::size_t>(shape.cut)];
      flows.outgoing.push_back(
          {.block = block,
           .first_message = flows.outgoing_messages.size(),
           .first_grain = static_cast<std::size_t>(shape.grain == 0 ? 0 : planes_before / shape.grain)});
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
