// What ranks send and what they receive in an exchange fit together, and what is deferred is what the receiver reads
// last.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "penstock/fft/decomposition.hpp"
#include "penstock/fft/flows.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::fft {
namespace {

constexpr int ranks = 6;
constexpr std::int64_t planes_per_message = 3;

/// From y-pencils, sent plane by plane of z, to z-pencils, read plane by plane of x.
Flows flows_of(std::int64_t deferred_parts, int rank) {
  const Decomposition field({21, 10, 17}, {2, 3});
  const FlowShape shape{.order = {0, 2, 1},
                        .cut = 2,
                        .planes_per_message = planes_per_message,
                        .deferred_parts = deferred_parts,
                        .strip = 4,
                        .element_bytes = 16};
  return make_flows(field.pencils(1), field.pencils(2), shape, rank);
}

TEST(Flows, OfSendersAreThoseOfReceivers) {
  for (std::int64_t deferred = 0; deferred < shape::exchange_parts; ++deferred) {
    std::map<std::pair<int, int>, std::vector<std::size_t>> sent;  // by sender and receiver: indices of messages
    for (int rank = 0; rank < ranks; ++rank) {
      for (const gas::Outgoing& message : flows_of(deferred, rank).outgoing_messages) {
        const gas::Incoming expected = flows_of(deferred, message.peer).incoming_messages[message.index];
        EXPECT_EQ(expected.peer, rank);
        EXPECT_EQ(expected.offset, message.offset);
        EXPECT_EQ(expected.bytes, message.bytes);
        sent[{rank, message.peer}].push_back(message.index);
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const Flows flows = flows_of(deferred, rank);
      std::size_t end = 0;
      std::map<std::pair<int, int>, std::vector<std::size_t>> received;
      for (std::size_t i = 0; i < flows.incoming_messages.size(); ++i) {
        const gas::Incoming& message = flows.incoming_messages[i];
        EXPECT_GE(message.offset, end);  // none overlaps the one before
        end = message.offset + message.bytes;
        received[{message.peer, rank}].push_back(i);
      }
      EXPECT_LE(end, static_cast<std::size_t>(flows.received_bytes));
      for (const auto& [pair, indices] : received) {
        EXPECT_EQ(sent[pair], indices);  // and in the same order
      }
    }
  }
}

TEST(Flows, AreDeferredWhereTheyHoldThePlanesThatAreReadLast) {
  for (std::int64_t deferred = 0; deferred < shape::exchange_parts; ++deferred) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Box wanted = Decomposition({21, 10, 17}, {2, 3}).pencils(2)[static_cast<std::size_t>(rank)];
      const Flows flows = flows_of(deferred, rank);
      std::int64_t points = 0;
      const std::int64_t first_deferred =
          wanted.lower[0] + wanted.extent[0] * (shape::exchange_parts - deferred) / shape::exchange_parts;
      for (const Flow& flow : flows.incoming) {
        const Box& box = flow.block.box;
        points += box.count();
        if (flow.part == 0) {
          EXPECT_LE(box.lower[0] + box.extent[0], first_deferred);
          EXPECT_EQ(flow.block.messages(), divide_up(box.extent[2], planes_per_message));
        } else {
          EXPECT_GE(box.lower[0], first_deferred);
          EXPECT_EQ(flow.block.messages(), 1);
        }
      }
      EXPECT_EQ(points, wanted.count());
      for (std::size_t i = 1; i < flows.outgoing.size(); ++i) {
        EXPECT_LE(flows.outgoing[i - 1].part, flows.outgoing[i].part);
      }
      EXPECT_EQ(flows.outgoing.back().part, deferred);
    }
  }
}

}  // namespace
}  // namespace penstock::fft
