// The keys of a machine file, each named once, walked both by the parser and by the formatter.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "penstock/machine/machine.hpp"

namespace penstock::machine {

inline constexpr std::array<std::pair<Topology, std::string_view>, 7> topology_names{
    {{Topology::bus, "bus"},
     {Topology::crossbar, "crossbar"},
     {Topology::fat_tree, "fat-tree"},
     {Topology::mesh, "mesh"},
     {Topology::torus, "torus"},
     {Topology::hypercube, "hypercube"},
     {Topology::dragonfly, "dragonfly"}}};

// Each function visits the keys of one table of the file. A `Section` is the parser's or the formatter's; it offers
//   positive(key, value)        a number above zero: an integer or a floating-point one, as the member is; one that is
//                               a std::optional may be absent
//   not_negative(key, value)    zero as well
//   text(key, value), topology(key, value), integers(key, values), lists(key, lists of integers)
//   table(key, value), tables(key, values)     which visit the tables below in turn; the latter may be absent.

template <class Section>
void visit(Section& section, MemoryLevel& level) {
  section.text("name", level.name);
  section.positive("capacity_bytes", level.capacity_bytes);
  section.positive("bandwidth_bytes_per_s", level.bandwidth_bytes_per_s);
  section.positive("latency_s", level.latency_s);
}

template <class Section>
void visit(Section& section, ThreadBandwidth& bandwidth) {
  section.positive("threads", bandwidth.threads);
  section.positive("copy_bytes_per_s", bandwidth.copy_bytes_per_s);
  section.positive("triad_bytes_per_s", bandwidth.triad_bytes_per_s);
}

template <class Section>
void visit(Section& section, CacheLevel& cache) {
  section.positive("level", cache.level);
  section.positive("capacity_bytes", cache.capacity_bytes);
  section.positive("bandwidth_bytes_per_s", cache.bandwidth_bytes_per_s);
}

template <class Section>
void visit(Section& section, FftRate& rate) {
  section.positive("length", rate.length);
  section.positive("complex_double_flops", rate.complex_double_flops);
  section.positive("complex_single_flops", rate.complex_single_flops);
  section.positive("real_double_flops", rate.real_double_flops);
  section.positive("real_single_flops", rate.real_single_flops);
}

template <class Section>
void visit(Section& section, TileCopy& copy) {
  section.positive("threads", copy.threads);
  section.positive("working_set_bytes", copy.working_set_bytes);
  section.positive("bandwidth_bytes_per_s", copy.bandwidth_bytes_per_s);
}

template <class Section>
void visit(Section& section, DevicePass& pass) {
  section.positive("length", pass.length);
  section.text("reads", pass.reads);
  section.text("writes", pass.writes);
  section.positive("working_set_bytes", pass.working_set_bytes);
  section.not_negative("complex_double_bytes_per_s", pass.complex_double_bytes_per_s);
  section.not_negative("complex_single_bytes_per_s", pass.complex_single_bytes_per_s);
  section.not_negative("real_double_bytes_per_s", pass.real_double_bytes_per_s);
  section.not_negative("real_single_bytes_per_s", pass.real_single_bytes_per_s);
}

template <class Section>
void visit(Section& section, Device& device) {
  section.text("name", device.name);
  section.positive("count", device.count);
  section.positive("memory_bytes", device.memory_bytes);
  section.positive("memory_bandwidth_bytes_per_s", device.memory_bandwidth_bytes_per_s);
  section.positive("to_device_bytes_per_s", device.to_device_bytes_per_s);
  section.positive("to_host_bytes_per_s", device.to_host_bytes_per_s);
  section.not_negative("bus_progress", device.bus_progress);
  section.not_negative("launch_s", device.launch_s);
  section.not_negative("copy_latency_s", device.copy_latency_s);
  section.tables("passes", device.passes);
}

template <class Section>
void visit(Section& section, Node& node) {
  section.positive("cores", node.cores);
  section.positive("peak_flops", node.peak_flops);
  section.positive("memory_bandwidth_bytes_per_s", node.memory_bandwidth_bytes_per_s);
  section.positive("cache_bytes", node.cache_bytes);
  section.positive("cache_l2_bytes", node.cache_l2_bytes);
  section.positive("line_bytes", node.line_bytes);
  section.not_negative("fft_rate_flops_per_core", node.fft_rate_flops_per_core);
  section.not_negative("gemm_rate_flops_per_core", node.gemm_rate_flops_per_core);
  section.positive("bus_bandwidth_bytes_per_s", node.bus_bandwidth_bytes_per_s);
  section.positive("fft_cache_constant", node.fft_cache_constant);
  section.positive("line_transfer_s", node.line_transfer_s);
  section.positive("false_sharing_s", node.false_sharing_s);
  section.positive("thread_start_s", node.thread_start_s);
  section.tables("memory_levels", node.memory_levels);
  section.tables("thread_bandwidths", node.thread_bandwidths);
  section.tables("caches", node.caches);
  section.tables("fft_rates", node.fft_rates);
  section.tables("tile_copies", node.tile_copies);
  section.table("device", node.device);
}

template <class Section>
void visit(Section& section, MessagePiece& piece) {
  section.not_negative("from_bytes", piece.from_bytes);
  section.positive("latency_s", piece.latency_s);
  section.positive("bandwidth_bytes_per_s", piece.bandwidth_bytes_per_s);
}

template <class Section>
void visit(Section& section, Transport& transport) {
  section.text("name", transport.name);
  section.not_negative("progress", transport.progress);
  section.not_negative("send_overhead_s", transport.send_overhead_s);
  section.not_negative("receive_overhead_s", transport.receive_overhead_s);
  section.not_negative("gap_s", transport.gap_s);
  section.tables("pieces", transport.pieces);
}

template <class Section>
void visit(Section& section, Network& network) {
  section.topology("topology", network.topology);
  section.integers("dimensions", network.dimensions);
  section.lists("partitions", network.partitions);
  section.positive("torus_from_nodes", network.torus_from_nodes);
  section.positive("nodes_per_leaf", network.nodes_per_leaf);
  section.positive("oversubscription", network.oversubscription);
  section.positive("nodes_per_router", network.nodes_per_router);
  section.positive("routers_per_group", network.routers_per_group);
  section.positive("global_links_per_router", network.global_links_per_router);
  section.positive("link_bandwidth_bytes_per_s", network.link_bandwidth_bytes_per_s);
  section.positive("injection_bandwidth_bytes_per_s", network.injection_bandwidth_bytes_per_s);
}

template <class Section>
void visit(Section& section, Machine& machine) {
  section.text("name", machine.name);
  section.positive("year", machine.year);
  section.positive("count", machine.count);
  section.table("node", machine.node);
  section.table("network", machine.network);
  section.tables("transports", machine.transports);
}

}  // namespace penstock::machine
