// Messages come out of a packet as they went in, and short: whatever their headers say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "penstock/gas/transport/packet.hpp"
#include "tests/fails_with.hpp"

namespace penstock::gas {
namespace {

struct Sample {
  Header header;
  std::vector<std::byte> payload;
};

/// Numbers of all lengths; often that of the message before.
Sample random_sample(std::mt19937_64& random, const Header& before) {
  const auto draw = [&](std::uint64_t last) -> std::uint64_t {
    switch (random() % 4) {
      case 0:
        return last;
      case 1:
        return last + random() % 100 - 50;
      default:
        return random() >> random() % 64;
    }
  };
  Sample sample{.header = {.kind = static_cast<MessageKind>(random() % 12),
                           .operation = static_cast<std::uint16_t>(draw(before.operation)),
                           .target = static_cast<std::uint32_t>(draw(before.target)),
                           .offset = draw(before.offset),
                           .bytes = draw(before.bytes),
                           .signal = draw(before.signal),
                           .a = draw(before.a),
                           .b = draw(before.b),
                           .cookie = draw(before.cookie)},
                .payload = std::vector<std::byte>(random() % 3 == 0 ? 0 : random() % 300)};
  std::ranges::generate(sample.payload, [&] { return static_cast<std::byte>(random()); });
  return sample;
}

TEST(Packet, GivesBackWhatItWasGiven) {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    std::vector<std::byte> memory(4000);
    PacketWriter writer(memory);
    std::vector<Sample> samples;
    for (Header before{};; before = samples.back().header) {
      Sample sample = random_sample(random, before);
      if (!writer.has_room_for(sample.payload.size())) {
        break;
      }
      writer.append(sample.header, sample.payload);
      samples.push_back(std::move(sample));
    }
    ASSERT_GT(samples.size(), 5U);
    PacketReader reader(std::span<const std::byte>(memory).first(writer.bytes()));
    for (const Sample& sample : samples) {
      ASSERT_FALSE(reader.is_at_end());
      const PacketReader::Message message = reader.next();
      EXPECT_EQ(std::memcmp(&message.header, &sample.header, sizeof(Header)), 0);
      EXPECT_TRUE(std::ranges::equal(message.payload, sample.payload));
      EXPECT_EQ((message.payload.empty() ? 0 : message.payload.data() - memory.data()) % 8, 0);
    }
    EXPECT_TRUE(reader.is_at_end());
  }
}

TEST(Packet, TellsARowOfPutsInEightBytesEach) {
  constexpr std::size_t bytes = 512;
  std::vector<std::byte> memory(std::size_t{32} << 10);
  const std::vector<std::byte> payload(bytes);
  PacketWriter writer(memory);
  std::size_t after_first = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    writer.append({.kind = MessageKind::put, .target = 3, .offset = i * bytes, .bytes = bytes, .cookie = 1000 + i},
                  payload);
    after_first = i == 0 ? writer.bytes() : after_first;
  }
  EXPECT_LE(after_first, bytes + 16);
  EXPECT_EQ(writer.bytes() - after_first, 39 * (bytes + 8));
}

TEST(Packet, RefusesOneThatIsCutOff) {
  std::vector<std::byte> memory(1000);
  PacketWriter writer(memory);
  writer.append({.kind = MessageKind::put, .offset = ~std::uint64_t{0} >> 2, .bytes = 100},
                std::vector<std::byte>(100));
  for (std::size_t bytes = 1; bytes < writer.bytes(); ++bytes) {
    PacketReader reader(std::span<const std::byte>(memory).first(bytes));
    EXPECT_TRUE(fails_with({"do all ranks run the same version"}, [&] { reader.next(); })) << bytes;
  }
}

}  // namespace
}  // namespace penstock::gas
