// Checksums of data in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace penstock {

/// The XXH64 checksum of `bytes`, with seed 0 (Y. Collet, xxHash specification 0.1.1); several bytes a cycle.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace penstock

#pragma GCC visibility pop
