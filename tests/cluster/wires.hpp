// When frames arrive that nodes send one another over wires of a given rate and delay through one switch.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::cluster {

using Time = std::chrono::nanoseconds;

/// What a wire gives in each direction.
struct Wire {
  std::int64_t bits_per_s = 0;  ///< 0 is no limit
  Time delay{0};                ///< from one node to another
};

/// How long Ethernet's wire is taken by a frame of `bytes` bytes, header to payload: padded to 60, with 4 bytes of
/// checksum, 8 of preamble and a gap of 12.
inline std::int64_t wire_bytes(std::size_t bytes) {
  return static_cast<std::int64_t>(std::max<std::size_t>(bytes, 60)) + 24;
}

/// The same for what a network card would cut into frames of at most `max_payload` bytes behind `headers` bytes each.
inline std::int64_t wire_bytes(std::size_t headers, std::size_t payload, std::size_t max_payload) {
  const std::size_t full = payload / max_payload;
  const std::size_t rest = payload % max_payload;
  return static_cast<std::int64_t>(full) * wire_bytes(headers + max_payload) +
         (rest > 0 || full == 0 ? wire_bytes(headers + rest) : 0);
}

/// The wires of all nodes, as a plan of when each is free. A frame takes the sender's wire and the receiver's at once,
/// as in a switch that does not store what it can pass on, and arrives whole, the delay later. What finds the
/// receiver's wire taken waits in the switch; a sender that has let as much wait there as the switch stores is paused,
/// so that nothing is lost.
class Wires {
 public:
  Wires(Wire wire, std::size_t nodes) : wire_(wire), out_free_(nodes), in_free_(nodes) {}

  /// From when on the node may send on.
  Time free_at(std::size_t from) const { return out_free_[from]; }

  /// Sends a frame of so many `bytes` of the wire, or some in a row, onto the node's wire, at `now` or when that is
  /// free; returns when.
  Time leave(std::size_t from, std::int64_t bytes, Time now) {
    const Time begin = std::max(now, out_free_[from]);
    out_free_[from] = begin + duration(bytes);
    return begin;
  }

  /// Passes on to a node what left at `begin`; returns when it arrives. Times at one node do not decrease.
  Time arrive(std::size_t from, std::size_t to, std::int64_t bytes, Time begin) {
    const Time end = std::max(begin, in_free_[to]) + duration(bytes);
    in_free_[to] = end;
    out_free_[from] = std::max(out_free_[from], end - stored());
    return end + wire_.delay;
  }

 private:
  /// What the switch stores of frames to one node, as time of the wire.
  Time stored() const { return wire_.bits_per_s == 0 ? Time::max() : bits(stored_bytes * 8); }
  Time duration(std::int64_t bytes) const { return wire_.bits_per_s == 0 ? Time(0) : bits(bytes * 8); }
  Time bits(std::int64_t count) const { return Time(count * 1'000'000'000 / wire_.bits_per_s); }

  /// Of the order of small switches' buffers for a port.
  static constexpr std::int64_t stored_bytes = 128 * 1024;

  Wire wire_;
  std::vector<Time> out_free_;
  std::vector<Time> in_free_;
};

}  // namespace penstock::cluster
