// Collective exchanges give every pair of ranks its block, whatever its length, its layout and where it lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/gas/collective/collectives.hpp"
#include "penstock/gas/core/rank_index.hpp"
#include "tests/gas/elements.hpp"
#include "tests/worlds.hpp"

namespace penstock::gas {
namespace {

using layout::Layout;

/// Element i of what `from` gives to `to`.
std::uint32_t element(int from, int to, std::size_t i) {
  return static_cast<std::uint32_t>(1'000'000 * from + 100'000 * to) + static_cast<std::uint32_t>(i);
}

TEST(CollectiveExchanges, GiveEveryPairItsBlock) {
  on_worlds({1, 2, 3, 4, 8, 11}, [](Team& team) {
    for (const std::size_t count : {0U, 1U, 1000U, 1024U, 1025U, 70'000U}) {
      std::vector<std::uint32_t> values;
      std::vector<std::uint32_t> expected;
      for (int peer = 0; peer < team.size(); ++peer) {
        for (std::size_t i = 0; i < count; ++i) {
          values.push_back(element(team.rank(), peer, i));
          expected.push_back(element(peer, team.rank(), i));
        }
      }
      for (const bool sends_from_segment : {false, true}) {
        for (const bool receives_in_segment : {false, true}) {
          Elements<std::uint32_t> sent(team, values, sends_from_segment);
          Elements<std::uint32_t> place(team, std::vector<std::uint32_t>(values.size()), receives_in_segment);
          for (int repetition = 0; repetition < 2; ++repetition) {
            std::ranges::fill(place.span(), 0);
            start_barrier(team).wait();  // nobody writes while another one still clears
            exchange(team, sent.span(), place.span());
            EXPECT_EQ(copy_of(place.span()), expected) << count << " elements";
          }
        }
      }
    }
  });
}

TEST(CollectiveExchanges, GoOnBehindTheRankThatComesLast) {
  // More steps than are under way at a time, of which each in turn is the last to complete.
  on_worlds({11}, [](Team& team) {
    for (int late = 0; late < team.size(); ++late) {
      std::vector<int> sent(static_cast<std::size_t>(team.size()), team.rank());
      std::vector<int> received(sent.size(), -1);
      start_barrier(team).wait();
      if (team.rank() == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      exchange(team, std::span<const int>(sent), std::span(received));
      for (int peer = 0; peer < team.size(); ++peer) {
        EXPECT_EQ(received[static_cast<std::size_t>(peer)], peer);
      }
    }
  });
}

/// How many elements go from one rank to another: none, few, and more than travel with a header.
std::size_t uneven(int from, int to) {
  return static_cast<std::size_t>(from * 7 + to * 3) % 5 * 700;
}

TEST(CollectiveExchanges, TakeBlocksOfDifferentLengths) {
  on_worlds({1, 2, 3, 4, 8}, [](Team& team) {
    for (const auto& [sends_from_segment, receives_in_segment] :
         {std::pair(false, true), {false, false}, {true, false}, {true, true}}) {
      Elements<std::uint32_t> places(team, std::vector<std::uint32_t>(25'000), receives_in_segment);
      const std::span<std::uint32_t> place = places.span();
      std::vector<std::uint32_t> values;
      for (int peer = 0; peer < team.size(); ++peer) {
        for (std::size_t i = 0; i < uneven(team.rank(), peer); ++i) {
          values.push_back(element(team.rank(), peer, i));
        }
      }
      Elements<std::uint32_t> sent(team, values, sends_from_segment);
      std::size_t sent_offset = 0;
      std::vector<SendBlock> send;
      std::vector<ReceiveBlock> receive;
      std::size_t offset = 0;
      for (int peer = 0; peer < team.size(); ++peer) {
        send.emplace_back(sent.span().subspan(sent_offset, uneven(team.rank(), peer)));
        sent_offset += uneven(team.rank(), peer);
        receive.emplace_back(place.subspan(offset, uneven(peer, team.rank())));
        offset += uneven(peer, team.rank());
      }
      exchange(team, send, receive);
      offset = 0;
      for (int peer = 0; peer < team.size(); ++peer) {
        for (std::size_t i = 0; i < uneven(peer, team.rank()); ++i) {
          ASSERT_EQ(place[offset++], element(peer, team.rank(), i)) << "from " << peer;
        }
      }
    }
  });
}

TEST(CollectiveExchanges, BetweenLayoutsTransposeADistributedMatrix) {
  // Rank r has `rows` rows of a matrix of size() * columns columns, and gets `columns` rows of its transpose.
  on_worlds({1, 2, 3, 5}, [](Team& team) {
    for (const std::int64_t rows : {3, 70}) {
      const std::int64_t columns = 2 * rows / 3;
      const std::int64_t bytes = sizeof(double);
      const std::int64_t width = columns * team.size();
      const std::int64_t height = rows * team.size();
      std::vector<double> values;
      for (std::int64_t i = 0; i < rows * width; ++i) {
        values.push_back(static_cast<double>(team.rank() * rows * width + i));
      }
      for (const auto& [sends_from_segment, receives_in_segment] :
           {std::pair(false, true), {false, false}, {true, false}, {true, true}}) {
        Elements<double> rows_of_matrix(team, values, sends_from_segment);
        Elements<double> places(team, std::vector<double>(static_cast<std::size_t>(columns * height)),
                                receives_in_segment);
        const std::span<double> matrix = rows_of_matrix.span();
        const std::span<double> transposed = places.span();
        std::vector<SendBlock> send;
        std::vector<ReceiveBlock> receive;
        for (int peer = 0; peer < team.size(); ++peer) {
          send.emplace_back(reinterpret_cast<const std::byte*>(matrix.data() + columns * peer),
                            Layout::nest(0, {{{rows, width * bytes}, {columns, bytes}}}, bytes));
          receive.emplace_back(reinterpret_cast<std::byte*>(transposed.data() + rows * peer),
                               Layout::nest(0, {{{rows, bytes}, {columns, height * bytes}}}, bytes));
        }
        for (int repetition = 0; repetition < 2; ++repetition) {
          std::ranges::fill(transposed, -1.0);
          start_barrier(team).wait();  // nobody writes while another one still clears
          exchange(team, send, receive);
          for (std::int64_t column = 0; column < columns; ++column) {
            for (std::int64_t row = 0; row < height; ++row) {
              ASSERT_EQ(transposed[static_cast<std::size_t>(column * height + row)],
                        static_cast<double>(row * width + team.rank() * columns + column));
            }
          }
        }
      }
    }
  });
}

TEST(CollectiveExchanges, SendAndReceiveALayoutOfManyRuns) {
  // Its list is longer than a message that travels in the queues of a node.
  on_worlds({2, 3}, [](Team& team) {
    std::mt19937_64 random(1);
    std::vector<layout::Run> runs;
    std::int64_t at = 0;
    for (int i = 0; i < 2000; ++i) {
      at += static_cast<std::int64_t>(random() % 5 + 1);
      const auto bytes = static_cast<std::int64_t>(random() % 7 + 1);
      runs.push_back({at, bytes});
      at += bytes;
    }
    const Layout scattered = Layout::indexed(runs);
    const auto part = static_cast<std::size_t>(at);
    const auto packed_bytes = static_cast<std::size_t>(scattered.bytes());
    const auto value = [](std::size_t i, int rank) { return static_cast<std::byte>(i % 251 + index(rank)); };
    std::vector<std::byte> packed(packed_bytes);
    std::vector<std::byte> spread(part);
    std::size_t i = 0;
    for (const layout::Run& run : runs) {
      for (std::int64_t k = 0; k < run.bytes; ++k, ++i) {
        packed[i] = spread[static_cast<std::size_t>(run.offset + k)] = value(i, team.rank());
      }
    }
    for (const bool is_sent : {false, true}) {
      for (const bool is_in_segment : {false, true}) {
        Elements<std::byte> sent(team, is_sent ? spread : packed, is_in_segment);
        const std::size_t place_bytes = is_sent ? packed_bytes : part;
        Elements<std::byte> places(team, std::vector<std::byte>(place_bytes * index(team.size())), is_in_segment);
        const Layout contiguous = Layout::contiguous(scattered.bytes());
        std::vector<SendBlock> send(index(team.size()), {sent.span().data(), is_sent ? scattered : contiguous});
        std::vector<ReceiveBlock> receive;
        for (int peer = 0; peer < team.size(); ++peer) {
          receive.emplace_back(places.span().data() + place_bytes * index(peer), is_sent ? contiguous : scattered);
        }
        exchange(team, send, receive);
        for (int peer = 0; peer < team.size(); ++peer) {
          const std::byte* place = places.span().data() + place_bytes * index(peer);
          i = 0;
          for (const layout::Run& run : runs) {
            for (std::int64_t k = 0; k < run.bytes; ++k, ++i) {
              ASSERT_EQ(place[is_sent ? i : static_cast<std::size_t>(run.offset + k)], value(i, peer));
            }
          }
        }
      }
    }
  });
}

TEST(CollectiveExchanges, TakeSegmentsThatSomeRanksHaveNoPartIn) {
  on_worlds({2, 3, 4, 5}, [](Team& team) {
    const Team half = team.split(team.rank() % 2, 0);
    for (const std::size_t count : {2000U, 50'000U}) {
      std::vector<std::uint32_t> values;
      std::vector<std::uint32_t> expected;
      for (int peer = 0; peer < team.size(); ++peer) {
        for (std::size_t i = 0; i < count; ++i) {
          values.push_back(element(team.rank(), peer, i));
          expected.push_back(element(peer, team.rank(), i));
        }
      }
      for (const bool sends_from_segment : {false, true}) {
        Elements<std::uint32_t> sent(half, values, sends_from_segment);
        Elements<std::uint32_t> place(half, std::vector<std::uint32_t>(values.size()), true);
        exchange(team, sent.span(), place.span());
        EXPECT_EQ(copy_of(place.span()), expected);
      }
    }
  });
}

TEST(CollectiveExchanges, TakeSegmentsThatAPeerHasFreed) {
  on_worlds({2, 3, 4}, [](Team& team) {
    const std::size_t count = 30'000 * index(team.size());
    std::optional<Segment> segment(std::in_place, team, count * sizeof(std::uint32_t), 0);
    std::vector<std::uint32_t> plain(count);
    std::span<std::uint32_t> mine = segment->local_as<std::uint32_t>();
    if (team.rank() == 0) {
      segment.reset();
      mine = plain;
    }
    std::ranges::fill(mine, static_cast<std::uint32_t>(team.rank()));
    std::vector<std::uint32_t> received(count);
    exchange(team, mine, std::span(received));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(received[i], i / 30'000);
    }
    exchange(team, received, mine);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(mine[i], static_cast<std::uint32_t>(team.rank()));
    }
  });
}

}  // namespace
}  // namespace penstock::gas
