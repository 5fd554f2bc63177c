#include "penstock/model/planned_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "penstock/base/base.hpp"
#include "penstock/model/node_rates.hpp"
#include "penstock/model/topology.hpp"
#include "penstock/model/transport.hpp"

namespace penstock::model {
namespace {

using machine::Machine;
using machine::Transport;
using shape::exchange_parts;

double real(std::int64_t count) {
  return static_cast<double>(count);
}

/// One field's part of the rank that has most, in pencils along one direction.
struct Pencils {
  double spectrum_bytes;  ///< of complex numbers
  double space_bytes;     ///< along x of a real field less
  double rows;
  double flops;  ///< by the convention, half of it for real transforms
  std::int64_t length;
  FftKind kind;
  std::int64_t outer;  ///< planes that tiles lie in
  std::int64_t across;
};

void check(const Machine& machine, const PlannedFft& run) {
  if (run.nodes < 1 || run.ranks_per_node < 1 || run.threads < 1 || run.nodes_per_host < 1) {
    throw Error(fmt::format("{} nodes, {} on a host, of {} ranks of {} threads are no run: give 1 or more of each",
                            run.nodes, run.nodes_per_host, run.ranks_per_node, run.threads));
  }
  const auto [nx, ny, nz] = run.fft.size;
  if (nx < 1 || ny < 1 || nz < 1 || run.fft.fields < 1 || run.tuning.planes_per_message < 0 ||
      run.tuning.deferred_parts < 0 || run.tuning.deferred_parts >= exchange_parts) {
    throw Error(fmt::format(
        "{} fields of {} x {} x {} points, {} planes for each message, {} deferred parts of {}: give "
        "positive numbers, and fewer deferred parts than parts",
        run.fft.fields, nx, ny, nz, run.tuning.planes_per_message, run.tuning.deferred_parts, exchange_parts));
  }
  check_ranks(run.nodes, run.ranks_per_node, run.tuning.grid.ty, run.tuning.grid.tz);
  if (machine.node.fft_rates.empty() && !(machine.node.fft_rate_flops_per_core > 0)) {
    throw Error(fmt::format("the FFT rate of {} is not known: give node.fft_rate_flops_per_core", machine.name));
  }
  require_network(machine, run.nodes);
}

class PlanEstimator {
 public:
  PlanEstimator(const Machine& machine, const PlannedFft& run)
      : machine_(machine),
        run_(run),
        transport_(sends_messages() ? find_transport(machine, run.transport) : Transport{}),
        host_ranks_(run.ranks_per_node * run.nodes_per_host),
        workers_(std::min(host_ranks_ * run.threads, machine.node.cores)),
        brings_back_(run.is_output_as_input && run.nodes * run.ranks_per_node > 1) {
    const auto [nx, ny, nz] = run.fft.size;
    const std::int64_t kx = run.fft.is_real ? nx / 2 + 1 : nx;
    const auto [ty, tz] = run.tuning.grid;
    const std::int64_t y_parts = divide_up(ny, ty);
    const std::int64_t z_parts = divide_up(nz, tz);
    const std::int64_t x_parts = divide_up(kx, ty);
    pencils_ = {pencils(kx, nx, y_parts, z_parts, run.fft.is_real), pencils(ny, ny, x_parts, z_parts, false),
                pencils(nz, nz, divide_up(ny, tz), x_parts, false)};
    if (run.nodes > 1) {
      load_ = grid_load(*machine.network, run.nodes, run.ranks_per_node, ty, tz, RankOrder::cores_first);
    }
    // The user's fields, transformed in place, and what each exchange goes through.
    const double regions = (run.is_plane_in_cache ? 1 : 2) + (brings_back_ ? 1 : 0);
    working_set_bytes_ = pencils_[2].spectrum_bytes * real(host_ranks_) * (real(run.fft.fields) + regions);
  }

  PlannedFftTime take() {
    const auto& [x, y, z] = pencils_;
    std::vector<std::size_t> rounds;  // after each pass
    const auto add = [&](const FftPass& pass, std::size_t round) {
      time_.passes.push_back(pass);
      rounds.push_back(round);
    };
    if (run_.is_plane_in_cache) {
      FftPass pass = time_pass(x.space_bytes, y.spectrum_bytes, x.outer, {&x, &y});
      // Between the two directions the plane is written to cache; the second reads it where it lies.
      pass.move_s += x.spectrum_bytes * real(host_ranks_) /
                     tile_bandwidth(machine_.node, workers_, 2 * x.spectrum_bytes / real(x.outer) * real(workers_));
      add(pass, 1);
    } else {
      add(time_pass(x.space_bytes, x.spectrum_bytes, tiles(x), {&x}), 0);
      add(time_pass(y.spectrum_bytes, y.spectrum_bytes, tiles(y), {&y}), 1);
    }
    add(time_pass(z.spectrum_bytes, z.spectrum_bytes, tiles(z), {&z}), brings_back_ ? 2 : none);
    if (brings_back_) {
      add(time_pass(x.spectrum_bytes, x.spectrum_bytes, tiles(x), {}), none);
    }
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      if (rounds[i] != none) {
        exchange(rounds[i], time_.passes[i], time_.passes[i + 1]);
      }
    }
    if (run_.threads > 1) {
      time_.start_s += machine_.node.thread_start_s.value_or(0);
    }
    const double fields = real(run_.fft.fields);
    for (FftPass& pass : time_.passes) {
      pass.transform_s *= fields;
      pass.move_s *= fields;
      time_.transform_s += pass.transform_s;
      time_.move_s += pass.move_s;
    }
    for (double* part : {&time_.start_s, &time_.overhead_s, &time_.transfer_s, &time_.hidden_s}) {
      *part *= fields;
    }
    time_.total_s =
        time_.transform_s + time_.move_s + time_.start_s + time_.overhead_s + time_.transfer_s - time_.hidden_s;
    return time_;
  }

 private:
  static constexpr std::size_t none = 3;

  bool sends_messages() const {
    return run_.nodes * run_.ranks_per_node > 1 && (run_.nodes > 1 || !run_.is_node_shared);
  }

  Pencils pencils(std::int64_t spectrum, std::int64_t space, std::int64_t across, std::int64_t outer,
                  bool is_real) const {
    const double rows = real(across) * real(outer);
    const auto real_bytes = real(run_.fft.real_bytes);
    return {.spectrum_bytes = rows * real(spectrum) * 2 * real_bytes,
            .space_bytes = rows * real(space) * real_bytes * (is_real ? 1 : 2),
            .rows = rows,
            .flops = 5 * rows * real(space) * std::log2(real(space)) * (is_real ? 0.5 : 1),
            .length = space,
            .kind = {.is_real = is_real, .real_bytes = run_.fft.real_bytes},
            .outer = outer,
            .across = across};
  }

  std::int64_t tiles(const Pencils& of) const {
    return of.outer * divide_up(of.across, shape::tile_chunk_bytes / (2 * run_.fft.real_bytes));
  }

  /// A host's ranks at once. `items` are what the threads of a rank share out: some may have one more than others. What
  /// transforms read is asked for ahead, what they write goes past the caches; neither is hidden behind their work.
  FftPass time_pass(double read_bytes, double written_bytes, std::int64_t items,
                    const std::vector<const Pencils*>& directions) const {
    const double ranks = real(host_ranks_);
    const double uneven =
        real(divide_up(items, run_.threads)) * real(run_.threads) / real(std::max<std::int64_t>(items, 1));
    const auto transform_s = [&](const Pencils& along) {
      const double rate = fft_rate_per_core(machine_.node, along.length, along.kind) * real(workers_);
      return along.length > 1 ? along.flops * ranks / rate * uneven : 0;
    };
    FftPass pass;
    for (const Pencils* along : directions) {
      pass.transform_s += transform_s(*along);
    }
    const double bandwidth = tile_bandwidth(machine_.node, workers_, working_set_bytes_);
    pass.move_s = (read_bytes + written_bytes) * ranks / bandwidth * uneven;
    return pass;
  }

  /// Adds the exchange between two passes: within rows (round 0), within columns (1), or of all with all (2).
  void exchange(std::size_t round, const FftPass& before, const FftPass& after) {
    const auto& [grid, planes_per_message, deferred_parts] = run_.tuning;
    const std::int64_t team = round == 0 ? grid.ty : round == 1 ? grid.tz : run_.nodes * run_.ranks_per_node;
    if (team == 1) {
      return;
    }
    const bool keeps_planes = round == 0;  // the receiver walks those that the sender does
    const std::int64_t deferred = keeps_planes ? 0 : deferred_parts;
    const double rank_bytes = pencils_[std::min<std::size_t>(round, 2)].spectrum_bytes;
    const std::int64_t planes = divide_up(run_.fft.size[2], grid.tz);
    FftExchange exchange;
    exchange.groups = planes_per_message == 0 ? 1 : divide_up(planes, planes_per_message);
    const double messages_of_a_pair = real(exchange.groups + deferred);
    exchange.messages = real(team - 1) * messages_of_a_pair;
    exchange.message_bytes = rank_bytes / real(team) / messages_of_a_pair;
    const double off_node = run_.nodes == 1 ? 0
                            : round == 2    ? std::min(load_.off_node[0] + load_.off_node[1], 1.0)
                                            : load_.off_node[round];
    if (run_.is_node_shared) {
      time_.start_s += exchange.messages * machine_.node.line_transfer_s.value_or(0);
    }
    if (sends_messages() && (off_node > 0 || !run_.is_node_shared)) {
      send(exchange, round, rank_bytes, off_node, real(team));
      const double overhead_s = exchange.messages * (transport_.send_overhead_s + transport_.receive_overhead_s);
      const double before_s = before.transform_s + before.move_s + overhead_s;
      const double after_s = after.transform_s + after.move_s;
      const double deferred_share = real(deferred) / real(exchange_parts);
      exchange.hidden_s = keeps_planes ? exchange.hidden_behind(before_s + after_s, transport_.progress)
                                       : exchange.hidden_behind(before_s, transport_.progress * (1 - deferred_share));
      if (deferred > 0) {
        // What has come is transformed while the deferred parts come, but the last of them.
        exchange.hidden_s += std::min((1 - 1 / real(exchange_parts)) * after_s,
                                      transport_.progress * deferred_share * exchange.transfer_s());
      }
      time_.overhead_s += overhead_s;
      time_.transfer_s += exchange.transfer_s();
      time_.hidden_s += exchange.hidden_s;
    }
    time_.exchanges.push_back(exchange);
  }

  void send(FftExchange& exchange, std::size_t round, double rank_bytes, double off_node, double team) const {
    if (off_node > 0) {
      const double link = round == 2 ? load_.load[0] + load_.load[1] : load_.load[round];
      const LinkLoad load{
          .nodes = run_.nodes, .ranks_per_node = run_.ranks_per_node, .link = link, .off_node = off_node};
      send_over_links(machine_, transport_, load, rank_bytes, exchange);
    }
    if (!run_.is_node_shared) {
      const double within = std::max((team - 1) / team - off_node, 0.0);
      const double sharers = real(host_ranks_) / real(std::min(host_ranks_, machine_.node.cores));
      send_within_node(transport_, rank_bytes, within, sharers, exchange);
    }
  }

  const Machine& machine_;
  const PlannedFft& run_;
  const Transport transport_;
  const std::int64_t host_ranks_;  // of all nodes on the same processors
  const std::int64_t workers_;     // of these processors
  const bool brings_back_;
  std::array<Pencils, 3> pencils_{};
  GridLoad load_;
  double working_set_bytes_ = 0;
  PlannedFftTime time_;
};

}  // namespace

PlannedFftTime planned_fft_time(const Machine& machine, const PlannedFft& run) {
  check(machine, run);
  return PlanEstimator(machine, run).take();
}

std::vector<Gain> planned_fft_gains(const Machine& machine, const PlannedFft& run) {
  return gains(machine, [&](const Machine& changed) { return planned_fft_time(changed, run).total_s; });
}

}  // namespace penstock::model
