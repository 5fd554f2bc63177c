#include "penstock/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "penstock/base/error.hpp"

namespace penstock {
namespace {

std::string with_three_digits(double value, std::string_view unit) {
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) {
    value /= 1024;
  }
  return with_three_digits(value, units[unit]);
}

std::string format_seconds(double duration_s) {
  for (const auto& [unit, scale] : {std::pair{"s", 1.0}, std::pair{"ms", 1e-3}, std::pair{"us", 1e-6}}) {
    if (std::abs(duration_s) >= scale) {
      return with_three_digits(duration_s / scale, unit);
    }
  }
  return with_three_digits(duration_s / 1e-9, "ns");
}

std::uint64_t parse_bytes(std::string_view text) {
  const auto refuse = [&] {
    throw Error(fmt::format("'{}' is not a number of bytes: write it as 4096, 512MiB or 2GB", text));
  };
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || !(value >= 0)) {
    refuse();
  }
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') {
    unit.remove_prefix(1);
  }
  constexpr std::array<std::pair<std::string_view, double>, 11> units{{{"", 1},
                                                                       {"B", 1},
                                                                       {"kB", 1e3},
                                                                       {"MB", 1e6},
                                                                       {"GB", 1e9},
                                                                       {"TB", 1e12},
                                                                       {"KiB", 0x1p10},
                                                                       {"MiB", 0x1p20},
                                                                       {"GiB", 0x1p30},
                                                                       {"TiB", 0x1p40},
                                                                       {"PiB", 0x1p50}}};
  for (const auto& [name, scale] : units) {
    if (unit == name) {
      if (value * scale >= 0x1p64) {
        throw Error(fmt::format("'{}' is more bytes than 64 bits can count", text));
      }
      return static_cast<std::uint64_t>(value * scale);
    }
  }
  refuse();
  return 0;
}

}  // namespace penstock
