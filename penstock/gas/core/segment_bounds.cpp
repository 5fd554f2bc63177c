// What a transfer is told that names memory or a signal which the peer has not.
#include <fmt/format.h>

#include "penstock/gas/core/segment_state.hpp"

namespace penstock::gas {

const Segment::State::PeerSegment& Segment::State::check(const char* what, const void* here, int peer,
                                                         std::size_t offset, const layout::Layout& layout,
                                                         std::int64_t bytes) const {
  if (layout.bytes() != bytes) {
    throw Error(fmt::format("{} between {} bytes here and {} bytes on rank {}: they must be equal", what, bytes,
                            layout.bytes(), peer));
  }
  const PeerSegment& part = part_of(what, peer);
  const auto below = static_cast<std::int64_t>(offset);
  const auto above = static_cast<std::int64_t>(part.bytes - offset);
  if (offset > part.bytes || layout.lower_bound() < -below || layout.upper_bound() > above) {
    refuse_range(
        what, here, peer, offset,
        {.lower = layout.lower_bound(), .upper = layout.upper_bound(), .bytes = static_cast<std::uint64_t>(bytes)});
  }
  return part;
}

void Segment::State::refuse_rank(const char* what, int peer) const {
  throw Error(fmt::format("{} names rank {}, and the team has {}", what, peer, parts.size()));
}

void Segment::State::refuse_range(const char* what, const void* here, int peer, std::size_t offset,
                                  const Bounds& bounds) const {
  const PeerSegment& part = parts[static_cast<std::size_t>(peer)];
  const std::uintptr_t there = part.address + offset;
  throw Error(fmt::format(
      "{} of {} bytes{}{:#x} to {:#x} of rank {} (offset {}) does not fit into that rank's part of the segment, "
      "which has {} bytes at {:#x} to {:#x}",
      what, bounds.bytes, here != nullptr ? fmt::format(" between {} here and ", here) : " at ",
      there + static_cast<std::uintptr_t>(bounds.lower), there + static_cast<std::uintptr_t>(bounds.upper), peer,
      offset, part.bytes, part.address, part.address + part.bytes));
}

void Segment::State::refuse_signal(int peer, std::size_t signal) const {
  throw Error(fmt::format("signal {} of rank {} is not there: that part of the segment has {} signals", signal, peer,
                          parts[static_cast<std::size_t>(peer)].signals));
}

}  // namespace penstock::gas
