// Numbers with units, as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace penstock {

/// `bytes` as text, such as "1.50 GiB": three significant digits, binary units.
std::string format_bytes(std::uint64_t bytes);

/// `duration_s` as text, such as "12.3 ms": three significant digits, from nanoseconds to seconds.
std::string format_seconds(double duration_s);

/// The number of bytes that a text means, such as "4096", "512MiB" or "2 GB" (binary units KiB to PiB, decimal kB to
/// TB).
/// Throws Error when the text is no such number or does not fit in 64 bits.
std::uint64_t parse_bytes(std::string_view text);

}  // namespace penstock

#pragma GCC visibility pop
