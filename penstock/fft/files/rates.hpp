// The rates of transforms and of storage, measured in short, for predictions of transforms in files.
#pragma once

#include <string>

#include "penstock/fft/files/files.hpp"
#include "penstock/fft/files/tiling.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {

/// Flops (5 n log2 n for a line of n points) of lines of all directions, half of them gathered from memory, on all
/// threads together: in 0.1 s or the time of one tile. Takes 4 MiB for each thread, or its share of `max_bytes`, but
/// one line at least.
double measure_line_rate(const Extents& size, npy::DataType type, int threads, std::int64_t max_bytes);

/// Measured where `options` bring no machine, in up to `max_bytes` of memory: storage in the folder `folder` by
/// `engine`, and lines. Throws Error where the machine lacks its FFT rate or the memory level "storage".
model::StorageCosts find_storage_rates(const FileOptions& options, const Extents& size, npy::DataType type,
                                       const std::string& folder, percolate::Engine& engine, std::int64_t max_bytes);

/// Flops of the transforms along x and y of a whole field, half as many along x where it is real, and along z.
struct PassFlops {
  double slabs = 0;
  double columns = 0;
};
PassFlops pass_flops(const FileShape& shape) noexcept;

}  // namespace penstock::fft
