// The rates that a node reaches in a given work: from the curves of a calibrated machine or, where it has none, from
// the single rates of its description.
#pragma once

#include <cstdint>
#include <string>

#include "penstock/machine/machine.hpp"

#pragma GCC visibility push(default)

namespace penstock::model {

/// The kind of a 1-D transform.
struct FftKind {
  bool is_real = false;
  std::int64_t real_bytes = 8;  ///< 8 for double precision, 4 for single
};

/// Operations per second of one core in transforms of `length` points in cache, while all cores work, by the convention
/// of 5 n log2 n, half of that for real transforms. A length that was not measured belongs to one of three classes:
/// powers of two, other lengths without a prime factor above 13, all others. Its rate is interpolated between measured
/// lengths of its class, over the logarithm of the length. Where no length was measured: the single rate of the node's
/// description, twice that in single precision; 0 where the description has none.
double fft_rate_per_core(const machine::Node& node, std::int64_t length, const FftKind& kind) noexcept;

/// Bytes read plus bytes written a second when `threads` threads of the node move tiles between arrays of
/// `working_set_bytes` bytes together. The time of a byte is interpolated over the logarithm of the bytes, among the
/// measurements with the largest number of threads not above `threads`. Without measurements: the threads' share of the
/// memory bandwidth, or infinity for arrays that stay in cache.
double tile_bandwidth(const machine::Node& node, std::int64_t threads, double working_set_bytes) noexcept;

/// A pass over a device's memory whose kernels transform pencils of `length` points, which lie as machine::DevicePass
/// has it.
struct DevicePassKind {
  std::int64_t length = 0;
  FftKind fft{};
  std::string reads = "points";
  std::string writes = "points";
};

/// Bytes read plus bytes written a second of such a pass that reads and writes `working_set_bytes`. Over lengths it is
/// interpolated as `fft_rate_per_core` does; over bytes, the time of a byte over their logarithm. Where no pass
/// was measured that reads and writes so, those count that read so. Without measurements: the bandwidth of the device's
/// memory. 0 where the device does no such transforms.
double device_pass_rate(const machine::Device& device, const DevicePassKind& pass, double working_set_bytes);

/// Multiplies the rates of a device's memory and kernels; those of its bus stay.
void scale_device_rates(machine::Device& device, double factor) noexcept;

/// Multiplies the rates of a core in transforms and multiplies, measured ones too. The node's peak stays.
void scale_core_rates(machine::Node& node, double factor) noexcept;

/// Multiplies the bandwidth of the node's memory and of its memory levels but storage, measured ones too.
void scale_memory_bandwidth(machine::Node& node, double factor) noexcept;

/// Whether the level is storage: files, not memory.
bool is_storage(const machine::MemoryLevel& level) noexcept;

}  // namespace penstock::model

#pragma GCC visibility pop
