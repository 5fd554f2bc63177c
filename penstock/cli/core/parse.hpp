// Option values of the command alone read from text, as those of base/parse.hpp are.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/parse.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/percolate/percolate.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace penstock::cli {

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

/// Declares an option whose text goes to `take`, which may throw; `value_name` stands for it in the help. `help` ends
/// with what is taken where the option is not given, in parentheses; without them "(none)" is added.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& value_name, const std::string& help,
                       std::function<void(const std::string&)> take);

/// The names of the options that were given, as "--reps".
std::vector<std::string> given_options(const CLI::App& app);

}  // namespace penstock::cli
