// C = alpha op(A) op(B) + beta C on a device, of matrices in host memory, which may be larger than the device's.
// Included by gemm.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "penstock/gemm/blas.hpp"
#include "penstock/gemm/device_rates.hpp"
#include "penstock/percolate/percolate.hpp"

#pragma GCC visibility push(default)

namespace penstock::device {
class Device;
}

namespace penstock::gemm {

class DeviceMultiplyState;

/// A product: C has m x n elements, op(A) m x k and op(B) k x n. Of the scalars the real parts are used.
struct DeviceProduct {
  npy::DataType type = npy::DataType::float64;  ///< float32 or float64
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Scalars scalars = {};
};

struct DeviceOptions {
  /// The device memory that tiles, panels and the BLAS's copies of them may take; 0: what is free but for a sixteenth,
  /// and of a device that is the host, half of what the system has left.
  std::uint64_t memory_bytes = 0;
  std::optional<DeviceRates> rates = {};  ///< nothing: they are measured
  /// Called with flops by `run`, on its thread.
  percolate::ProgressCallback progress = {};
};

/// How a product is cut for a device. A panel is tile_m x depth elements of op(A), or depth x tile_n of op(B).
struct DeviceTiling {
  std::int64_t tile_m = 0;
  std::int64_t tile_n = 0;
  std::int64_t depth = 0;
  std::int64_t slots_a = 0;  ///< panels of A that are in device memory at a time
  std::int64_t slots_b = 0;
  std::int64_t slots_c = 0;      ///< tiles of C: 2, or 1 where there is one tile
  bool goes_by_columns = false;  ///< the tiles of a column of tiles follow one another, else those of a row
};

/// The decisions that are made before a product runs.
struct DeviceMultiplyPlan {
  std::string library = {};  ///< the device's BLAS
  DeviceRates rates = {};
  DeviceTiling tiling = {};
  std::int64_t tiles = 0;
  std::uint64_t memory_bytes = 0;     ///< of the device, that may be taken
  std::uint64_t device_bytes = 0;     ///< of it, tiles, panels and the BLAS's copies
  std::uint64_t to_device_bytes = 0;  ///< over the bus
  std::uint64_t to_host_bytes = 0;
  double predicted_s = 0;
  double bus_s = 0;       ///< the time of its busier direction alone
  double multiply_s = 0;  ///< the time of the flops alone, at the device's rate
  double limit_s() const noexcept { return bus_s > multiply_s ? bus_s : multiply_s; }
};

struct DeviceResult {
  double total_s = 0;
  double pin_s = 0;  ///< of it, the time in which the matrices were pinned
  double flops = 0;
  std::uint64_t to_device_bytes = 0;
  std::uint64_t to_host_bytes = 0;
};

/// A product on a device, planned once and run often. The device's memory is the fast level, and host memory the slow
/// one, as memory and storage are of FileMultiply: a tile of C is in device memory while panels of A and B arrive in
/// slots, each of which is filled again after the multiply that read it. What percolate::run does with parcels, the
/// device does by streams and events: one stream copies to the device, one multiplies, one copies to the host. While a
/// tile is multiplied, C's next tile arrives where the tile before it has left.
///
/// The tiling is the one with the smallest predicted time (device_tiling.hpp says how that is predicted). Where A, B
/// and C fit in device memory, each crosses the bus once.
class DeviceMultiply {
 public:
  /// Takes the device's memory. Throws Error where the type is complex, the device has no double precision or no BLAS,
  /// and for too little memory.
  DeviceMultiply(std::shared_ptr<const device::Device> device, const DeviceProduct& product,
                 const DeviceOptions& options = {});
  ~DeviceMultiply();
  DeviceMultiply(const DeviceMultiply&) = delete;
  DeviceMultiply& operator=(const DeviceMultiply&) = delete;

  const DeviceMultiplyPlan& plan() const noexcept;

  /// Multiplies matrices in host memory; C's rows are `leading_c` elements apart. Returns when C is complete. The
  /// memory is pinned meanwhile, unless that has been done before (Device::pin). With beta 0 C is not read. Throws
  /// Error where the matrices cannot be pinned or the device fails: then no copy is under way any more, C has parts of
  /// both, and the object is of no more use. One thread at a time.
  DeviceResult run(const Block& a, const Block& b, std::byte* c, std::int64_t leading_c);

 private:
  std::unique_ptr<DeviceMultiplyState> state_;
};

}  // namespace penstock::gemm

#pragma GCC visibility pop
