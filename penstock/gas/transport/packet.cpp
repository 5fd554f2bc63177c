#include "penstock/gas/transport/packet.hpp"

#include <algorithm>
#include <cstring>

#include "penstock/base/base.hpp"

namespace penstock::gas {
namespace {

// A message is a word of one bit for each number that differs, then these differences, seven bits in a byte; then,
// where there is one, the payload, from the next multiple of `payload_alignment` on.
using Differs = std::uint16_t;

constexpr std::size_t payload_alignment = 8;

/// Small numbers for small differences of both signs.
constexpr std::uint64_t fold(std::uint64_t difference) {
  return difference << 1 ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
}

constexpr std::uint64_t unfold(std::uint64_t folded) {
  return folded >> 1 ^ ((folded & 1) != 0 ? ~std::uint64_t{0} : 0);
}

}  // namespace

// Most payloads are as long as their header says: what is told is by how much they are not.
PacketNumbers::PacketNumbers(const Header& header, std::size_t payload_bytes)
    : values{static_cast<std::uint64_t>(header.kind),
             header.operation,
             header.target,
             header.offset,
             header.bytes,
             header.signal,
             header.a,
             header.b,
             header.cookie,
             payload_bytes - header.bytes} {}

Header PacketNumbers::header() const noexcept {
  return {.kind = static_cast<MessageKind>(values[0]),
          .operation = static_cast<std::uint16_t>(values[1]),
          .target = static_cast<std::uint32_t>(values[2]),
          .offset = values[3],
          .bytes = values[4],
          .signal = values[5],
          .a = values[6],
          .b = values[7],
          .cookie = values[8]};
}

std::size_t PacketNumbers::payload_bytes() const noexcept {
  return values[4] + values[9];
}

void PacketWriter::append(const Header& header, std::span<const std::byte> payload) {
  PENSTOCK_ASSERT(has_room_for(payload.size()));
  const PacketNumbers numbers(header, payload.size());
  std::byte* const begin = memory_.data() + bytes_;
  std::byte* to = begin + sizeof(Differs);
  Differs differs = 0;
  for (std::size_t i = 0; i < PacketNumbers::count; ++i) {
    if (numbers.values[i] != last_.values[i]) {
      differs |= static_cast<Differs>(1U << i);
      std::uint64_t rest = fold(numbers.values[i] - last_.values[i]);
      for (; rest >= 0x80; rest >>= 7) {
        *to++ = static_cast<std::byte>(rest | 0x80);
      }
      *to++ = static_cast<std::byte>(rest);
    }
  }
  std::memcpy(begin, &differs, sizeof differs);
  last_ = numbers;
  bytes_ = static_cast<std::size_t>(to - memory_.data());
  if (!payload.empty()) {
    std::fill(to, memory_.data() + round_up(bytes_, payload_alignment), std::byte{0});
    bytes_ = round_up(bytes_, payload_alignment);
    std::memcpy(memory_.data() + bytes_, payload.data(), payload.size());
    bytes_ += payload.size();
  }
}

std::uint64_t PacketReader::number() {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == packet_.size()) {
      break;
    }
    const auto byte = static_cast<std::uint64_t>(packet_[at_++]);
    number |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      return number;
    }
  }
  throw Error("a packet of another rank ends within a number: do all ranks run the same version?");
}

PacketReader::Message PacketReader::next() {
  Differs differs = 0;
  if (packet_.size() - at_ < sizeof differs) {
    throw Error("a packet of another rank ends within a header: do all ranks run the same version?");
  }
  std::memcpy(&differs, packet_.data() + at_, sizeof differs);
  at_ += sizeof differs;
  for (std::size_t i = 0; i < PacketNumbers::count; ++i) {
    if ((differs >> i & 1U) != 0) {
      last_.values[i] += unfold(number());
    }
  }
  Message message{.header = last_.header(), .payload = {}};
  if (const std::size_t bytes = last_.payload_bytes(); bytes > 0) {
    at_ = std::min(round_up(at_, payload_alignment), packet_.size());
    if (bytes > packet_.size() - at_) {
      throw Error("a packet of another rank ends within a payload: do all ranks run the same version?");
    }
    message.payload = packet_.subspan(at_, bytes);
    at_ += bytes;
  }
  return message;
}

}  // namespace penstock::gas
