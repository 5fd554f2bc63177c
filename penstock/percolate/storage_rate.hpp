// What storage reads and writes, measured in a moment or in several passes. Included by percolate.hpp.
#pragma once

#include <span>
#include <string>

#include "penstock/percolate/transfer.hpp"

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// Of passes, each of which writes a file and reads it.
struct StorageRates {
  double read_bytes_per_s = 0;   ///< of the best pass
  double write_bytes_per_s = 0;  ///< the same
  double median_read_bytes_per_s = 0;
  double median_write_bytes_per_s = 0;
  int passes = 0;
  bool is_direct = false;  ///< the files passed by the page cache
};

/// Bytes a second of `transfers`, all begun at once, whose memory is the caller's. Throws Error where one fails.
double measure_transfers(Engine& engine, std::span<const Transfer> transfers);

/// Writes and reads a file without a name in `folder`, 32 MiB of random bytes in pieces of 1 MiB, past the page cache
/// where the file system lets it; elsewhere the file is brought to the disk, which counts as writing, and the cache
/// drops it before it is read. Does so `passes` times, each time with a file of its own; only twice where that takes
/// more than 2 s. Takes 8 MiB of memory; of less, if `max_bytes` are less, smaller pieces are made, of a page at least.
/// Throws Error where the folder cannot be written.
StorageRates measure_storage(const std::string& folder, Engine& engine, std::int64_t max_bytes, int passes = 1);

}  // namespace penstock::percolate

#pragma GCC visibility pop
