// The time of a message over its length: T(N) = T_l + N / B, in segments (the lecture of seed 1, eq. 5.1).
#pragma once

#include <span>
#include <vector>

#include "penstock/machine/machine.hpp"

namespace penstock::model {

/// How long a message of so many bytes takes, one way.
struct MessageTime {
  double bytes;
  double time_s;
};

/// T(N) = latency + N / bandwidth for messages between two lengths (the lecture of seed 1, "ping-pong").
struct PingPongSegment {
  double first_bytes = 0;
  double last_bytes = 0;
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;

  double time_s(double bytes) const noexcept { return latency_s + bytes / bandwidth_bytes_per_s; }
  /// N1/2 of the same source: the length at which half of the bandwidth is reached.
  double half_bytes() const noexcept { return latency_s * bandwidth_bytes_per_s; }
};

struct PingPongFit {
  std::vector<PingPongSegment> segments;  ///< by length; none for fewer than two times
  double relative_error = 0;              ///< root of the mean square, of the times fitted
};

/// Fits one line, so that the squares of the relative errors are least; or up to `max_segments` where each more brings
/// the error down to two thirds at most: of three lengths or more each, all with a latency and a bandwidth.
PingPongFit fit_ping_pong(std::vector<MessageTime> times, int max_segments);

/// The piece that holds for messages of `bytes`. `pieces` are a transport's, not empty.
const machine::MessagePiece& piece_of(std::span<const machine::MessagePiece> pieces, double bytes) noexcept;

/// What a message of `bytes` takes by that piece.
double message_time_s(std::span<const machine::MessagePiece> pieces, double bytes) noexcept;

/// How many times the effective bandwidth of messages of `bytes` grows where the bandwidth grows by `factor`, N1/2
/// having been `half_bytes`: (1 + N / N1/2) / (1 + N / (factor N1/2)).
double gain_of_bandwidth(double bytes, double half_bytes, double factor) noexcept;

/// The same where the latency is divided by `factor`: (1 + N / N1/2) / (1 / factor + N / N1/2).
double gain_of_latency(double bytes, double half_bytes, double factor) noexcept;

}  // namespace penstock::model
