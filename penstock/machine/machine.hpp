// Descriptions of machines: what the models need to know of them, read from and written to TOML files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock::machine {

/// One level of a node's memory, such as "memory" or "storage".
struct MemoryLevel {
  std::string name;
  std::int64_t capacity_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  bool operator==(const MemoryLevel&) const = default;
};

/// The bandwidth of copies (a = b) and of triads (a = b + s c) with `threads` threads at once, on arrays far larger
/// than the cache, with non-temporal stores: bytes read plus bytes written a second, all threads together.
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
  double bandwidth_bytes_per_s = 0;  ///< of copies within this level by one core: bytes read plus written
  bool operator==(const CacheLevel&) const = default;
};

/// The rates of one core in 1-D transforms of `length` points in cache, while all cores work, by the convention of
/// 5 n log2 n operations, half of that for real transforms.
struct FftRate {
  std::int64_t length = 0;
  double complex_double_flops = 0;
  double complex_single_flops = 0;
  double real_double_flops = 0;
  double real_single_flops = 0;
  bool operator==(const FftRate&) const = default;
};

/// The bandwidth of moving fields through tiles in cache, as the two passes of a transform do: bytes read plus bytes
/// written a second, all threads together. `working_set_bytes` are the fields and the buffers of their exchange.
struct TileCopy {
  std::int64_t threads = 0;
  std::int64_t working_set_bytes = 0;
  double bandwidth_bytes_per_s = 0;
  bool operator==(const TileCopy&) const = default;
};

/// Passes over a device's memory in which kernels transform pencils of `length` points: bytes read plus bytes written a
/// second, by the device alone. `reads` and `writes` tell how the numbers of a cube lie there: "points" of a pencil
/// side by side; or the same point of neighbouring pencils, and the next one of each in the next row of the plane
/// ("pencils") or in the next plane ("planes"). `working_set_bytes` are what is read and what is written. A rate is 0
/// where the device does not do such transforms.
struct DevicePass {
  std::int64_t length = 0;
  std::string reads;
  std::string writes;
  std::int64_t working_set_bytes = 0;
  double complex_double_bytes_per_s = 0;
  double complex_single_bytes_per_s = 0;
  double real_double_bytes_per_s = 0;
  double real_single_bytes_per_s = 0;
  bool operator==(const DevicePass&) const = default;
};

/// The accelerators of a node, all alike. Rates and times are of one of them.
struct Device {
  std::string name = {};
  std::int64_t count = 0;  ///< of the node
  std::int64_t memory_bytes = 0;
  /// Of copies within the device's memory: bytes read plus bytes written.
  double memory_bandwidth_bytes_per_s = 0;
  /// Of copies from and to memory of the host.
  double to_device_bytes_per_s = 0;
  double to_host_bytes_per_s = 0;
  /// The part of such a copy, from 0 to 1, that goes on while kernels run.
  double bus_progress = 0;
  /// From the call that begins it to the moment at which the host knows that it is done: of a kernel that does nothing,
  /// and of a copy of some bytes over the bus.
  double launch_s = 0;
  double copy_latency_s = 0;
  /// In ascending order of length, reads, writes and bytes; may be empty.
  std::vector<DevicePass> passes = {};
  bool operator==(const Device&) const = default;
};

/// A node: processors that share one memory. Rates and sizes are of the whole node unless the comment says otherwise;
/// flops are floating-point operations per second in double precision.
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
  /// The rate of 1-D complex transforms in cache, by the convention of 5 n log2 n operations; 0 where it is not known.
  double fft_rate_flops_per_core = 0;
  /// The rate of matrix multiplies; 0 where it is not known.
  double gemm_rate_flops_per_core = 0;
  /// Between the network's memory and the processors', one direction, where these are two memories (an accelerator).
  std::optional<double> bus_bandwidth_bytes_per_s = {};
  /// A of Czechowski et al. 2012, eq. 2: the traffic of a 1-D transform over the minimum of a cache-oblivious one.
  std::optional<double> fft_cache_constant = {};
  /// The time in which a cache line that one core has written reaches another core that reads it.
  std::optional<double> line_transfer_s = {};
  /// The time of an atomic addition to a core's own word, in a cache line that another core writes to as well.
  std::optional<double> false_sharing_s = {};
  /// The time from the call that starts work on all cores to the end of the last core's work, which is empty.
  std::optional<double> thread_start_s = {};
  /// From the farthest level to the nearest; may be empty.
  std::vector<MemoryLevel> memory_levels = {};
  /// The curves that `penstock calibrate` measures; each may be empty. In ascending order of threads, level, length,
  /// and of threads and then bytes.
  std::vector<ThreadBandwidth> thread_bandwidths = {};
  std::vector<CacheLevel> caches = {};
  std::vector<FftRate> fft_rates = {};
  std::vector<TileCopy> tile_copies = {};
  std::optional<Device> device = {};
  bool operator==(const Node&) const = default;
};

/// The time of messages from `from_bytes` on, up to the next piece: `latency_s` + bytes / `bandwidth_bytes_per_s`.
struct MessagePiece {
  std::int64_t from_bytes = 0;
  double latency_s = 0;
  double bandwidth_bytes_per_s = 0;
  bool operator==(const MessagePiece&) const = default;
};

/// A transport of messages between ranks, such as MPI's sends or one-sided puts, in the terms of LogGP.
struct Transport {
  std::string name;
  /// The part of a transfer, from 0 to 1, that goes on while the processor computes.
  double progress = 0;
  /// The processor's time for each message sent, and for each received; may be 0.
  double send_overhead_s = 0;
  double receive_overhead_s = 0;
  /// The time for which each message occupies a link or adapter beyond that of its bytes; may be 0.
  double gap_s = 0;
  /// The time of one message alone; in ascending order, the first piece from 0 bytes.
  std::vector<MessagePiece> pieces = {};
  bool operator==(const Transport&) const = default;
};

enum class Topology { bus, crossbar, fat_tree, mesh, torus, hypercube, dragonfly };

/// As machine files have it: "fat-tree".
std::string_view name_of(Topology topology) noexcept;

/// The network between the nodes.
struct Network {
  Topology topology = Topology::crossbar;
  /// The nodes in each dimension of a mesh or torus; empty for the others.
  std::vector<std::int64_t> dimensions = {};
  /// Mesh, torus: the shapes of parts of the machine whose extents are not as equal as they could be.
  std::vector<std::vector<std::int64_t>> partitions = {};
  /// Torus: parts of fewer nodes are meshes.
  std::optional<std::int64_t> torus_from_nodes = {};
  /// Fat tree: the nodes at a leaf switch, and each switch's links down over its links up (1 where absent).
  std::optional<std::int64_t> nodes_per_leaf = {};
  std::optional<double> oversubscription = {};
  /// Dragonfly: a router's nodes, a group's routers, which are all joined, and a router's links to other groups.
  std::optional<std::int64_t> nodes_per_router = {};
  std::optional<std::int64_t> routers_per_group = {};
  std::optional<std::int64_t> global_links_per_router = {};
  /// Of one link in one direction.
  double link_bandwidth_bytes_per_s = 0;
  /// Of all that one node sends; where absent, that of all its links.
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
  /// The first one is used where none is named; may be empty.
  std::vector<Transport> transports = {};
  bool operator==(const Machine&) const = default;
};

/// Reads the machine file `path`. Throws Error, with file, line and key, for what is no TOML, for keys missing or
/// unknown, and for values of another type, out of range or at odds with each other.
Machine read(const std::string& path);

/// The same for text already read; `name` stands for the file in messages.
Machine parse(std::string_view text, const std::string& name);

/// Comments of a machine file: where its values come from. Comments are for people, and lost when the file is read.
struct Comments {
  std::string heading;  ///< lines at the top
  std::map<std::string, std::string>
      of_key;  ///< one line for each dotted key, elements of lists by number: "transports.0.gap_s"
};

/// The text of a machine file; parsing the text gives the same machine, to the last bit. Throws Error for comments on
/// keys that the file does not have.
std::string format(const Machine& machine, const Comments& comments = {});

/// Writes the machine file `path`, as `write_text` does (base/draft.hpp).
void write(const Machine& machine, const std::string& path);

/// A new value for a key of a machine file. The key is dotted, with elements of lists by name or number
/// ("transports.mpi.gap_s"). The value is text as in a file; a word without quotes is a string.
struct Override {
  std::string key;
  std::string value;
};

/// `machine` with all `overrides` applied, then checked like a file. Throws Error that names the key.
Machine with(const Machine& machine, std::span<const Override> overrides);

/// The number under a key, dotted as in an Override. Throws Error where the machine has no number of that name.
double number(const Machine& machine, std::string_view key);

/// The names of the machines that Penstock describes: the files of its folder machines/, without their ending.
std::vector<std::string> described_names();

/// The described machine of that name or, for a name with a slash or an ending, the machine of that file. Throws Error
/// as `read` does. For an unknown name the Error lists the names that are described.
Machine find(const std::string& name_or_path);

/// The machine assumed where none is given: that of machines/default.toml, which says where each value comes from.
Machine built_in();

/// The levels of cache that a core has, from the nearest, as the kernel reports them: without bandwidths. Empty where
/// the kernel reports none.
std::vector<CacheLevel> detect_caches();

/// The built-in machine with the cores, caches and cache line that this system reports, and its peak scaled with the
/// cores. The other rates stay those of the built-in machine: they have to be measured.
Machine detect();

}  // namespace penstock::machine

#pragma GCC visibility pop
