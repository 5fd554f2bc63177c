// The messages between ranks: requests for memory that is not mapped, calls of handlers, and answers. Private to the
// module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/base/base.hpp"

namespace penstock::gas {

/// What a message asks for, or answers.
enum class MessageKind : std::uint16_t {
  put,          ///< payload to `offset` of segment `target`; sets `signal` to `a`, or of 0 raises it; answers `cookie`
                ///< with done
  put_layout,   ///< as put, which raises; the payload is `a` bytes of a layout, and what is to lie in it
  get_layout,   ///< the payload is a layout around `offset`, answered with got
  get,          ///< `bytes` bytes from `offset` of segment `target`, answered with got
  atomic,       ///< `operation` on `offset` of segment `target`, answered with value
  active,       ///< calls handler `operation` of table `target`, with `a`, `b` and `cookie` as its arguments
  active_long,  ///< the same; payload to `offset` of segment `signal`
  collective,   ///< a part of call `cookie` of team `target`; see collective_message.hpp
  done,         ///< answers: nothing to tell, to `a` cookies from `cookie` on; the payload is more such runs
  got,          ///< answers: payload
  value,        ///< answers: `a`
  refused,      ///< answers: the segment is not there any more
};

/// The fixed part of every message; fits into a cache line beside a word of control.
struct Header {
  MessageKind kind;
  std::uint16_t operation = 0;
  std::uint32_t target = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< of the payload, or wanted
  std::uint64_t signal = no_signal;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t cookie = 0;  ///< of what is answered: the asker's number of it, 0 where no answer is wanted

  static constexpr std::uint64_t no_signal = ~std::uint64_t{0};
};
static_assert(sizeof(Header) == 56);

/// Cookies in a row.
struct CookieRun {
  std::uint64_t first;
  std::uint64_t count;
};

/// Payloads up to here travel with their header, copied: 64 lines.
inline constexpr std::size_t max_inline_bytes = 4096;

/// Through networks, payloads up to here travel with their header as well, unasked: two messages in a row cost a way
/// there and back on TCP. (8 KiB each way by 1 Gbit/s and 30 us: 170 us as one message, 240 as two; Open MPI 4.1.4,
/// 2026-11.) Less where thousands of ranks share one memory, as each has packets for every peer that it has written to.
inline constexpr std::size_t max_packet_bytes = is_simulated ? max_inline_bytes : std::size_t{32} << 10;
static_assert(max_packet_bytes >= max_inline_bytes);

/// Takes arriving messages. Called while progress is made, on whichever thread makes it, one at a time.
class Inbox {
 public:
  virtual ~Inbox() = default;
  /// Where a payload that follows its header shall lie: `header.bytes` bytes.
  virtual std::byte* place(int source, const Header& header) = 0;
  /// The message is whole. The payload is only there during the call, or where `place` said.
  virtual void deliver(int source, const Header& header, std::span<const std::byte> payload) = 0;
};

}  // namespace penstock::gas
