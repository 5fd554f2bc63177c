#include "penstock/probe/message_costs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/computation.hpp"
#include "penstock/probe/signal_barrier.hpp"

namespace penstock::probe {
namespace {

constexpr std::size_t short_bytes = 8;
constexpr std::size_t long_bytes = std::size_t{1} << 20;
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

/// `count` messages of `bytes` bytes each way between the first two ranks, none of the others'.
class Pair {
 public:
  /// Collective.
  Pair(const gas::Team& team, std::size_t bytes, std::size_t count)
      : rank_(team.rank()),
        bytes_(bytes),
        count_(count),
        is_local_(rank_ < 2 && team.is_local(1 - rank_)),
        data_(rank_ < 2 ? bytes : 0),
        segment_(team, rank_ < 2 ? bytes * count : 0, 0),
        exchange_(team, segment_, outgoing(), incoming()) {}

  std::size_t count() const noexcept { return count_; }

  void open() { exchange_.open(); }
  /// Sends one message: writes it to the peer's memory, or sends the buffer that holds it.
  void send(std::size_t message) {
    std::byte* const to = exchange_.destination(message);
    if (is_local_) {
      std::memcpy(to, data_.data(), bytes_);
    }
    exchange_.send(message);
  }
  void receive(std::size_t message) { exchange_.wait(message); }
  void finish() { exchange_.finish(); }

 private:
  std::vector<gas::Outgoing> outgoing() const {
    std::vector<gas::Outgoing> messages;
    for (std::size_t i = 0; rank_ < 2 && i < count_; ++i) {
      messages.push_back({.peer = 1 - rank_, .offset = i * bytes_, .bytes = bytes_, .index = i});
    }
    return messages;
  }
  std::vector<gas::Incoming> incoming() const {
    std::vector<gas::Incoming> messages;
    for (std::size_t i = 0; rank_ < 2 && i < count_; ++i) {
      messages.push_back({.peer = 1 - rank_, .offset = i * bytes_, .bytes = bytes_});
    }
    return messages;
  }

  int rank_;
  std::size_t bytes_;
  std::size_t count_;
  bool is_local_;
  std::vector<std::byte> data_;
  gas::Segment segment_;
  gas::Exchange exchange_;
};

/// Seconds of one repetition, by sample, the first two not counted; `once(rank)` is one repetition and says the time.
template <class Once>
std::vector<double> sample_pair(int rank, SignalBarrier& barrier, int samples, int repeats, const Once& once) {
  std::vector<double> samples_s;
  for (int i = -2; i < samples; ++i) {
    barrier.wait();
    double time_s = 0;
    for (int k = 0; k < repeats; ++k) {
      time_s += once();
    }
    if (i >= 0 && rank < 2) {
      samples_s.push_back(time_s / repeats);
    }
  }
  return samples_s;
}

/// All messages there, and as many back.
double there_and_back(Pair& pair, int rank) {
  const double begin_s = seconds();
  pair.open();
  const auto send_all = [&] {
    for (std::size_t i = 0; i < pair.count(); ++i) {
      pair.send(i);
    }
  };
  const auto receive_all = [&] {
    for (std::size_t i = 0; i < pair.count(); ++i) {
      pair.receive(i);
    }
  };
  rank == 0 ? send_all() : receive_all();
  rank == 0 ? receive_all() : send_all();
  pair.finish();
  return seconds() - begin_s;
}

/// Both at once, with a computation between what is sent and the wait for what comes.
double exchange_beside(Pair& pair, const std::function<void()>& compute) {
  const double begin_s = seconds();
  pair.open();
  pair.send(0);
  compute();
  pair.receive(0);
  pair.finish();
  return seconds() - begin_s;
}

}  // namespace

TransportCosts measure_message_costs(const gas::Team& team, const CalibrationOptions& options) {
  if (team.size() < 2) {
    throw Error("messages go between two ranks, and the team has one: use --ranks 2, or mpirun -n 2");
  }
  const int rank = team.rank();
  const bool takes_part = rank < 2;
  TransportCosts figures;
  SignalBarrier barrier(team, 2);
  for (const std::size_t bytes : sizes) {
    Pair pair(team, bytes, 1);
    if (takes_part) {
      auto times_s = sample_pair(rank, barrier, options.samples, messages_of_a_sample(bytes),
                                 [&] { return there_and_back(pair, rank) / 2; });
      figures.times.push_back({.bytes = bytes, .time_s = time_of(std::move(times_s))});
    }
    team.barrier();
  }
  constexpr int repeats = 32;
  {
    Pair pair(team, short_bytes, 1);
    // Long after the message has come, and the other waits no less.
    const double pause_s = takes_part ? std::max(10 * figures.times.front().time_s.median, 2e-5) : 0;
    double send_s = 0;
    double receive_s = 0;
    const auto once = [&](bool wants_send) {
      pair.open();
      double begin_s = seconds();
      pair.send(0);
      send_s = seconds() - begin_s;
      pass(pause_s);
      begin_s = seconds();
      pair.receive(0);
      receive_s = seconds() - begin_s;
      pair.finish();
      return wants_send ? send_s : receive_s;
    };
    if (takes_part) {
      figures.send_overhead_s =
          time_of(sample_pair(rank, barrier, options.samples, repeats, [&] { return once(true); }));
      figures.receive_overhead_s =
          time_of(sample_pair(rank, barrier, options.samples, repeats, [&] { return once(false); }));
    }
    team.barrier();
  }
  {
    constexpr std::size_t many = 64;
    Pair pair(team, short_bytes, many);
    if (takes_part) {
      std::vector<double> gaps_s;
      for (const double time_s :
           sample_pair(rank, barrier, options.samples, 4, [&] { return there_and_back(pair, rank) / 2; })) {
        const double first_s = figures.times.front().time_s.best;
        gaps_s.push_back(std::max(time_s - first_s, 0.0) / static_cast<double>(many - 1));
      }
      figures.gap_s = time_of(std::move(gaps_s));
    }
    team.barrier();
  }
  {
    Pair pair(team, long_bytes, 1);
    if (takes_part) {
      Computation computation;
      const auto time = [&](const std::function<void()>& compute) {
        const auto once = [&] { return exchange_beside(pair, compute); };
        return time_of(sample_pair(rank, barrier, options.samples, 1, once)).median;
      };
      const double alone_s = time([] {});
      // Work and not a time: what drives the network may take the processor away meanwhile.
      const double both_s = time([&, units = computation.units_for(alone_s)] { computation.run(units); });
      figures.progress = std::clamp((2 * alone_s - both_s) / alone_s, 0.0, 1.0);
    }
    team.barrier();
  }
  return figures;
}

}  // namespace penstock::probe
