// The time of a message as a function of its length: T(N) = T_l + N / B, in segments (the lecture of seed 1, eq. 5.1).
#pragma once

#include <span>
#include <vector>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// The time, one way, of a message of `bytes` bytes.
struct MessageTime {
  double bytes;
  double time_s;
};

/// T(N) = latency + N / bandwidth, for messages between two lengths (the lecture of seed 1, "ping-pong").
struct PingPongSegment {
  double first_bytes = 0;
  double last_bytes = 0;
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;

  double time_s(double bytes) const noexcept { return latency_s + bytes / bandwidth_bytes_per_s; }
  /// N1/2 of the same source: the length at which half of the bandwidth is reached.
  double half_bytes() const noexcept { return latency_s * bandwidth_bytes_per_s; }
  /// Whether the latency is above 0 and the bandwidth one that a machine may have: not where times fall with the
  /// length, or hardly grow, by noise.
  bool is_meaningful() const noexcept {
    constexpr double max_bytes_per_s = 1e15;
    return latency_s > 0 && bandwidth_bytes_per_s > 0 && bandwidth_bytes_per_s < max_bytes_per_s;
  }
};

struct PingPongFit {
  std::vector<PingPongSegment> segments;  ///< by length; none for fewer than two times
  double relative_error = 0;              ///< root mean square of the relative errors of the fitted times
};

/// Fits one line by least squares of the relative errors, or up to `max_segments` lines where each further one brings
/// the error down to two thirds or less. Where there are several, each is fitted to three times or more, and is
/// meaningful.
PingPongFit fit_ping_pong(std::vector<MessageTime> times, int max_segments);

/// The piece that holds for messages of `bytes` bytes. `pieces` are those of a transport, and not empty.
const machine::MessagePiece& piece_of(std::span<const machine::MessagePiece> pieces, double bytes) noexcept;

/// The time of a message of `bytes` bytes, by its piece.
double message_time_s(std::span<const machine::MessagePiece> pieces, double bytes) noexcept;

/// The factor by which the effective bandwidth of messages of N = `bytes` grows when the bandwidth grows by `factor`:
/// (1 + N / N1/2) / (1 + N / (factor N1/2)). `half_bytes` is N1/2 before that.
double gain_of_bandwidth(double bytes, double half_bytes, double factor) noexcept;

/// The same when the latency is divided by `factor`: (1 + N / N1/2) / (1 / factor + N / N1/2).
double gain_of_latency(double bytes, double half_bytes, double factor) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
