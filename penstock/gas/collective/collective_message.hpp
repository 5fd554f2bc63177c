// The messages that the ranks of a collective call exchange, and their coding in headers. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "penstock/gas/collective/schedule.hpp"
#include "penstock/gas/core/message.hpp"

namespace penstock::gas {

/// What a message of a call says about the step of its sender.
enum class Phase : std::uint8_t {
  whole,    ///< data: the payload, all of it
  offered,  ///< of the sender: read the data where they lie, in a segment or, without one, in its process; payload:
            ///< their layout
  taken,    ///< of the receiver: that is done
  refused,  ///< of the receiver: that segment is not mapped there, so that the data must be sent
  ready,    ///< of the receiver: send what goes in pieces; payload: the layout of its place
  piece,    ///< data: the payload is what begins at `offset`
  placed,   ///< data: it lies in its place already
  failed,   ///< the call has failed; payload: why
  revoked,  ///< the team has been revoked; payload: why; in place of the call what Transport::completed was
};

/// Whether the step that the message is for is a send.
constexpr bool is_for_sender(Phase phase) noexcept {
  return phase == Phase::ready || phase == Phase::taken || phase == Phase::refused;
}

/// Whether it brings data, or tells that they are there.
constexpr bool is_data(Phase phase) noexcept {
  return phase == Phase::whole || phase == Phase::piece || phase == Phase::placed;
}

/// The header of such a message, taken apart.
struct CollectiveMessage {
  Phase phase;
  CollectiveKind kind;
  int root = 0;
  std::uint32_t calls = 0;    ///< the team, by the number that the target has for its calls
  std::uint64_t call = 0;     ///< the number of the call on that team
  int source = 0;             ///< rank of the team
  std::uint32_t ordinal = 0;  ///< of the steps between source and target in that direction
  std::uint64_t offset = 0;   ///< of a piece; of a place in `segment`; else of offered data their address
  std::uint32_t segment = 0;  ///< of a place which the target reaches; 0 where there is none
  std::uint64_t tells = 0;    ///< for a sender: the length that is expected of it; else Step::tells
  std::size_t payload_bytes = 0;

  Header header() const noexcept {
    return {.kind = MessageKind::collective,
            .operation = static_cast<std::uint16_t>(static_cast<unsigned>(phase) << 8 | static_cast<unsigned>(kind)),
            .target = calls,
            .offset = offset,
            .bytes = payload_bytes,
            .signal = pair_of(static_cast<std::uint32_t>(root), segment),
            .a = pair_of(static_cast<std::uint32_t>(source), ordinal),
            .b = tells,
            .cookie = call};
  }

  static CollectiveMessage of(const Header& header) noexcept {
    return {.phase = static_cast<Phase>(header.operation >> 8),
            .kind = static_cast<CollectiveKind>(header.operation & 0xff),
            .root = static_cast<int>(header.signal >> 32),
            .calls = header.target,
            .call = header.cookie,
            .source = static_cast<int>(header.a >> 32),
            .ordinal = static_cast<std::uint32_t>(header.a),
            .offset = header.offset,
            .segment = static_cast<std::uint32_t>(header.signal),
            .tells = header.b,
            .payload_bytes = header.bytes};
  }

 private:
  static constexpr std::uint64_t pair_of(std::uint32_t high, std::uint32_t low) noexcept {
    return static_cast<std::uint64_t>(high) << 32 | low;
  }
};

}  // namespace penstock::gas
