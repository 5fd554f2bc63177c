// Option values read from text: each mistake an Error that names the option, the value and what would be accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/percolate/percolate.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace penstock::cli {

/// A whole number from `lowest` to `highest`.
std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t lowest,
                           std::int64_t highest = std::numeric_limits<std::int64_t>::max());

/// A finite number of at least `lowest`.
double parse_number(std::string_view option, std::string_view text, double lowest);

/// "NXxNYxNZ", each at least 1.
fft::Extents parse_size(std::string_view option, std::string_view text);

/// "TYxTZ" or "auto" (0 x 0).
fft::Grid parse_grid(std::string_view option, std::string_view text);

/// Some of the directions, such as "xz", each once.
std::array<bool, 3> parse_directions(std::string_view option, std::string_view text);

/// All directions, each once, in some order, such as "zxy".
std::array<int, 3> parse_sequence(std::string_view option, std::string_view text);

/// "KIND", of all directions, or "KIND,KIND,KIND", of x, y and z: FFTW's names in small letters, and "fourier", which
/// is none of them.
std::array<std::optional<fft::RealKind>, 3> parse_kinds(std::string_view option, std::string_view text);
/// The name of one.
std::string_view kind_name(const std::optional<fft::RealKind>& kind);

/// "auto", "io_uring" or "threads".
percolate::EngineChoice parse_engine(std::string_view option, std::string_view text);

/// "FIRST:LAST" or one number: lengths of messages in bytes from the first on, doubling up to the last.
std::vector<std::size_t> parse_message_sizes(std::string_view option, std::string_view text);

/// One of the names given, as its value.
template <class Value>
Value parse_choice(std::string_view option, std::string_view text,
                   const std::vector<std::pair<std::string_view, Value>>& choices);

/// Declares an option whose text goes to `take`, which may throw; `value_name` stands for it in the help. `help` ends
/// with what is taken where the option is not given, in parentheses; without them "(none)" is added.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& value_name, const std::string& help,
                       std::function<void(const std::string&)> take);

[[noreturn]] void refuse_choice(std::string_view option, std::string_view text,
                                const std::vector<std::string_view>& names);

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

}  // namespace penstock::cli
