#include "penstock/lab/latency/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/probe/probe.hpp"

#if PENSTOCK_HAS_MPI
#include <mpi.h>
#endif

namespace penstock::lab {
namespace {

constexpr std::size_t max_bytes_under_way = std::size_t{64} << 20;

/// A window of messages: `count` of `bytes` to each of ranks 1 to `peers`.
struct Window {
  std::size_t bytes;
  std::size_t count;
  int peers;
};

class Flood {
 public:
  virtual ~Flood() = default;
  virtual const char* name() const = 0;
  /// Of rank 0: returns when all has arrived.
  virtual void send(const Window& window) = 0;
  /// Of the peers.
  virtual void receive(const Window&) {}
};

class Copies final : public Flood {
 public:
  Copies(gas::Segment& segment, std::span<const std::byte> data) : segment_(segment), data_(data) {}
  const char* name() const override { return "copy"; }
  void send(const Window& window) override {
    for (std::size_t i = 0; i < window.count; ++i) {
      for (int peer = 1; peer <= window.peers; ++peer) {
        std::memcpy(segment_.address_at(peer) + i * window.bytes, data_.data() + i * window.bytes, window.bytes);
      }
    }
  }

 private:
  gas::Segment& segment_;
  std::span<const std::byte> data_;
};

class Puts final : public Flood {
 public:
  Puts(gas::Segment& segment, std::span<const std::byte> data) : segment_(segment), data_(data) {}
  const char* name() const override { return "put"; }
  void send(const Window& window) override {
    for (std::size_t i = 0; i < window.count; ++i) {
      for (int peer = 1; peer <= window.peers; ++peer) {
        const std::size_t offset = i * window.bytes;
        events_.push_back(segment_.start_put(gas::Pointer<>{peer, offset}, data_.subspan(offset, window.bytes)).remote);
      }
    }
    gas::wait_all(events_);
    events_.clear();
  }

 private:
  gas::Segment& segment_;
  std::span<const std::byte> data_;
  std::vector<gas::Event> events_;
};

#if PENSTOCK_HAS_MPI
class Sends final : public Flood {
 public:
  Sends(gas::Segment& segment, std::span<const std::byte> data) : segment_(segment), data_(data) {}
  const char* name() const override { return "MPI_Isend"; }
  void send(const Window& window) override {
    for (std::size_t i = 0; i < window.count; ++i) {
      for (int peer = 1; peer <= window.peers; ++peer) {
        MPI_Isend(data_.data() + i * window.bytes, static_cast<int>(window.bytes), MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                  &requests_.emplace_back());
      }
    }
    finish();
    for (int peer = 1; peer <= window.peers; ++peer) {  // each tells that all is there
      MPI_Recv(nullptr, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  void receive(const Window& window) override {
    for (std::size_t i = 0; i < window.count; ++i) {
      MPI_Irecv(segment_.local().data() + i * window.bytes, static_cast<int>(window.bytes), MPI_BYTE, 0, 0,
                MPI_COMM_WORLD, &requests_.emplace_back());
    }
    finish();
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  }

 private:
  void finish() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  gas::Segment& segment_;
  std::span<const std::byte> data_;
  std::vector<MPI_Request> requests_;
};
#endif

BandwidthResult summed_up(const Flood& flood, const Window& window, std::vector<double> times_s) {
  const probe::Summary summary = probe::summary_of(std::move(times_s));
  const double bytes = static_cast<double>(window.bytes * window.count) * window.peers;
  return {.way = flood.name(),
          .bytes = window.bytes,
          .peers = window.peers,
          .window = static_cast<int>(window.count),
          .best_bytes_per_s = bytes / summary.min_s,
          .median_bytes_per_s = bytes / summary.median_s};
}

}  // namespace

std::vector<BandwidthResult> measure_bandwidth(const gas::Team& team, const BandwidthOptions& options) {
  if (team.size() < 2) {
    throw Error("bandwidth is measured between ranks, and the team has one: use --ranks 2, or mpirun -n 2");
  }
  const auto count_of = [&](std::size_t bytes) {
    return std::clamp<std::size_t>(max_bytes_under_way / bytes, 1, static_cast<std::size_t>(options.window));
  };
  std::size_t max_bytes = 0;
  for (const std::size_t bytes : options.sizes) {
    max_bytes = std::max(max_bytes, bytes * count_of(bytes));
  }
  gas::Segment segment(team, max_bytes, 0);
  Memory data;
  team.together([&] { data = Memory(max_bytes); });
  const std::span<const std::byte> sent(data.data(), data.size());
  std::vector<std::unique_ptr<Flood>> floods;
  if (team.all_of(team.are_all_local())) {
    floods.push_back(std::make_unique<Copies>(segment, sent));
  }
  floods.push_back(std::make_unique<Puts>(segment, sent));
#if PENSTOCK_HAS_MPI
  if (options.has_mpi) {
    floods.push_back(std::make_unique<Sends>(segment, sent));
  }
#endif
  std::vector<int> peer_counts{1};
  if (team.size() > 2) {
    peer_counts.push_back(team.size() - 1);
  }
  std::vector<BandwidthResult> results;
  int number = 0;
  for (const int peers : peer_counts) {
    probe::SignalBarrier barrier(team, peers + 1);
    for (const std::size_t bytes : options.sizes) {
      if (team.rank() > peers) {
        continue;
      }
      ++number;
      if (team.rank() == 0 && options.progress) {
        options.progress(fmt::format("{} bytes to {} peers", bytes, peers), number,
                         static_cast<int>(peer_counts.size() * options.sizes.size()));
      }
      const Window window{.bytes = bytes, .count = count_of(bytes), .peers = peers};
      std::vector<std::vector<double>> times_s(floods.size());
      for (int round = -2; round < options.rounds; ++round) {  // the first two warm up
        for (std::size_t turn = 0; turn < floods.size(); ++turn) {
          // Each in turn begins: whose cache holds the peer's memory depends on who wrote there last.
          const std::size_t i = (turn + static_cast<std::size_t>(round + 2)) % floods.size();
          barrier.wait();
          const double begin_s = seconds();
          team.rank() == 0 ? floods[i]->send(window) : floods[i]->receive(window);
          const double time_s = seconds() - begin_s;
          barrier.wait();
          if (round >= 0) {
            times_s[i].push_back(time_s);
          }
        }
      }
      if (team.rank() == 0) {
        for (std::size_t i = 0; i < floods.size(); ++i) {
          results.push_back(summed_up(*floods[i], window, std::move(times_s[i])));
        }
      }
    }
    team.barrier();
  }
  return results;
}

}  // namespace penstock::lab
