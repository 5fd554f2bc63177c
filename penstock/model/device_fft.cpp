#include "penstock/model/device_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "penstock/base/base.hpp"
#include "penstock/model/fft_exchange.hpp"
#include "penstock/model/topology.hpp"
#include "penstock/model/transport.hpp"

namespace penstock::model {
namespace {

using machine::Device;
using machine::Machine;
using machine::Transport;

double as_real(std::int64_t count) {
  return static_cast<double>(count);
}

void check_device_run(const Machine& machine, const DeviceFft& run) {
  if (run.nodes < 1 || run.ranks_per_node < 1 || run.fields < 1) {
    throw Error(fmt::format("{} fields on {} nodes of {} ranks are no run: give 1 or more of each", run.fields,
                            run.nodes, run.ranks_per_node));
  }
  if (!machine.node.device) {
    throw Error(fmt::format("{} has no node.device: penstock calibrate --device measures it", machine.name));
  }
  check_ranks(run.nodes, run.ranks_per_node, run.ty, run.tz);
  require_network(machine, run.nodes);
}

/// What works on one chunk at a time.
enum Worker : std::size_t { to_device, kernels, to_host, workers };

/// Steps through which chunks of planes follow one another.
class Chain {
 public:
  /// Where a step goes as a whole, nothing follows chunk by chunk. One that takes no time is no step.
  void add(Worker worker, double step_s, std::int64_t chunks) noexcept {
    if (step_s > 0) {
      times_s_[worker] += step_s;
      chunks_ = chunks_ == 0 ? chunks : std::min(chunks_, chunks);
    }
  }
  /// What is hidden where the part `progress` of all but the busiest worker's time goes on meanwhile.
  double hidden_s(double progress) const noexcept {
    const double sum_s = std::accumulate(times_s_.begin(), times_s_.end(), 0.0);
    return progress * (1 - 1 / as_real(std::max<std::int64_t>(chunks_, 1))) *
           (sum_s - *std::max_element(times_s_.begin(), times_s_.end()));
  }

 private:
  std::array<double, workers> times_s_{};
  std::int64_t chunks_ = 0;  // of the steps so far, the fewest; 0: there is no step
};

class DeviceEstimator {
 public:
  DeviceEstimator(const Machine& machine, const DeviceFft& run)
      : machine_(machine),
        device_(*machine.node.device),
        run_(run),
        sharers_(as_real(std::max<std::int64_t>(divide_up(run.ranks_per_node, device_.count), 1))),
        sends_messages_(run.nodes * run.ranks_per_node > 1 && (run.nodes > 1 || !run.is_node_shared)),
        transport_(sends_messages_ ? find_transport(machine, run.transport) : Transport{}) {
    if (run.nodes > 1) {
      load_ = grid_load(*machine.network, run.nodes, run.ranks_per_node, run.ty, run.tz, RankOrder::cores_first);
    }
  }

  DeviceFftTime take() {
    // The device is called once, and tells its end.
    time_.launch_s = device_.launch_s;
    Chain chain;
    std::int64_t coming_chunks = run_.stages.empty() ? 1 : run_.stages.front().chunks;
    for (const DeviceFftStage& stage : run_.stages) {
      const double received_s = bus_s(stage.received_bytes, stage.received_copies, device_.to_device_bytes_per_s);
      const double sent_s = bus_s(stage.sent_bytes, stage.sent_copies, device_.to_host_bytes_per_s);
      const double pass_s = time_pass(stage);
      const bool begins_anew = !stage.follows_chunks && &stage != &run_.stages.front();
      if (begins_anew && stage.is_received_by_chunks) {
        end(chain);
      }
      chain.add(to_device, received_s, stage.is_received_by_chunks ? stage.chunks : coming_chunks);
      if (begins_anew && !stage.is_received_by_chunks) {
        end(chain);
      }
      chain.add(kernels, pass_s, stage.chunks);
      chain.add(to_host, sent_s, stage.chunks);
      time_.passes_s.push_back(pass_s);
      time_.pass_s += pass_s;
      time_.launch_s += as_real(stage.chunks - 1) * device_.launch_s * sharers_;
      time_.bus_s += received_s + sent_s;
      send(stage, pass_s + sent_s);
      coming_chunks = stage.chunks;
    }
    end(chain);
    const double fields = as_real(run_.fields);
    for (double& pass_s : time_.passes_s) {
      pass_s *= fields;
    }
    for (double* part : {&time_.pass_s, &time_.bus_s, &time_.launch_s, &time_.message_s, &time_.hidden_s}) {
      *part *= fields;
    }
    time_.total_s = time_.pass_s + time_.bus_s + time_.launch_s + time_.message_s - time_.hidden_s;
    return time_;
  }

 private:
  void end(Chain& chain) {
    time_.hidden_s += chain.hidden_s(device_.bus_progress);
    chain = {};
  }

  double bus_s(double bytes, std::int64_t copies, double bytes_per_s) const {
    return (bytes / bytes_per_s + as_real(copies) * device_.copy_latency_s) * sharers_;
  }

  double time_pass(const DeviceFftStage& stage) const {
    double pass_s = stage.copied_bytes / device_.memory_bandwidth_bytes_per_s;
    if (stage.pass_bytes > 0) {
      const double rate = device_pass_rate(device_, stage.pass, stage.pass_bytes * sharers_);
      if (!(rate > 0)) {
        throw Error(
            fmt::format("{}'s device does no such transforms: its node.device.passes have no rate", machine_.name));
      }
      pass_s += stage.pass_bytes / rate;
    }
    return pass_s * sharers_;
  }

  /// Messages to peers, other than through memory that these map, behind `work_s` of the stage's other steps.
  void send(const DeviceFftStage& stage, double work_s) {
    if (!sends_messages_ || stage.peers == 0) {
      return;
    }
    const double team = as_real(stage.peers + 1);
    const double rank_bytes = stage.peer_bytes * team / as_real(stage.peers);
    double off_node = 0;
    FftExchange exchange;
    exchange.groups = stage.chunks;
    exchange.messages = as_real(stage.peers * stage.chunks);
    exchange.message_bytes = stage.peer_bytes / exchange.messages;
    if (run_.nodes > 1) {
      // The exchange within rows, within columns, or of all with all.
      const bool is_of_rows = stage.peers + 1 == run_.ty;
      const bool is_of_columns = !is_of_rows && stage.peers + 1 == run_.tz;
      const auto of_exchange = [&](const double(&values)[2]) {
        return is_of_rows ? values[0] : is_of_columns ? values[1] : values[0] + values[1];
      };
      off_node = std::min(of_exchange(load_.off_node), 1.0);
      send_over_links(machine_, transport_,
                      {.nodes = run_.nodes,
                       .ranks_per_node = run_.ranks_per_node,
                       .link = of_exchange(load_.load),
                       .off_node = off_node},
                      rank_bytes, exchange);
    }
    if (!run_.is_node_shared) {
      const double within = std::max((team - 1) / team - off_node, 0.0);
      const double sharers = as_real(run_.ranks_per_node) / as_real(std::min(run_.ranks_per_node, machine_.node.cores));
      send_within_node(transport_, rank_bytes, within, sharers, exchange);
    }
    time_.message_s +=
        exchange.transfer_s() + exchange.messages * (transport_.send_overhead_s + transport_.receive_overhead_s);
    time_.hidden_s += exchange.hidden_behind(work_s, transport_.progress);
  }

  const Machine& machine_;
  const Device& device_;
  const DeviceFft& run_;
  const double sharers_;  ///< ranks of a device
  const bool sends_messages_;
  const Transport transport_;
  GridLoad load_;
  DeviceFftTime time_;
};

}  // namespace

DeviceFftTime device_fft_time(const Machine& machine, const DeviceFft& run) {
  check_device_run(machine, run);
  return DeviceEstimator(machine, run).take();
}

std::vector<Gain> device_fft_gains(const Machine& machine, const DeviceFft& run) {
  return gains(machine, [&](const Machine& changed) { return device_fft_time(changed, run).total_s; });
}

}  // namespace penstock::model
