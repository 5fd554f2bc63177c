#include "penstock/fft/flows.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {
namespace {

// Blocks begin on pairs of cache lines, so that neighbours' stores never share one.
constexpr std::int64_t block_alignment = 128;

/// What is wanted of a receiver's box in part `part`: 0 is all that is not deferred.
Box part_of(Box box, const FlowShape& shape, std::int64_t part) {
  const auto outer = static_cast<std::size_t>(shape.order[0]);
  const std::int64_t early = shape::exchange_parts - shape.deferred_parts;
  const auto begin_of = [&](std::int64_t eighth) { return box.extent[outer] * eighth / shape::exchange_parts; };
  const std::int64_t begin = part == 0 ? 0 : begin_of(early + part - 1);
  const std::int64_t end = begin_of(early + part);
  box.lower[outer] += begin;
  box.extent[outer] = end - begin;
  return box;
}

/// Walks what a rank that wants the box `wanted` receives, in the order in which it lies there: calls
/// `visit(sender, flow)`. Returns the bytes of all.
template <class Visit>
std::int64_t walk_received(const Boxes& from, const Box& wanted, const FlowShape& shape, Visit visit) {
  std::int64_t offset = 0;
  std::size_t message = 0;
  for (std::int64_t part = 0; part <= shape.deferred_parts; ++part) {
    const Box wanted_part = part_of(wanted, shape, part);
    for (std::size_t sender = 0; sender < from.size(); ++sender) {
      const Box common = intersect(from[sender], wanted_part);
      if (common.count() == 0) {
        continue;
      }
      Block block = Block::aligned(common, shape.order, shape.element_bytes);
      block.cut_into_messages(shape.cut, part == 0 ? shape.planes_per_message : 0,
                              from[sender].lower[static_cast<std::size_t>(shape.cut)]);
      block.strip = shape.strip;
      block.offset_bytes = offset;
      visit(static_cast<int>(sender), Flow{.block = block, .part = part, .first_message = message});
      offset += round_up(block.bytes(), block_alignment);
      message += static_cast<std::size_t>(block.messages());
    }
  }
  return offset;
}

}  // namespace

Flows make_flows(const Boxes& from, const Boxes& to, const FlowShape& shape, int rank) {
  const auto ranks = static_cast<int>(from.size());
  const Box& mine = from[static_cast<std::size_t>(rank)];
  Flows flows;
  flows.received_bytes =
      walk_received(from, to[static_cast<std::size_t>(rank)], shape, [&](int sender, const Flow& flow) {
        const Block& block = flow.block;
        flows.incoming.push_back(flow);
        for (std::int64_t message = 0; message < block.messages(); ++message) {
          const std::int64_t begin = block.message_offset(message);
          flows.incoming_messages.push_back(
              {.peer = sender,
               .offset = static_cast<std::size_t>(block.offset_bytes + begin),
               .bytes = static_cast<std::size_t>(block.message_offset(message + 1) - begin)});
        }
      });
  // Each rank begins with its right neighbour, so that they do not all write to the same one.
  for (int i = 1; i <= ranks; ++i) {
    const int receiver = (rank + i) % ranks;
    const Box& wanted = to[static_cast<std::size_t>(receiver)];
    if (intersect(mine, wanted).count() == 0) {
      continue;
    }
    walk_received(from, wanted, shape, [&](int sender, Flow flow) {
      if (sender != rank) {
        return;
      }
      const Block& block = flow.block;
      const std::size_t index = std::exchange(flow.first_message, flows.outgoing_messages.size());
      const std::int64_t planes_before = block.message_origin - mine.lower[static_cast<std::size_t>(shape.cut)];
      flow.first_group =
          static_cast<std::size_t>(block.planes_per_message == 0 ? 0 : planes_before / block.planes_per_message);
      for (std::int64_t message = 0; message < block.messages(); ++message) {
        const std::int64_t begin = block.message_offset(message);
        flows.outgoing_messages.push_back(
            {.peer = receiver,
             .offset = static_cast<std::size_t>(block.offset_bytes + begin),
             .bytes = static_cast<std::size_t>(block.message_offset(message + 1) - begin),
             .index = index + static_cast<std::size_t>(message),
             .wave = flow.part > 0 ? gas::no_wave : flow.first_group + static_cast<std::size_t>(message)});
      }
      flows.outgoing.push_back(flow);
    });
  }
  std::ranges::stable_sort(flows.outgoing, {}, &Flow::part);
  return flows;
}

Flows make_flows_into_arrays(const Boxes& from, const std::vector<Distribution>& to, std::int64_t element_bytes,
                             int rank) {
  const auto ranks = static_cast<int>(from.size());
  const auto block_of = [&](int sender, int receiver) {
    const Distribution& array = to[static_cast<std::size_t>(receiver)];
    return Block::of_array(array, element_bytes).part_of(intersect(from[static_cast<std::size_t>(sender)], array.box));
  };
  const auto bytes_of = [](const Block& block) {
    return static_cast<std::size_t>(block.bytes() - block.gap_bytes -
                                    (block.pitch_bytes - block.box.extent[at(block.order[2])] * block.element_bytes));
  };
  Flows flows;
  for (int sender = 0; sender < ranks; ++sender) {
    if (const Block block = block_of(sender, rank); block.box.count() > 0) {
      flows.incoming_messages.push_back(
          {.peer = sender, .offset = static_cast<std::size_t>(block.offset_bytes), .bytes = bytes_of(block)});
    }
  }
  for (int i = 1; i <= ranks; ++i) {  // not all to the same one first
    const int receiver = (rank + i) % ranks;
    const Block block = block_of(rank, receiver);
    if (block.box.count() == 0) {
      continue;
    }
    std::size_t index = 0;
    for (int sender = 0; sender < rank; ++sender) {
      index += block_of(sender, receiver).box.count() > 0 ? 1 : 0;
    }
    flows.outgoing.push_back({.block = block, .first_message = flows.outgoing_messages.size()});
    flows.outgoing_messages.push_back({.peer = receiver,
                                       .offset = static_cast<std::size_t>(block.offset_bytes),
                                       .bytes = bytes_of(block),
                                       .index = index});
  }
  return flows;
}

}  // namespace penstock::fft
