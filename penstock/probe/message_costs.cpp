#include "penstock/probe/message_costs.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/probe/signal_barrier.hpp"

namespace penstock::probe {
namespace {

constexpr std::size_t short_bytes = 8;
constexpr std::array<std::size_t, 12> sizes{8,      64,     512,    2048,    8192,    32768,
                                            131072, 262144, 524288, 1 << 20, 4 << 20, 16 << 20};

int messages_of_a_sample(std::size_t bytes) {
  return bytes <= 8192 ? 32 : bytes <= 262144 ? 8 : 1;
}

/// Passes the time without a poll of what arrives.
void pass(double time_s) {
  const double begin_s = seconds();
  while (seconds() - begin_s < time_s) {
    relax();
  }
}

/// A message of `bytes` bytes each way between two ranks.
class Pair {
 public:
  /// Collective, over a team of two.
  Pair(const gas::Team& team, std::size_t bytes)
      : data_(team.is_local(1 - team.rank()) ? bytes : 0),
        segment_(team, bytes, 0),
        exchange_(team, segment_, {{.peer = 1 - team.rank(), .offset = 0, .bytes = bytes, .index = 0}},
                  {{.peer = 1 - team.rank(), .offset = 0, .bytes = bytes}}) {}

  void open() { exchange_.open(); }
  /// Writes the message to the peer's memory, or sends the buffer that holds it.
  void send() {
    std::byte* const to = exchange_.destination(0);
    std::ranges::copy(data_, to);  // nothing but where it is the peer's memory
    exchange_.send(0);
  }
  void receive() { exchange_.wait(0); }
  void finish() { exchange_.finish(); }

 private:
  std::vector<std::byte> data_;
  gas::Segment segment_;
  gas::Exchange exchange_;
};

/// Seconds of one repetition, by sample, the first two not counted; `once()` is one repetition and says the time.
template <class Once>
std::vector<double> sample_pair(SignalBarrier& barrier, int samples, int repeats, const Once& once) {
  std::vector<double> samples_s;
  for (int i = -2; i < samples; ++i) {
    barrier.wait();
    double time_s = 0;
    for (int k = 0; k < repeats; ++k) {
      time_s += once();
    }
    if (i >= 0) {
      samples_s.push_back(time_s / repeats);
    }
  }
  return samples_s;
}

/// A message there, and one back.
double there_and_back(Pair& pair, int rank) {
  const double begin_s = seconds();
  pair.open();
  if (rank == 0) {
    pair.send();
    pair.receive();
  } else {
    pair.receive();
    pair.send();
  }
  pair.finish();
  return seconds() - begin_s;
}

/// Collective, over a team of two.
TransportCosts measure(const gas::Team& team, const CalibrationOptions& options) {
  TransportCosts costs;
  SignalBarrier barrier(team, 2);
  for (const std::size_t bytes : sizes) {
    Pair pair(team, bytes);
    auto times_s = sample_pair(barrier, options.samples, messages_of_a_sample(bytes),
                               [&] { return there_and_back(pair, team.rank()) / 2; });
    costs.times.push_back({.bytes = bytes, .time_s = time_of(std::move(times_s))});
  }
  Pair pair(team, short_bytes);
  // Long after the message has come, and the other waits no less.
  const double pause_s = std::max(10 * costs.times.front().time_s.median, 2e-5);
  const auto once = [&](bool wants_send) {
    pair.open();
    double begin_s = seconds();
    pair.send();
    const double send_s = seconds() - begin_s;
    pass(pause_s);
    begin_s = seconds();
    pair.receive();
    const double receive_s = seconds() - begin_s;
    pair.finish();
    return wants_send ? send_s : receive_s;
  };
  constexpr int repeats = 32;
  costs.send_overhead_s = time_of(sample_pair(barrier, options.samples, repeats, [&] { return once(true); }));
  costs.receive_overhead_s = time_of(sample_pair(barrier, options.samples, repeats, [&] { return once(false); }));

  std::vector<double> gaps_s;
  for (int i = 0; i < std::max(options.samples / 8, 1); ++i) {
    gaps_s.push_back(gas::measure_gap(team, 1, gas::Carrier::fastest));
  }
  costs.gap_s = time_of(std::move(gaps_s));
  costs.progress = gas::measure_progress(team, 1, gas::Carrier::fastest);
  return costs;
}

}  // namespace

TransportCosts measure_message_costs(const gas::Team& team, const CalibrationOptions& options) {
  if (team.size() < 2) {
    throw Error("messages go between two ranks, and the team has one: use --ranks 2, or mpirun -n 2");
  }
  const bool takes_part = team.rank() < 2;
  const gas::Team pair = team.split(takes_part ? 0 : 1, team.rank());
  TransportCosts costs;
  if (takes_part) {
    costs = measure(pair, options);
  }
  team.barrier();
  return costs;
}

}  // namespace penstock::probe
