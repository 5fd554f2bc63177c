// What one rank has recorded, as bytes that travel, and read again on the rank that writes the timeline. Private to the
// module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/timeline/clocks.hpp"

namespace penstock::timeline {

struct Row {
  std::string name;
  std::int64_t dropped = 0;
  std::vector<trace::Event> events;  ///< outer ones before those within them, by the clock of rank 0
};

struct Record {
  std::string host;
  Clock first;
  Clock last;
  std::vector<Row> rows;           ///< that of steps first
  std::vector<std::string> names;  ///< to which events point
};

// Events point to names, which stay where they are as long as a record is moved and not copied.
static_assert(std::is_nothrow_move_constructible_v<Record>);

/// Packs what `recorder` has.
std::vector<std::byte> pack(const trace::Recorder& recorder, const Clock& first, const Clock& last);
/// Reads it again.
Record unpack(std::span<const std::byte> bytes);

/// What a timeline has of the cause of an event.
struct Cause {
  int rank = -1;  ///< -1: none
  std::size_t row = 0;
  const trace::Event* event = nullptr;
};

/// Finds what ended waits. The records must outlive it.
class Causes {
 public:
  explicit Causes(const std::vector<Record>& records);
  /// Of an event of `rank`.
  Cause of(int rank, const trace::Event& event) const;

 private:
  struct Named {
    std::uint64_t id;
    Cause cause;
  };
  std::vector<Named> named_;  // in order of their ids, and of their begins
};

}  // namespace penstock::timeline
