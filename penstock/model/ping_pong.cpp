// Fits of the time of a message over its length.
#include "penstock/model/ping_pong.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace penstock::model {
namespace {

/// What is least in the sum of squared relative errors: small messages count as much as large ones.
PingPongSegment fit_line(std::span<const MessageTime> times) {
  double s = 0;
  double s_n = 0;
  double s_nn = 0;
  double s_t = 0;
  double s_nt = 0;
  for (const auto& [bytes, time_s] : times) {
    const double weight = 1 / (time_s * time_s);
    s += weight;
    s_n += weight * bytes;
    s_nn += weight * bytes * bytes;
    s_t += weight * time_s;
    s_nt += weight * bytes * time_s;
  }
  const double determinant = s * s_nn - s_n * s_n;
  PingPongSegment segment{.first_bytes = times.front().bytes, .last_bytes = times.back().bytes};
  const double per_byte_s = determinant > 0 ? (s * s_nt - s_n * s_t) / determinant : 0;
  segment.latency_s = (s_t - per_byte_s * s_n) / s;
  segment.bandwidth_bytes_per_s = per_byte_s > 0 ? 1 / per_byte_s : std::numeric_limits<double>::infinity();
  return segment;
}

double squared_errors(const PingPongSegment& segment, std::span<const MessageTime> times) {
  double sum = 0;
  for (const auto& [bytes, time_s] : times) {
    const double relative = (segment.time_s(bytes) - time_s) / time_s;
    sum += relative * relative;
  }
  return sum;
}

}  // namespace

PingPongFit fit_ping_pong(std::vector<MessageTime> times, int max_segments) {
  constexpr std::size_t fewest_in_segment = 3;
  PingPongFit fit;
  if (times.size() < 2) {
    return fit;
  }
  std::ranges::sort(times, {}, &MessageTime::bytes);
  const std::span<const MessageTime> all(times);
  // More lines always fit better than fewer, noise as well: they have to be worth it, here two thirds of the error.
  constexpr double worth_it = 4.0 / 9.0;
  // The best fits of the first times with one segment less, each then continued by one more.
  struct Partial {
    double errors = std::numeric_limits<double>::infinity();
    std::vector<PingPongSegment> segments;
  };
  std::vector<Partial> before(all.size() + 1);
  for (std::size_t end = 2; end <= all.size(); ++end) {
    before[end].segments = {fit_line(all.first(end))};
    before[end].errors = squared_errors(before[end].segments[0], all.first(end));
  }
  Partial best = before.back();
  for (Partial& partial : before) {
    if (!partial.segments.empty() && !partial.segments[0].is_meaningful()) {
      partial.errors = std::numeric_limits<double>::infinity();
    }
  }
  for (int segments = 2; segments <= max_segments; ++segments) {
    std::vector<Partial> now(all.size() + 1);
    for (std::size_t end = fewest_in_segment; end <= all.size(); ++end) {
      for (std::size_t cut = fewest_in_segment; cut + fewest_in_segment <= end; ++cut) {
        const std::span<const MessageTime> part = all.subspan(cut, end - cut);
        const PingPongSegment segment = fit_line(part);
        const double errors = before[cut].errors + squared_errors(segment, part);
        if (errors < now[end].errors && segment.is_meaningful()) {
          now[end] = {errors, before[cut].segments};
          now[end].segments.push_back(segment);
        }
      }
    }
    best = now.back().errors < worth_it * best.errors ? now.back() : best;
    before = std::move(now);
  }
  fit.segments = best.segments;
  fit.relative_error = std::sqrt(best.errors / static_cast<double>(times.size()));
  return fit;
}

const machine::MessagePiece& piece_of(std::span<const machine::MessagePiece> pieces, double bytes) noexcept {
  const machine::MessagePiece* holds = &pieces.front();
  for (const machine::MessagePiece& piece : pieces) {
    if (static_cast<double>(piece.from_bytes) <= bytes) {
      holds = &piece;
    }
  }
  return *holds;
}

double message_time_s(std::span<const machine::MessagePiece> pieces, double bytes) noexcept {
  const machine::MessagePiece& piece = piece_of(pieces, bytes);
  return piece.latency_s + bytes / piece.bandwidth_bytes_per_s;
}

double gain_of_bandwidth(double bytes, double half_bytes, double factor) noexcept {
  return (1 + bytes / half_bytes) / (1 + bytes / (factor * half_bytes));
}

double gain_of_latency(double bytes, double half_bytes, double factor) noexcept {
  return (1 + bytes / half_bytes) / (1 / factor + bytes / half_bytes);
}

}  // namespace penstock::model
