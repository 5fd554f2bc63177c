// What storage reads and writes, measured in a moment. Included by percolate.hpp.
#pragma once

#include <span>
#include <string>

#include "penstock/percolate/transfer.hpp"

namespace penstock::percolate {

struct StorageRates {
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;
};

/// Bytes a second of `transfers`, all begun at once, whose memory is the caller's. Throws Error where one fails.
double measure_transfers(Engine& engine, std::span<const Transfer> transfers);

/// Writes and reads a file without a name in `folder`, 32 MiB in pieces of 1 MiB, past the page cache where the file
/// system lets it. Takes 8 MiB of memory; of less, if `max_bytes` are less, smaller pieces are made, of a page at
/// least. Throws Error where the folder cannot be written.
StorageRates measure_storage(const std::string& folder, Engine& engine, std::int64_t max_bytes);

}  // namespace penstock::percolate
