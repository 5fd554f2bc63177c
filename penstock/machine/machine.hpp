// Descriptions of machines: what the models need to know of them, read from and written to TOML files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
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

/// What copies (a = b) and triads (a = b + s c) far larger than the cache reach with so many threads at once, by stores
/// that bypass the cache: bytes read plus bytes written a second, all threads together.
struct ThreadBandwidth {
  std::int64_t threads = 0;
  double copy_bytes_per_s = 0;
  double triad_bytes_per_s = 0;
  bool operator==(const ThreadBandwidth&) const = default;
};

/// A level of cache as one core sees it.
struct CacheLevel {
  std::int64_t level = 0;
  std::int64_t capacity_bytes = 0;
  double bandwidth_bytes_per_s = 0;  ///< of copies within it by one core: read plus written
  bool operator==(const CacheLevel&) const = default;
};

/// 1-D transforms of one length in cache, one core of all at work, by the convention of 5 n log2 n operations, half of
/// that for real ones.
struct FftRate {
  std::int64_t length = 0;
  double complex_double_flops = 0;
  double complex_single_flops = 0;
  double real_double_flops = 0;
  double real_single_flops = 0;
  bool operator==(const FftRate&) const = default;
};

/// Fields and what they are exchanged through, so many bytes together, moved through tiles in cache as the two passes
/// of a transform move them: bytes read plus bytes written a second, all threads together.
struct TileCopy {
  std::int64_t threads = 0;
  std::int64_t working_set_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  bool operator==(const TileCopy&) const = default;
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
  /// A 1-D complex transform in cache, by the convention of 5 n log2 n operations; 0 where it is not known.
  double fft_rate_flops_per_core = 0;
  /// A matrix multiply; 0 where it is not known.
  double gemm_rate_flops_per_core = 0;
  /// Between the memory of the network and that of the processors, one direction, where these are two (an accelerator).
  std::optional<double> bus_bandwidth_bytes_per_s = {};
  /// A of Czechowski et al. 2012, eq. 2: how many times the least traffic of a cache-oblivious 1-D transform it moves.
  std::optional<double> fft_cache_constant = {};
  /// From one core to another: a cache line that the one has written and the other reads.
  std::optional<double> line_transfer_s = {};
  /// An atomic addition to a word of one's own, in a line that another core writes to as well.
  std::optional<double> false_sharing_s = {};
  /// From the call that sets all cores to work until the last has done nothing.
  std::optional<double> thread_start_s = {};
  /// From the farthest to the nearest; may be empty.
  std::vector<MemoryLevel> memory_levels = {};
  /// What `penstock calibrate` finds beyond single figures; may be empty. In ascending order of threads, level, length,
  /// and of threads and then bytes.
  std::vector<ThreadBandwidth> thread_bandwidths = {};
  std::vector<CacheLevel> caches = {};
  std::vector<FftRate> fft_rates = {};
  std::vector<TileCopy> tile_copies = {};
  bool operator==(const Node&) const = default;
};

/// What a message costs from `from_bytes` on, up to the next piece: `latency_s` + its bytes / `bandwidth_bytes_per_s`.
struct MessagePiece {
  std::int64_t from_bytes = 0;
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;
  bool operator==(const MessagePiece&) const = default;
};

/// A way for messages between ranks, such as MPI's sends or one-sided puts, in the terms of LogGP.
struct Transport {
  std::string name;
  /// The part of a transfer, from 0 to 1, that goes on while the processor computes.
  double progress = 0;
  /// The processor's time for each message sent, and for each received; may be 0.
  double send_overhead_s = 0;
  double receive_overhead_s = 0;
  /// What each message takes of a link's or adapter's time beyond its bytes; may be 0.
  double gap_s = 0;
  /// One message alone, in ascending order, the first from 0 bytes.
  std::vector<MessagePiece> pieces = {};
  bool operator==(const Transport&) const = default;
};

enum class Topology { bus, crossbar, fat_tree, mesh, torus, hypercube, dragonfly };

/// What joins the nodes.
struct Network {
  Topology topology = Topology::crossbar;
  /// The nodes in each dimension of a mesh or torus; empty for the others.
  std::vector<std::int64_t> dimensions = {};
  /// Mesh, torus: the shapes that parts of the machine have, where they are not as even as can be.
  std::vector<std::vector<std::int64_t>> partitions = {};
  /// Torus: parts of fewer nodes are meshes.
  std::optional<std::int64_t> torus_from_nodes = {};
  /// Fat tree: the nodes at a leaf switch, and the links down over the links up of each switch (1 where absent).
  std::optional<std::int64_t> nodes_per_leaf = {};
  std::optional<double> oversubscription = {};
  /// Dragonfly: each router's nodes and links to other groups; routers of one group are all joined.
  std::optional<std::int64_t> nodes_per_router = {};
  std::optional<std::int64_t> routers_per_group = {};
  std::optional<std::int64_t> global_links_per_router = {};
  /// One link, one direction.
  double link_bandwidth_bytes_per_s = 0;
  /// All that a node can send at once; where absent, all its links.
  std::optional<double> injection_bandwidth_bytes_per_s = {};
  bool operator==(const Network&) const = default;
};

/// A machine: `count` equal nodes and, where there is more than one, their network.
struct Machine {
  std::string name;
  std::int64_t year = 0;
  std::int64_t count = 0;
  Node node;
  std::optional<Network> network = {};
  /// The first is the one meant where none is named; may be empty.
  std::vector<Transport> transports = {};
  bool operator==(const Machine&) const = default;
};

/// Reads the machine file `path`. Throws Error, with file, line and key, for what is no TOML, for keys missing or
/// unknown, and for values of another type, out of range or at odds with each other.
Machine read(const std::string& path);

/// The same for text already read; `name` stands for the file in messages.
Machine parse(std::string_view text, const std::string& name);

/// Comments of a machine file: where its figures come from. They are for people, and lost when the file is read.
struct Comments {
  std::string heading;  ///< lines at the top
  std::map<std::string, std::string>
      of_key;  ///< a line, by a dotted key, elements of lists by number: "transports.0.gap_s"
};

/// The text of a machine file; parsed again it gives the same machine, to the last bit. Throws Error for comments on
/// keys that the file has not.
std::string format(const Machine& machine, const Comments& comments = {});

/// Writes the machine file `path`, beside and renamed.
void write(const Machine& machine, const std::string& path);

/// A key of a machine file, dotted, elements of lists by their name or number ("transports.mpi.gap_s"), and the text of
/// its new value as a file would have it; a word without quotes is a string.
struct Override {
  std::string key;
  std::string value;
};

/// `machine` with some keys replaced together, checked like a file. Throws Error that names the key.
Machine with(const Machine& machine, std::span<const Override> overrides);

/// The number that a key stands for, dotted as in an Override. Throws Error where the machine has none of that name.
double number(const Machine& machine, std::string_view key);

/// The names of the machines that Penstock describes: the files of its folder machines/, without their ending.
std::vector<std::string> described_names();

/// The machine of that name, or, for a name with a slash or an ending, of that file. Throws Error as `read` does, and
/// for a name that is not described with the list of those that are.
Machine find(const std::string& name_or_path);

/// The machine assumed where none is given: that of machines/default.toml, which says where each figure comes from.
Machine built_in();

/// The levels of cache that a core has, from the nearest, as the kernel tells them: without bandwidths. Empty where it
/// does not tell.
std::vector<CacheLevel> detect_caches();

/// The built-in machine with its cores, caches and line replaced by what this system says of itself, and its peak
/// scaled with the cores. The other rates stay the built-in's: they must be measured.
Machine detect();

}  // namespace penstock::machine
