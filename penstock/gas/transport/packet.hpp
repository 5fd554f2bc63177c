// Packets of several messages. Of each header a packet has only what differs from the header before. Private to the
// module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/gas/core/message.hpp"

namespace penstock::gas {

/// What a header says, and how long its payload is, as numbers that are mostly those of the message before. Puts of a
/// row differ in their offset and cookie, which takes 8 bytes with the padding where a header has 56: on a network that
/// is slow, bytes of headers are time, and MPI's own take about 30.
class PacketNumbers {
 public:
  static constexpr std::size_t count = 10;
  PacketNumbers() : PacketNumbers({.kind = MessageKind::put}, 0) {}
  PacketNumbers(const Header& header, std::size_t payload_bytes);

  Header header() const noexcept;
  std::size_t payload_bytes() const noexcept;
  std::array<std::uint64_t, count> values;
};

/// Fills memory that it does not own, from a multiple of 8 on.
class PacketWriter {
 public:
  /// What a message takes beside its payload, at most.
  static constexpr std::size_t max_header_bytes = 2 + 10 * PacketNumbers::count + 7;

  PacketWriter() = default;
  explicit PacketWriter(std::span<std::byte> memory) : memory_(memory) {}

  bool is_empty() const noexcept { return bytes_ == 0; }
  std::size_t bytes() const noexcept { return bytes_; }
  bool has_room_for(std::size_t payload_bytes) const noexcept {
    return bytes_ + max_header_bytes + payload_bytes <= memory_.size();
  }
  /// Where there is room. A payload begins at a multiple of 8.
  void append(const Header& header, std::span<const std::byte> payload);

 private:
  std::span<std::byte> memory_;
  std::size_t bytes_ = 0;
  PacketNumbers last_;
};

/// Reads what a writer has written. Throws Error where that is not what it finds.
class PacketReader {
 public:
  struct Message {
    Header header;
    std::span<const std::byte> payload;
  };

  explicit PacketReader(std::span<const std::byte> packet) : packet_(packet) {}
  bool is_at_end() const noexcept { return at_ == packet_.size(); }
  Message next();

 private:
  std::uint64_t number();

  std::span<const std::byte> packet_;
  std::size_t at_ = 0;
  PacketNumbers last_;
};

}  // namespace penstock::gas
