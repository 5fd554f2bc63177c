#include "penstock/model/fft_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/transport.hpp"

namespace penstock::model {
namespace {

using machine::Machine;
using machine::Transport;

/// What a rank holds of the field at each stage, the largest one.
struct Stage {
  double points;        ///< complex ones, or halves of real ones
  std::int64_t length;  ///< of its transforms
};

std::array<Stage, 3> stages_of(const Fft& fft, std::int64_t ty, std::int64_t tz) {
  const std::int64_t nx = fft.is_real ? fft.size[0] / 2 + 1 : fft.size[0];
  const std::int64_t ny = fft.size[1];
  const std::int64_t nz = fft.size[2];
  const auto points = [&](std::int64_t n, std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(n) * static_cast<double>(rows) * static_cast<double>(columns * fft.fields);
  };
  return {{{points(nx, divide_up(ny, ty), divide_up(nz, tz)), fft.size[0]},
           {points(ny, divide_up(nx, ty), divide_up(nz, tz)), ny},
           {points(nz, divide_up(nx, ty), divide_up(ny, tz)), nz}}};
}

void check_machine(const Machine& machine, const FftRun& run) {
  if (run.nodes < 1 || run.ranks_per_node < 1) {
    throw Error(fmt::format("{} nodes of {} ranks are no run: give 1 or more", run.nodes, run.ranks_per_node));
  }
  if (!(machine.node.fft_rate_flops_per_core > 0)) {
    throw Error(fmt::format("the FFT rate of {} is not known: give node.fft_rate_flops_per_core", machine.name));
  }
  require_network(machine, run.nodes);
}

void check_grid(const FftRun& run, std::int64_t ty, std::int64_t tz) {
  const auto [nx, ny, nz] = run.fft.size;
  check_ranks(run.nodes, run.ranks_per_node, ty, tz);
  if (ty > std::min(nx, ny) || tz > std::min(ny, nz)) {
    throw Error(
        fmt::format("a grid of {} x {} ranks has more than {} x {} x {} points can occupy", ty, tz, nx, ny, nz));
  }
}

/// The time of one node's part, for a grid that fits.
class TimeEstimator {
 public:
  TimeEstimator(const Machine& machine, const FftRun& run, std::int64_t ty, std::int64_t tz)
      : machine_(machine), run_(run), transport_(find_transport(machine, run.transport)) {
    time_.ty = ty;
    time_.tz = tz;
    stages_ = stages_of(run.fft, ty, tz);
    if (run.nodes > 1) {
      load_ = grid_load(*machine.network, run.nodes, run.ranks_per_node, ty, tz, run.order);
    }
    if (run.nodes > 1 && run.placement == Placement::shared) {
      const TopologyMetrics whole = topology_metrics(*machine.network, std::max(machine.count, run.nodes));
      for (const std::size_t round : {0U, 1U}) {
        load_.load[round] = load_.off_node[round] * whole.all_to_all_load;
      }
    }
    time_.is_mapped = load_.is_mapped;
  }

  FftTime take() {
    std::array<double, 3> stage_s{};
    for (std::size_t stage = 0; stage < 3; ++stage) {
      stage_s[stage] = estimate_stage(stage);
    }
    for (const std::size_t round : {0U, 1U}) {
      if ((round == 0 ? time_.ty : time_.tz) > 1) {
        const double copies_s = run_.copies_per_exchange * pass_s(stages_[round].points);
        time_.copy_s += copies_s;
        FftExchange exchange = estimate_exchange(round);
        const double overhead_s = exchange.messages * (transport_.send_overhead_s + transport_.receive_overhead_s);
        time_.overhead_s += overhead_s;
        stage_s[round] += copies_s + overhead_s;
        if (run_.bus == BusTraffic::exchanges) {
          const auto team = static_cast<double>(round == 0 ? time_.ty : time_.tz);
          const double one_way_s = over_bus_s(stages_[round].points * (team - 1) / team);
          time_.bus_s += 2 * one_way_s;
          stage_s[round] += one_way_s;
          stage_s[round + 1] += one_way_s;
        }
        exchange.hidden_s = exchange.hidden_behind(stage_s[round], run_.overlaps ? transport_.progress : 0);
        time_.transfer_s += exchange.transfer_s();
        time_.hidden_s += exchange.hidden_s;
        time_.exchanges.push_back(exchange);
      }
    }
    time_.compute_s = stage_s[0] + stage_s[1] + stage_s[2];
    time_.total_s = time_.compute_s + time_.transfer_s - time_.hidden_s;
    return time_;
  }

 private:
  double bytes_of(double points) const { return points * 2 * static_cast<double>(run_.fft.real_bytes); }

  /// A node's part read and written once.
  double pass_s(double points) const {
    const double bytes = bytes_of(points) * static_cast<double>(run_.ranks_per_node);
    const double times = run_.stores_bypass_cache ? 2 : 3;
    return 2 * bytes <= static_cast<double>(machine_.node.cache_bytes)
               ? 0
               : times * bytes / machine_.node.memory_bandwidth_bytes_per_s;
  }

  double estimate_stage(std::size_t stage) {
    const machine::Node& node = machine_.node;
    const auto [points, length] = stages_[stage];
    if (length == 1) {
      return 0;
    }
    // As in FftLimit: a register holds twice as many numbers of single precision.
    const double rate =
        node.fft_rate_flops_per_core * static_cast<double>(node.cores) * (run_.fft.real_bytes == 4 ? 2 : 1);
    const double ranks = static_cast<double>(run_.ranks_per_node);
    const double flops = 5 * points * std::log2(static_cast<double>(length)) * ranks;
    time_.arithmetic_s[stage] = flops / rate;
    time_.memory_s[stage] = pass_s(points);
    // Czechowski et al. 2012, section 3.1.3: arithmetic and memory overlap; eq. 9: into the accelerator and out again.
    const double bus_s = run_.bus == BusTraffic::stages ? 2 * over_bus_s(points) : 0;
    time_.bus_s += bus_s;
    return std::max(time_.arithmetic_s[stage], time_.memory_s[stage]) + bus_s;
  }

  /// So many points of each rank, one way over the node's bus.
  double over_bus_s(double points) const {
    const auto& bandwidth = machine_.node.bus_bandwidth_bytes_per_s;
    return bandwidth ? bytes_of(points) * static_cast<double>(run_.ranks_per_node) / *bandwidth : 0;
  }

  FftExchange estimate_exchange(std::size_t round) const {
    const auto team = static_cast<double>(round == 0 ? time_.ty : time_.tz);
    const std::int64_t planes = divide_up(run_.fft.size[2], time_.tz);
    FftExchange exchange;
    exchange.groups = run_.planes_per_message == 0 ? 1 : divide_up(planes, run_.planes_per_message);
    const double rank_bytes = bytes_of(stages_[round].points);
    exchange.messages = (team - 1) * static_cast<double>(exchange.groups);
    exchange.message_bytes = rank_bytes / team / static_cast<double>(exchange.groups);
    if (load_.off_node[round] == 0) {
      // Within a node the peers' memory is our own: what is not copied already is written there by the transform.
      exchange.stream_s = run_.copies_per_exchange > 0 ? pass_s(stages_[round].points) : 0;
      return exchange;
    }
    const LinkLoad load{.nodes = run_.nodes,
                        .ranks_per_node = run_.ranks_per_node,
                        .link = load_.load[round],
                        .off_node = load_.off_node[round]};
    send_over_links(machine_, transport_, load, rank_bytes, exchange);
    return exchange;
  }

  const Machine& machine_;
  const FftRun& run_;
  const Transport transport_;
  std::array<Stage, 3> stages_{};
  GridLoad load_;
  FftTime time_;
};

/// The pairs of factors that the field has room for.
std::vector<std::pair<std::int64_t, std::int64_t>> grids_of(const FftRun& run) {
  const std::int64_t ranks = run.nodes * run.ranks_per_node;
  const auto [nx, ny, nz] = run.fft.size;
  std::vector<std::pair<std::int64_t, std::int64_t>> grids;
  for (std::int64_t factor = 1; factor <= ranks / factor; ++factor) {
    if (ranks % factor != 0) {
      continue;
    }
    for (const auto& [ty, tz] : {std::pair{factor, ranks / factor}, std::pair{ranks / factor, factor}}) {
      if (ty <= std::min(nx, ny) && tz <= std::min(ny, nz)) {
        grids.emplace_back(ty, tz);
      }
    }
  }
  if (grids.empty()) {
    throw Error(fmt::format("no grid of {} ranks fits {} x {} x {} points", ranks, nx, ny, nz));
  }
  return grids;
}

}  // namespace

FftTime fft_time(const Machine& machine, const FftRun& run) {
  check_machine(machine, run);
  if (run.planes_per_message < 0) {
    throw Error(fmt::format("{} planes for each message are none: give 1 or more", run.planes_per_message));
  }
  if (run.ty != 0 || run.tz != 0) {
    check_grid(run, run.ty, run.tz);
    return TimeEstimator(machine, run, run.ty, run.tz).take();
  }
  std::optional<FftTime> best;
  for (const auto& [ty, tz] : grids_of(run)) {
    const FftTime time = TimeEstimator(machine, run, ty, tz).take();
    if (!best || time.total_s < best->total_s) {
      best = time;
    }
  }
  return *best;
}

double fft_link_bound_s(const Machine& machine, const FftRun& run) {
  Machine bare = machine;
  for (Transport& transport : bare.transports) {
    transport.gap_s = 0;
  }
  double bound_s = 0;
  for (const FftExchange& exchange : fft_time(bare, run).exchanges) {
    bound_s += exchange.link_s;
  }
  return bound_s;
}

std::vector<Gain> fft_gains(const Machine& machine, const FftRun& run) {
  return gains(machine, [&](const Machine& changed) { return fft_time(changed, run).total_s; });
}

}  // namespace penstock::model
