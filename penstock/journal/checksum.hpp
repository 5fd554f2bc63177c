// Checksums of what lies in files. Included by journal.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/base/file.hpp"

namespace penstock::journal {

/// XXH64 with seed 0 (Y. Collet, xxHash specification 0.1.1): several bytes a cycle, 64 bits.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

/// What tells whether a file is the one it was: its length, its time of change, and a checksum over samples of it, as
/// text. Throws Error where it cannot be read.
std::string fingerprint(const File& file);

}  // namespace penstock::journal
