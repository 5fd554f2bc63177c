// Each rank sends to one of another node and receives from one, over the exchanges that plans are made of.
#include "penstock/gas/exchange/network_rates.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/computation.hpp"
#include "penstock/gas/core/team_parts.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

constexpr std::size_t short_bytes = 8;
constexpr std::size_t long_bytes = std::size_t{1} << 20;
constexpr std::size_t parts = 8;
constexpr std::size_t many = 64;

struct Seconds {
  double best = 0;
  double median = 0;
};

/// `count` messages of `bytes` bytes from every rank to the one `distance` above it.
class Shift {
 public:
  /// Collective.
  Shift(const Team& team, Computation& computation, int distance, std::size_t bytes, std::size_t count, Carrier carrier)
      : team_(team),
        computation_(computation),
        to_((team.rank() + distance) % team.size()),
        from_((team.rank() - distance + team.size()) % team.size()),
        count_(count),
        data_(team.is_local(to_) ? bytes : 0),
        segment_(team, bytes * count, 0),
        exchange_(team, segment_, outgoing(bytes), incoming(bytes), carrier) {}

  /// Collective: of the slowest rank, over some rounds. After its messages, a share after each, each rank computes what
  /// takes so long by itself, and `polls` now and then.
  Seconds time(double computation_s, bool polls) {
    polls_ = polls;
    constexpr std::size_t min_rounds = 5;
    constexpr std::size_t max_rounds = 41;
    constexpr double enough_s = 0.015;
    round(computation_s);
    std::vector<double> times_s;
    double sum_s = 0;
    while (times_s.size() < max_rounds && (times_s.size() < min_rounds || sum_s < enough_s)) {
      times_s.push_back(team_.largest(round(computation_s)));
      sum_s += times_s.back();
    }
    std::ranges::sort(times_s);
    return {.best = times_s.front(), .median = times_s[times_s.size() / 2]};
  }

 private:
  std::vector<Outgoing> outgoing(std::size_t bytes) const {
    std::vector<Outgoing> messages;
    for (std::size_t i = 0; i < count_; ++i) {
      messages.push_back({.peer = to_, .offset = i * bytes, .bytes = bytes, .index = i});
    }
    return messages;
  }

  std::vector<Incoming> incoming(std::size_t bytes) const {
    std::vector<Incoming> messages;
    for (std::size_t i = 0; i < count_; ++i) {
      messages.push_back({.peer = from_, .offset = i * bytes, .bytes = bytes});
    }
    return messages;
  }

  double round(double computation_s) {
    team_.barrier();
    const double begin_s = seconds();
    exchange_.open();
    for (std::size_t i = 0; i < count_; ++i) {
      std::byte* const to = exchange_.destination(i);
      std::ranges::copy(data_, to);  // nothing but where it is the peer's memory
      exchange_.send(i);
      compute(computation_s / static_cast<double>(count_));
    }
    for (std::size_t i = 0; i < count_; ++i) {
      exchange_.wait(i);
    }
    exchange_.finish();
    return seconds() - begin_s;
  }

  /// An amount of work, not a time: what drives the network may take the processor away meanwhile.
  void compute(double computation_s) {
    if (computation_s == 0) {
      return;
    }
    constexpr double pause_s = 1e-4;  // between two polls
    const int pause = computation_.units_for(pause_s);
    for (int left = computation_.units_for(computation_s); left > 0; left -= pause) {
      computation_.run(std::min(left, pause));
      if (polls_) {
        exchange_.progress();
      }
    }
  }

  const Team& team_;
  Computation& computation_;
  int to_;
  int from_;
  std::size_t count_;
  std::vector<std::byte> data_;
  Segment segment_;
  Exchange exchange_;
  bool polls_ = true;
};

/// Times of shifts by one distance.
class Shifts {
 public:
  Shifts(const Team& team, int distance) : team_(team), distance_(distance) {}

  /// Collective.
  Seconds time(std::size_t bytes, std::size_t count, Carrier carrier, double computation_s = 0, bool polls = true) {
    return Shift(team_, computation_, distance_, bytes, count, carrier).time(computation_s, polls);
  }

  /// Collective: `gap_s` where a whole message takes `alone_s`.
  double gap_s(Carrier carrier, double alone_s) {
    // Parts at once, and as stages send them, with some work between, which hides what the link does not wait for. What
    // else runs makes either longer.
    const auto gap_beside = [&](double work_s) {
      const double whole_s = work_s > 0 ? time(long_bytes, 1, carrier, work_s).best : alone_s;
      const double in_parts_s = time(long_bytes / parts, parts, carrier, work_s).best;
      return std::max(in_parts_s - whole_s, 0.0) / static_cast<double>(parts - 1);
    };
    const double at_once_s = gap_beside(0);
    return std::min(at_once_s, gap_beside(0.25 * alone_s));
  }

  /// Collective: how long the ranks take for a computation of `alone_s`: longer where they share processors, with a
  /// transfer beside it or not.
  double computed_s(Carrier carrier, double alone_s) { return time(short_bytes, 1, carrier, alone_s).best; }

  /// Collective: what is hidden of a whole message that takes `alone_s` behind a computation that takes `computed_s`.
  double progress(Carrier carrier, double alone_s, double computed_s, bool polls) {
    const double both_s = time(long_bytes, 1, carrier, alone_s, polls).best;
    return std::clamp((computed_s + alone_s - both_s) / alone_s, 0.0, 1.0);
  }

 private:
  const Team& team_;
  int distance_;
  Computation computation_;
};

/// Whether every rank has a processor for a progress thread, and may have one. The same on all.
bool can_have_thread(const Team& team) {
  const std::vector<int>& processors = team.placement().processors;
  const bool has_room = std::ranges::all_of(processors, [](int of_rank) { return of_rank > 1; });
  return has_room && team.all_of(team.allows_threads());
}

NetworkRates measure(const Team& team, const std::vector<int>& nodes) {
  NetworkRates rates{.nodes = std::ssize(std::set<int>(nodes.begin(), nodes.end()))};
  for (const int node : nodes) {
    rates.ranks_per_node = std::max<std::int64_t>(rates.ranks_per_node, std::ranges::count(nodes, node));
  }
  // Consecutive ranks are commonly of one node: those so far away are not.
  const auto distance = static_cast<int>(rates.ranks_per_node);
  Shifts shifts(team, distance);
  rates.latency_s = shifts.time(short_bytes, 1, Carrier::fastest).best;
  rates.overhead_s = std::max(shifts.time(short_bytes, many, Carrier::fastest).best - rates.latency_s, 0.0) /
                     static_cast<double>(many - 1);
  const Seconds whole = shifts.time(long_bytes, 1, Carrier::fastest);
  const Seconds cut = shifts.time(long_bytes, 1, Carrier::packets);
  // That two directions take turns happens to some messages and not to others: the best would not tell of it.
  rates.carrier = cut.median < whole.median ? Carrier::packets : Carrier::fastest;
  const auto rate = [&](const Seconds& time) {
    return static_cast<double>(long_bytes) / std::max(time.best - rates.latency_s, 0.1 * time.best);
  };
  rates.whole_bytes_per_s = rate(whole);
  rates.packets_bytes_per_s = rate(cut);
  const double alone_s = rates.carrier == Carrier::packets ? cut.best : whole.best;
  rates.gap_s = shifts.gap_s(rates.carrier, alone_s);
  const double computed_s = shifts.computed_s(rates.carrier, alone_s);
  rates.progress = shifts.progress(rates.carrier, alone_s, computed_s, true);
  if (can_have_thread(team)) {
    const ProgressThread thread(team);
    rates.thread_progress = shifts.progress(rates.carrier, alone_s, computed_s, false);
  }
  return rates;
}

}  // namespace

std::shared_ptr<const NetworkRates> network_rates_of(const Team& team) {
  auto& rates = team.parts().network_rates;
  if (rates == nullptr && !team.are_all_local()) {
    rates = std::make_shared<const NetworkRates>(measure(team, team.placement().domains));
  }
  return rates;
}

double measure_gap(const Team& team, int distance, Carrier carrier) {
  Shifts shifts(team, distance);
  return shifts.gap_s(carrier, shifts.time(long_bytes, 1, carrier).best);
}

double measure_progress(const Team& team, int distance, Carrier carrier) {
  Shifts shifts(team, distance);
  const double alone_s = shifts.time(long_bytes, 1, carrier).best;
  return shifts.progress(carrier, alone_s, shifts.computed_s(carrier, alone_s), true);
}

machine::Machine with_network(machine::Machine machine, const NetworkRates& rates, Carrier carrier,
                              std::string_view name) {
  const double bandwidth = carrier == Carrier::packets ? rates.packets_bytes_per_s : rates.whole_bytes_per_s;
  machine.count = std::max(machine.count, rates.nodes);
  machine.network =
      machine::Network{.link_bandwidth_bytes_per_s = bandwidth * static_cast<double>(rates.ranks_per_node)};
  machine.transports = {{.name = std::string(name),
                         .progress = rates.progress,
                         .send_overhead_s = rates.overhead_s,
                         .gap_s = rates.gap_s,
                         .pieces = {{.latency_s = rates.latency_s, .bandwidth_bytes_per_s = bandwidth}}}};
  return machine;
}

}  // namespace penstock::gas
