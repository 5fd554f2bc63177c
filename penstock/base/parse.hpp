// Option values read from text: each mistake an Error that names the option, the value and what would be accepted. Not
// included by base.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace penstock {

/// A whole number from `lowest` to `highest`.
std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t lowest,
                           std::int64_t highest = std::numeric_limits<std::int64_t>::max());

/// A finite number of at least `lowest`.
double parse_number(std::string_view option, std::string_view text, double lowest);

/// "NXxNYxNZ", each at least 1.
std::array<std::int64_t, 3> parse_size(std::string_view option, std::string_view text);

/// "TYxTZ" or "auto" (0 x 0).
std::array<int, 2> parse_grid(std::string_view option, std::string_view text);

/// Throws the Error of a text that is none of the names.
[[noreturn]] void refuse_choice(std::string_view option, std::string_view text,
                                const std::vector<std::string_view>& names);

/// One of the names given, as its value.
template <class Value>
Value parse_choice(std::string_view option, std::string_view text,
                   const std::vector<std::pair<std::string_view, Value>>& choices) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == text) {
      return value;
    }
    names.push_back(name);
  }
  refuse_choice(option, text, names);
}

}  // namespace penstock

#pragma GCC visibility pop
