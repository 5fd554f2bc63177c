#include "penstock/lab/exchange/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/computation.hpp"
#include "penstock/probe/probe.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::lab {
namespace {

/// Where the blocks of one size lie: of every rank in order, in both.
struct Blocks {
  std::span<std::byte> sent;
  std::span<std::byte> received;
  std::size_t bytes;
};

class ExchangeBackend {
 public:
  virtual ~ExchangeBackend() = default;
  virtual const char* name() const = 0;
  virtual bool can_be_begun() const { return true; }
  virtual void start(const Blocks& blocks) = 0;
  /// Between start and wait: moves it on.
  virtual void poll() = 0;
  virtual void wait() = 0;
};

class TeamExchange final : public ExchangeBackend {
 public:
  explicit TeamExchange(const gas::Team& team) : team_(team) {}
  const char* name() const override { return "exchange"; }
  void start(const Blocks& blocks) override { event_ = gas::start_exchange(team_, blocks.sent, blocks.received); }
  void poll() override { static_cast<void>(event_.test()); }
  void wait() override { event_.wait(); }

 private:
  const gas::Team& team_;
  gas::Event event_;
};

#if PENSTOCK_HAS_MPI
class Alltoall final : public ExchangeBackend {
 public:
  const char* name() const override { return "MPI_Alltoall"; }
  bool can_be_begun() const override { return false; }
  void start(const Blocks& blocks) override {
    const int bytes = static_cast<int>(blocks.bytes);
    MPI_Alltoall(blocks.sent.data(), bytes, MPI_BYTE, blocks.received.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  void poll() override {}
  void wait() override {}
};

class Ialltoall final : public ExchangeBackend {
 public:
  const char* name() const override { return "MPI_Ialltoall"; }
  void start(const Blocks& blocks) override {
    const int bytes = static_cast<int>(blocks.bytes);
    MPI_Ialltoall(blocks.sent.data(), bytes, MPI_BYTE, blocks.received.data(), bytes, MPI_BYTE, MPI_COMM_WORLD,
                  &request_);
  }
  void poll() override {
    int is_done = 0;
    MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE);
  }
  void wait() override { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};
#endif

int exchanges_of_a_sample(std::size_t bytes) {
  return bytes <= 4096 ? 32 : bytes <= 65536 ? 8 : 1;
}

/// What lies at the first and the last bytes of a block, so that a wrong block or length is seen.
std::byte mark(int from, int to, std::size_t bytes) {
  return static_cast<std::byte>(static_cast<std::size_t>(1 + 7 * from + 31 * to) + bytes);
}

/// One rank's part in the benchmark of one size.
class ExchangeBench {
 public:
  ExchangeBench(const gas::Team& team, const ExchangeOptions& options, probe::SignalBarrier& barrier,
                Computation& computation)
      : team_(team), options_(options), barrier_(barrier), computation_(computation) {}

  /// Collective: throws Error on every rank where the way does not deliver.
  void verify(ExchangeBackend& way, const Blocks& blocks) {
    const auto edges = [&](int peer) {
      const std::size_t first = static_cast<std::size_t>(peer) * blocks.bytes;
      return std::pair(first, first + blocks.bytes - 1);
    };
    for (int peer = 0; peer < team_.size(); ++peer) {
      const auto [first, last] = edges(peer);
      blocks.sent[first] = blocks.sent[last] = mark(team_.rank(), peer, blocks.bytes);
      blocks.received[first] = blocks.received[last] = std::byte{0};
    }
    team_.barrier();
    way.start(blocks);
    way.wait();
    team_.together([&] {
      for (int peer = 0; peer < team_.size(); ++peer) {
        const auto [first, last] = edges(peer);
        const std::byte expected = mark(peer, team_.rank(), blocks.bytes);
        if (blocks.received[first] != expected || blocks.received[last] != expected) {
          throw Error(fmt::format("{} of {} bytes brought rank {} wrong data from rank {}", way.name(), blocks.bytes,
                                  team_.rank(), peer));
        }
      }
    });
  }

  /// Samples of `times` ways by turns, each taken by `measure(i)` in seconds; by way, of the slowest rank each. Before
  /// each, every rank makes its data and looks at what it received, as programs do.
  template <class Measure>
  std::vector<std::vector<double>> sample(const Blocks& blocks, std::size_t times, int rounds, const Measure& measure) {
    std::vector<double> mine;
    for (int round = -2; round < rounds; ++round) {  // the first two warm up
      for (std::size_t i = 0; i < times; ++i) {
        touch(blocks);
        barrier_.wait();
        const double time_s = measure(i);
        if (round >= 0) {
          mine.push_back(time_s);
        }
      }
    }
    std::vector<double> slowest(mine.size());
    gas::all_reduce(team_, mine, std::span(slowest), gas::Maximum());
    std::vector<std::vector<double>> by_way(times);
    for (std::size_t i = 0; i < slowest.size(); ++i) {
      by_way[i % times].push_back(slowest[i]);
    }
    return by_way;
  }

  ExchangeResult timed(ExchangeBackend& way, const Blocks& blocks, const std::vector<double>& samples_s) {
    const probe::Summary summary = probe::summary_of(samples_s);
    ExchangeResult result{.way = way.name(),
                          .bytes = blocks.bytes,
                          .samples = static_cast<int>(samples_s.size()),
                          .min_s = summary.min_s,
                          .median_s = summary.median_s,
                          .p99_s = summary.p99_s,
                          .overlap = std::nullopt};
    if (way.can_be_begun()) {
      result.overlap = overlap(way, blocks, summary.median_s);
    }
    return result;
  }

 private:
  /// One exchange, one computation of its length, and both at once, by turns.
  Overlap overlap(ExchangeBackend& way, const Blocks& blocks, double exchange_s) {
    const int units = computation_.units_for(exchange_s);
    const int steps = std::clamp(options_.polls + 1, 1, units);
    const auto compute = [&](bool is_beside) {
      for (int step = 0; step < steps; ++step) {
        computation_.run(units * (step + 1) / steps - units * step / steps);
        if (is_beside && step < steps - 1) {
          way.poll();
        }
      }
    };
    std::unique_ptr<gas::ProgressThread> thread;
    if (options_.has_progress_thread && dynamic_cast<TeamExchange*>(&way) != nullptr) {
      thread = std::make_unique<gas::ProgressThread>(team_);
    }
    const auto samples_s =
        sample(blocks, 3, std::max(5, probe::rounds_of(blocks.bytes, options_.rounds) / 2), [&](std::size_t what) {
          const double begin_s = seconds();
          if (what != 1) {
            way.start(blocks);
          }
          if (what != 0) {
            compute(what == 2);
          }
          if (what != 1) {
            way.wait();
          }
          return seconds() - begin_s;
        });
    return {.exchange_s = probe::summary_of(samples_s[0]).median_s,
            .computation_s = probe::summary_of(samples_s[1]).median_s,
            .total_s = probe::summary_of(samples_s[2]).median_s};
  }

  void touch(const Blocks& blocks) {
    std::ranges::fill(blocks.sent, static_cast<std::byte>(++touched_));
    unsigned sum = 0;
    for (const std::byte byte : blocks.received) {
      sum += static_cast<unsigned>(byte);
    }
    sink_ = sum;
  }

  const gas::Team& team_;
  const ExchangeOptions& options_;
  probe::SignalBarrier& barrier_;
  Computation& computation_;
  unsigned touched_ = 0;
  volatile unsigned sink_ = 0;
};

}  // namespace

std::vector<ExchangeResult> measure_exchange(const gas::Team& team, const ExchangeOptions& options) {
  if (team.size() < 2) {
    throw Error("an exchange is measured between ranks, and the team has one: use --ranks 2, or mpirun -n 2");
  }
  const std::size_t max_bytes =
      (options.sizes.empty() ? 0 : std::ranges::max(options.sizes)) * static_cast<std::size_t>(team.size());
  team.require_memory(fmt::format("an exchange between {} ranks", team.size()), 2 * max_bytes, 0);
  gas::Segment segment(team, 2 * max_bytes, 0);
  std::vector<std::unique_ptr<ExchangeBackend>> ways;
  ways.push_back(std::make_unique<TeamExchange>(team));
#if PENSTOCK_HAS_MPI
  if (options.has_mpi) {
    ways.push_back(std::make_unique<Alltoall>());
    ways.push_back(std::make_unique<Ialltoall>());
  }
#endif
  probe::SignalBarrier barrier(team, team.size());
  Computation computation;
  ExchangeBench bench(team, options, barrier, computation);
  std::vector<ExchangeResult> results;
  int number = 0;
  for (const std::size_t bytes : options.sizes) {
    ++number;
    if (options.progress) {
      options.progress(fmt::format("{} bytes", bytes), number, static_cast<int>(options.sizes.size()));
    }
    const std::size_t all = bytes * static_cast<std::size_t>(team.size());
    const Blocks blocks{
        .sent = segment.local().subspan(max_bytes, all), .received = segment.local().first(all), .bytes = bytes};
    for (const auto& way : ways) {
      bench.verify(*way, blocks);
    }
    const int repeats = exchanges_of_a_sample(bytes);
    const auto samples_s =
        bench.sample(blocks, ways.size(), probe::rounds_of(bytes, options.rounds), [&](std::size_t way) {
          const double begin_s = seconds();
          for (int i = 0; i < repeats; ++i) {
            ways[way]->start(blocks);
            ways[way]->wait();
          }
          return (seconds() - begin_s) / repeats;
        });
    for (std::size_t i = 0; i < ways.size(); ++i) {
      results.push_back(bench.timed(*ways[i], blocks, samples_s[i]));
    }
  }
  team.barrier();
  return results;
}

}  // namespace penstock::lab
