// Descriptions of machines: what the models need to know of them, read from and written to TOML files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::machine {

/// One level of a node's memory, such as "memory" or "storage".
struct MemoryLevel {
  std::string name;
  std::int64_t capacity_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  bool operator==(const MemoryLevel&) const = default;
};

/// A node: processors that share one memory. Figures are of the whole node unless they say otherwise; flops are
/// floating-point operations per second in double precision.
struct Node {
  std::int64_t cores = 0;
  double peak_flops = 0;
  /// Bytes read plus bytes written, all cores together.
  double memory_bandwidth_bytes_per_s = 0;
  /// One last-level cache, however many cores share it.
  std::int64_t cache_bytes = 0;
  /// The second-level cache of one core.
  std::int64_t cache_l2_bytes = 0;
  std::int64_t line_bytes = 0;
  /// A 1-D complex transform in cache, by the convention of 5 n log2 n operations.
  double fft_rate_flops_per_core = 0;
  double gemm_rate_flops_per_core = 0;
  /// From the farthest to the nearest; may be empty.
  std::vector<MemoryLevel> memory_levels;
  bool operator==(const Node&) const = default;
};

/// What a message costs from `from_bytes` on, up to the next piece: `latency_s` + its bytes / `bandwidth_bytes_per_s`.
struct NetworkPiece {
  std::int64_t from_bytes = 0;
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;
  bool operator==(const NetworkPiece&) const = default;
};

enum class Topology { bus, crossbar, fat_tree, mesh, torus, hypercube, dragonfly };

/// What joins the nodes.
struct Network {
  Topology topology = Topology::crossbar;
  /// The nodes in each dimension of a mesh or torus; empty for the others.
  std::vector<std::int64_t> dimensions;
  /// One link, one direction.
  double link_bandwidth_bytes_per_s = 0;
  /// The processor's time for each message sent, and for each received; may be 0.
  double send_overhead_s = 0;
  double receive_overhead_s = 0;
  /// In ascending order, the first from 0 bytes.
  std::vector<NetworkPiece> pieces;
  bool operator==(const Network&) const = default;
};

/// A machine: `count` equal nodes and, where there is more than one, their network.
struct Machine {
  std::string name;
  std::int64_t year = 0;
  std::int64_t count = 0;
  Node node;
  std::optional<Network> network;
  bool operator==(const Machine&) const = default;
};

/// Reads the machine file `path`. Throws Error, with file, line and key, for what is no TOML, for keys missing or
/// unknown, and for values of another type, out of range or at odds with each other.
Machine read(const std::string& path);

/// The same for text already read; `name` stands for the file in messages.
Machine parse(std::string_view text, const std::string& name);

/// The text of a machine file; parsed again it gives the same machine, to the last bit.
std::string format(const Machine& machine);

/// Writes the machine file `path`, beside and renamed.
void write(const Machine& machine, const std::string& path);

/// The machine assumed where none is given: that of machines/default.toml, which says where each figure comes from.
Machine built_in();

/// The built-in machine with its cores, caches and line replaced by what this system says of itself, and its peak
/// scaled with the cores. The other rates stay the built-in's: they must be measured.
Machine detect();

}  // namespace penstock::machine
