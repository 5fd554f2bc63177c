#include "penstock/timeline/clocks.hpp"

#include <algorithm>
#include <limits>

namespace penstock::timeline {
namespace {

// A round trip takes some 50 us over TCP: some milliseconds a node.
constexpr int round_trips = 50;

/// Answers a rank with the time of this one.
void serve(gas::Segment& segment, int rank, const std::function<double()>& clock) {
  for (int i = 1; i <= round_trips; ++i) {
    segment.wait(static_cast<std::size_t>(rank), static_cast<std::uint64_t>(i));
    const double now_s = clock();
    segment.put_signal(gas::Pointer<double>{rank, 0}, std::span(&now_s, 1), 0);
  }
}

/// Asks rank 0 for its time.
double ask(gas::Segment& segment, int rank, const std::function<double()>& clock) {
  double offset_s = 0;
  double fastest_s = std::numeric_limits<double>::max();
  for (int i = 1; i <= round_trips; ++i) {
    const double begin_s = clock();
    segment.notify(0, static_cast<std::size_t>(rank));
    segment.wait(0, static_cast<std::uint64_t>(i));
    const double end_s = clock();
    if (end_s - begin_s < fastest_s) {
      fastest_s = end_s - begin_s;
      offset_s = segment.local_as<double>()[0] - (begin_s + end_s) / 2;
    }
  }
  return offset_s;
}

}  // namespace

Clock compare_clocks(const gas::Team& team, const std::vector<int>& nodes, const std::function<double()>& clock) {
  const int mine = nodes[static_cast<std::size_t>(team.rank())];
  if (std::ranges::all_of(nodes, [](int node) { return node == 0; })) {
    return {.at_s = clock(), .offset_s = 0};
  }
  return team.run_or_revoke([&] {
    gas::Segment segment(team, sizeof(double), static_cast<std::size_t>(team.size()));
    double offset_s = 0;
    for (int rank = 1; rank < team.size(); ++rank) {
      if (nodes[static_cast<std::size_t>(rank)] != rank) {
        continue;
      }
      if (team.rank() == 0) {
        serve(segment, rank, clock);
      } else if (team.rank() == rank) {
        offset_s = ask(segment, rank, clock);
      }
    }
    const auto offsets = team.all_gather(offset_s);
    team.barrier();  // nobody puts into the segment any more
    return Clock{.at_s = clock(), .offset_s = offsets[static_cast<std::size_t>(mine)]};
  });
}

double offset_at(double time_s, const Clock& first, const Clock& last) {
  const double between_s = last.at_s - first.at_s;
  const double slope = between_s > 0 ? (last.offset_s - first.offset_s) / between_s : 0;
  return first.offset_s + slope * (time_s - first.at_s);
}

}  // namespace penstock::timeline
