#include "penstock/cli/calibrate/calibrate_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#if PENSTOCK_HAS_GEMM
#include "penstock/gemm/gemm.hpp"
#endif

namespace penstock::cli {
namespace {

using machine::Node;
using probe::CalibrationOptions;
using probe::Figure;

void take_streams(CalibratedMachine& to, const CalibrationOptions& options) {
  Node& node = to.machine.node;
  node.thread_bandwidths.clear();
  for (const probe::StreamRates& each : probe::measure_streams(node.cache_bytes, options)) {
    const std::string key = fmt::format("node.thread_bandwidths.{}.", node.thread_bandwidths.size());
    node.thread_bandwidths.push_back({.threads = each.threads,
                                      .copy_bytes_per_s = each.copy_bytes_per_s.best,
                                      .triad_bytes_per_s = each.triad_bytes_per_s.best});
    note(to, key + "copy_bytes_per_s", each.copy_bytes_per_s);
    note(to, key + "triad_bytes_per_s", each.triad_bytes_per_s);
    if (each.threads == options.threads) {
      node.memory_bandwidth_bytes_per_s = each.copy_bytes_per_s.best;
      note(to, "node.memory_bandwidth_bytes_per_s", each.copy_bytes_per_s, "measured: copies by all cores");
    }
  }
}

void take_caches(CalibratedMachine& to, const CalibrationOptions& options) {
  Node& node = to.machine.node;
  node.caches = machine::detect_caches();
  const std::vector<Figure> figures = probe::measure_caches(node.caches, options);
  for (std::size_t i = 0; i < figures.size(); ++i) {
    node.caches[i].bandwidth_bytes_per_s = figures[i].best;
    note(to, fmt::format("node.caches.{}.bandwidth_bytes_per_s", i), figures[i]);
  }
}

void take_cores(CalibratedMachine& to, const CalibrationOptions& options) {
  Node& node = to.machine.node;
  const Figure start = probe::measure_thread_start(options);
  node.thread_start_s = start.best;
  note(to, "node.thread_start_s", start);
  const auto lines = probe::measure_lines(options);
  if (!lines) {
    to.left_out.emplace_back("transfers of cache lines: there is one core");
    return;
  }
  node.line_transfer_s = lines->transfer_s.best;
  note(to, "node.line_transfer_s", lines->transfer_s);
  node.false_sharing_s = lines->shared_add_s.best;
  note(to, "node.false_sharing_s", lines->shared_add_s,
       fmt::format("measured: {:.1f} times that of a line of one's own",
                   lines->shared_add_s.best / lines->separate_add_s.best));
}

void take_transforms(CalibratedMachine& to, const CalibrationOptions& options, const TellStep& tell) {
  constexpr std::int64_t usual_length = 256;
  constexpr double usual_s = 0.95;  // of each of the 39 lengths
  const auto tell_length = [&](const std::string& step) { tell(step, usual_s); };
  Node& node = to.machine.node;
  node.fft_rates.clear();
  for (const probe::FftRates& each : probe::measure_fft_rates(node, options, tell_length)) {
    const std::string key = fmt::format("node.fft_rates.{}.", node.fft_rates.size());
    node.fft_rates.push_back({.length = each.length,
                              .complex_double_flops = each.complex_double.best,
                              .complex_single_flops = each.complex_single.best,
                              .real_double_flops = each.real_double.best,
                              .real_single_flops = each.real_single.best});
    note(to, key + "complex_double_flops", each.complex_double);
    note(to, key + "complex_single_flops", each.complex_single);
    note(to, key + "real_double_flops", each.real_double);
    note(to, key + "real_single_flops", each.real_single);
    if (each.length == usual_length) {
      node.fft_rate_flops_per_core = each.complex_double.best;
      note(to, "node.fft_rate_flops_per_core", each.complex_double, "measured: complex double, length 256");
    }
  }
}

/// In two rounds with all else between: what cores share in cache depends on where a host has placed them.
void take_tiles(CalibratedMachine& to, std::vector<probe::TileRates> first,
                const std::vector<probe::TileRates>& second) {
  Node& node = to.machine.node;
  for (std::size_t i = 0; i < first.size(); ++i) {
    probe::TileRates& each = first[i];
    each.bytes_per_s = probe::better_rate(each.bytes_per_s, second[i].bytes_per_s);
    note(to, fmt::format("node.tile_copies.{}.bandwidth_bytes_per_s", node.tile_copies.size()), each.bytes_per_s);
    node.tile_copies.push_back({.threads = each.threads,
                                .working_set_bytes = each.working_set_bytes,
                                .bandwidth_bytes_per_s = each.bytes_per_s.best});
  }
}

void take_constant(CalibratedMachine& to, const CalibrationOptions& options) {
  Node node = to.machine.node;
  node.memory_bandwidth_bytes_per_s = node.thread_bandwidths.front().copy_bytes_per_s;  // of one core, as it runs
  const probe::CacheConstant constant = probe::measure_cache_constant(node, options);
  if (!(constant.value.best > 0)) {
    to.left_out.emplace_back("the constant A: a transform of 2^22 points takes no longer than its arithmetic in cache");
    return;
  }
  to.machine.node.fft_cache_constant = constant.value.best;
  note(to, "node.fft_cache_constant", constant.value, "A of Czechowski et al., by " + constant.way);
}

void take_multiply(CalibratedMachine& to, const CalibrationOptions& options) {
  Node& node = to.machine.node;
  const Figure peak = probe::measure_peak(options);
  node.peak_flops = peak.best;
  note(to, "node.peak_flops", peak, "measured: fused multiply-adds in registers, all cores");
#if PENSTOCK_HAS_GEMM
  const gemm::Rate rate = gemm::measure_rate(gas::world_alone(), options.threads, npy::DataType::float64);
  node.gemm_rate_flops_per_core = probe::rounded(rate.best_flops / options.threads);
  note(to, "node.gemm_rate_flops_per_core",
       {.best = probe::rounded(rate.best_flops), .median = probe::rounded(rate.median_flops), .samples = rate.rounds},
       "measured: OpenBLAS, double, all cores at once");
#else
  node.gemm_rate_flops_per_core = 0;
  to.comments.of_key["node.gemm_rate_flops_per_core"] = "not known: no BLAS is built in";
  to.left_out.emplace_back("the rate of matrix multiplies: no BLAS is built in");
#endif
}

void take_disk(CalibratedMachine& to, const CalibrationOptions& options, const std::string& folder) {
  const auto engine = percolate::make_engine();
  const probe::DiskRates disk = probe::measure_disk(folder, *engine, options);
  const std::string key = fmt::format("node.memory_levels.{}.", to.machine.node.memory_levels.size());
  const bool is_write_slower = disk.write_bytes_per_s.best < disk.read_bytes_per_s.best;
  const Figure& slower = is_write_slower ? disk.write_bytes_per_s : disk.read_bytes_per_s;
  const Figure& faster = is_write_slower ? disk.read_bytes_per_s : disk.write_bytes_per_s;
  to.machine.node.memory_levels.push_back({.name = "storage",
                                           .capacity_bytes = disk.capacity_bytes,
                                           .bandwidth_bytes_per_s = slower.best,
                                           .latency_s = disk.latency_s.best});
  note(to, key + "bandwidth_bytes_per_s", slower,
       fmt::format("measured: {}, {}; {} at {}/s", is_write_slower ? "writing" : "reading",
                   disk.is_direct ? "past the system's cache" : "the system's cache dropped",
                   is_write_slower ? "reading" : "writing", format_bytes(static_cast<std::uint64_t>(faster.best))));
  note(to, key + "latency_s", disk.latency_s, "measured: 4 KiB at random places");
}

}  // namespace

void calibrate_node(CalibratedMachine& calibrated, const CalibrationOptions& options, const std::string& folder,
                    const TellStep& tell) {
  const machine::Machine detected = machine::detect();
  calibrated.machine.node = detected.node;
  for (const char* key : {"node.cores", "node.cache_bytes", "node.cache_l2_bytes", "node.line_bytes"}) {
    calibrated.comments.of_key[key] = "as the system tells it";
  }
  tell("bandwidth of memory", 2.2);
  take_streams(calibrated, options);
  tell("bandwidth of caches", 0.5);
  take_caches(calibrated, options);
  tell("cache lines between cores", 3);
  take_cores(calibrated, options);
  tell("copies of tiles, first round", 8.8);
  std::vector<probe::TileRates> tiles = probe::measure_tile_copies(calibrated.machine.node, options);
  take_transforms(calibrated, options, tell);
  tell("the constant A", 2.8);
  take_constant(calibrated, options);
  tell("multiply-adds and matrix multiply", 1);
  take_multiply(calibrated, options);
  tell("disk", 0.2);
  take_disk(calibrated, options, folder);
  tell("copies of tiles, second round", 4.5);
  take_tiles(calibrated, std::move(tiles), probe::measure_tile_copies(calibrated.machine.node, options));
}

}  // namespace penstock::cli
