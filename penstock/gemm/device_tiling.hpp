// How a product is cut for a device, and what passes over the bus then. Private to the module.
#pragma once

#include <cstdint>

#include "penstock/gemm/device_multiply.hpp"

namespace penstock::gemm {

/// A product and a device, as far as the tiling depends on them.
struct DeviceProblem {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t real_bytes = 8;
  bool reads_c = false;
  bool copies_matrices = false;    ///< the BLAS needs the memory of a tile and two panels besides
  std::int64_t compute_units = 1;  ///< of the device
  std::uint64_t block_bytes = 0;   ///< of one block of the device's memory at most
  std::uint64_t memory_bytes = 0;
};

/// The extent that `extent` elements take in device memory: rows begin at multiples of 32 elements.
constexpr std::int64_t padded(std::int64_t extent) noexcept {
  return (extent + 31) / 32 * 32;
}

/// One multiply: tile (row, column) of C and panel `layer` of A and B, by their numbers.
struct DeviceStep {
  std::int64_t tile = 0;  ///< the number of the tile in the order of the work
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t layer = 0;
  std::int64_t number = 0;  ///< of the step in its tile
};

/// The steps of a product. Each row of tiles is walked against the direction of the row before, and each tile's panels
/// against that of the tile before: what was used last is used next, and is still there.
class DeviceWalk {
 public:
  DeviceWalk(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept;

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t layers() const noexcept { return layers_; }
  std::int64_t tiles() const noexcept { return rows_ * columns_; }
  std::int64_t steps() const noexcept { return rows_ * columns_ * layers_; }
  DeviceStep step(std::int64_t index) const noexcept;

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t layers_;
  bool goes_by_columns_;
};

/// The device memory of a tiling.
std::uint64_t device_bytes(const DeviceProblem& problem, const DeviceTiling& tiling) noexcept;

/// What a tiling brings, by these rules:
///
/// - C crosses the bus once, and before that once more where it is read. Of the panels, the least recently used makes
///   room. Where tiles go by rows, each tile but the first of a row finds slots_a panels of A, and each row but the
///   first slots_b panels of B. With two slots that is about mnk (1 / tile_m + 1 / tile_n) elements of A and B.
/// - A BLAS gives blocks of C of about 128 x 128 elements to all compute units at a time: what is not used in the last
///   of these waves, and of blocks at the edge, is lost. Each multiply reads its panels, and reads and writes its tile
///   of C, in device memory.
/// - The first panels, and the first tile of C, arrive before any multiply; the last tile leaves after all of them. All
///   else overlaps.
///
/// Sets to_device_bytes, to_host_bytes, device_bytes, tiles and times.
DeviceMultiplyPlan forecast(const DeviceProblem& problem, const DeviceTiling& tiling,
                            const DeviceRates& rates) noexcept;

/// The tiling whose time is predicted to be smallest. Candidates are tiles of any number of rows and columns, and
/// depths of powers of 2; memory that is left goes to slots. Throws Error where the memory has no room for the
/// smallest.
DeviceMultiplyPlan choose_device_tiling(const DeviceProblem& problem, const DeviceRates& rates);

}  // namespace penstock::gemm
