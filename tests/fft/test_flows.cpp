// What ranks send and what they receive in an exchange fit together, and what is deferred is what the receiver reads
// last.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "penstock/fft/block.hpp"
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

/// The place of each element of `box` in a block, from its parts.
std::map<Extents, std::int64_t> places_of(const Block& block, const Box& box) {
  std::map<Extents, std::int64_t> places;
  for (const BlockPart& part : parts_of_block(block, box)) {
    std::array<std::vector<std::int64_t>, 3> offsets{{{0}, {0}, {0}}};  // by direction, of each index
    for (std::size_t d = 0; d < 3; ++d) {
      for (const layout::Level& level : part.levels[d]) {
        const std::vector<std::int64_t> outer = std::exchange(offsets[d], {});
        for (const std::int64_t begin : outer) {
          for (std::int64_t i = 0; i < level.extent; ++i) {
            offsets[d].push_back(begin + i * level.stride);
          }
        }
      }
      EXPECT_EQ(std::ssize(offsets[d]), part.box.extent[d]);
    }
    for (std::size_t i = 0; i < offsets[0].size(); ++i) {
      for (std::size_t j = 0; j < offsets[1].size(); ++j) {
        for (std::size_t k = 0; k < offsets[2].size(); ++k) {
          const Extents index{part.box.lower[0] + static_cast<std::int64_t>(i),
                              part.box.lower[1] + static_cast<std::int64_t>(j),
                              part.box.lower[2] + static_cast<std::int64_t>(k)};
          const std::int64_t place = part.offset_bytes + offsets[0][i] + offsets[1][j] + offsets[2][k];
          EXPECT_TRUE(places.emplace(index, place).second) << "an element lies in two parts";
        }
      }
    }
  }
  EXPECT_EQ(std::ssize(places), box.count());
  return places;
}

// A plane along order[0] has 16 rows of 4 KiB, cut into messages or not.
TEST(Block, HoldsEachElementOnceInItsMessageAndParts) {
  constexpr std::array order{1, 0, 2};
  const Box box{{3, 7, 100}, {16, 6, 256}};
  const Box part{{6, 8, 131}, {9, 4, 77}};
  for (const int cut : {order[0], order[1]}) {
    for (const std::int64_t planes : {0, 1, 4, 5, 16}) {
      for (const std::int64_t strip : {0, 32}) {
        SCOPED_TRACE(testing::Message() << "cut " << cut << " planes " << planes << " strip " << strip);
        Block block = Block::aligned(box, order, 16);
        block.cut_into_messages(cut, planes, box.lower[static_cast<std::size_t>(cut)]);
        block.strip = strip;
        const std::map<Extents, std::int64_t> places = places_of(block, box);
        std::set<std::int64_t> used;
        for (const auto& [index, place] : places) {
          EXPECT_TRUE(used.insert(place).second) << "two elements lie at one place";
          const std::int64_t message = block.message_of(index[static_cast<std::size_t>(cut)]);
          EXPECT_GE(place, block.message_offset(message));
          EXPECT_LE(place + 16, block.message_offset(message + 1));
        }
        for (const auto& [index, place] : places_of(block, part)) {
          EXPECT_EQ(place, places.at(index));
        }
      }
    }
  }
}

TEST(Block, HasGapsWhereIndicesWouldShareASetOfTheCache) {
  constexpr std::array order{1, 0, 2};
  const auto stride_of = [&](std::int64_t rows, std::int64_t elements, int cut, std::int64_t planes) {
    Block block = Block::aligned({{0, 0, 0}, {rows, 3, elements}}, order, 16);
    block.cut_into_messages(cut, planes, 0);
    const std::map<Extents, std::int64_t> places = places_of(block, block.box);
    return places.at({0, 1, 0}) - places.at({0, 0, 0});
  };
  EXPECT_EQ(stride_of(16, 256, 1, 0), (64 << 10) + 512);
  EXPECT_EQ(stride_of(64, 256, 0, 16), (64 << 10) + 512);    // a message has 16 rows of each index
  EXPECT_EQ(stride_of(17, 272, 0, 0), 17 * 272 * 16 + 512);  // 256 bytes behind whole sets
  EXPECT_EQ(stride_of(17, 244, 0, 0), 17 * 244 * 16);        // 832 bytes
  EXPECT_EQ(stride_of(15, 256, 1, 0), 60 << 10);             // few pages
  EXPECT_EQ(stride_of(64, 256, 0, 4), 16 << 10);
}

}  // namespace
}  // namespace penstock::fft
