#include "penstock/timeline/timeline.hpp"

#include <algorithm>
#include <cstring>

#include "penstock/timeline/records.hpp"
#include "penstock/timeline/trace_events.hpp"

namespace penstock::timeline {
namespace {

constexpr std::int64_t max_events = std::int64_t{1} << 20;
constexpr std::int64_t max_thread_events = std::int64_t{1} << 18;
constexpr std::int64_t min_thread_events = std::int64_t{1} << 12;

std::int64_t share_of_thread(int ranks, int threads) {
  return std::clamp(max_events / (std::int64_t{ranks} * threads), min_thread_events, max_thread_events);
}

/// Collective: what each rank gives, on rank 0.
std::vector<std::vector<std::byte>> gather(const gas::Team& team, const std::vector<std::byte>& mine) {
  std::vector<std::vector<std::byte>> all;
  gas::Segment segment(team, mine.size(), 0);
  std::ranges::copy(mine, segment.local().begin());
  team.barrier();
  if (team.rank() == 0) {
    for (int rank = 0; rank < team.size(); ++rank) {
      auto& bytes = all.emplace_back(segment.bytes_of(rank));
      segment.get(gas::Pointer<std::byte>{rank, 0}, bytes);
    }
  }
  team.barrier();
  return all;
}

}  // namespace

Timeline::Timeline(const gas::Team& team, int threads)
    : team_(team),
      recorder_(share_of_thread(team.size(), threads), team.rank()),
      begun_(compare_clocks(team, team.placement().nodes, seconds)) {}

Collected Timeline::collect(const Heading& heading, std::string_view step) {
  const Clock ended = compare_clocks(team_, team_.placement().nodes, seconds);
  return team_.run_or_revoke([&] {
    std::vector<Record> records;
    for (const std::vector<std::byte>& bytes : gather(team_, pack(recorder_, begun_, ended))) {
      Record record = unpack(bytes);
      record.host = team_.placement().names[records.size()];
      records.push_back(std::move(record));
    }
    return records.empty() ? Collected() : write_trace_events(records, heading, step);
  });
}

}  // namespace penstock::timeline
