// Numbers with units, as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

/// "1.50 GiB": three significant digits, binary units.
std::string format_bytes(std::uint64_t bytes);

/// "12.3 ms": three significant digits, from nanoseconds to seconds.
std::string format_seconds(double duration_s);

/// The bytes that "4096", "512MiB" or "2 GB" mean (binary units KiB to TiB, decimal kB to TB).
/// Throws Error when the text is no such number or does not fit in 64 bits.
std::uint64_t parse_bytes(std::string_view text);

}  // namespace penstock
