// Checksums of what lies in files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock {

/// XXH64 with seed 0 (Y. Collet, xxHash specification 0.1.1): several bytes a cycle, 64 bits.
std::uint64_t checksum(std::span<const std::byte> bytes) noexcept;

}  // namespace penstock
