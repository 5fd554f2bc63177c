#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/machine/toml_reader.hpp"

namespace penstock::machine {
namespace {

/// The library recurses into each table of a dotted key without a limit of its own: a key of 50,000 words ends the
/// program. Keys of machine files have at most five words.
void check_depth(std::string_view text, const std::string& name) {
  constexpr std::int64_t max_points = 32;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with('#') && std::ranges::count(line, '.') > max_points) {
      throw Error(fmt::format("{}:{}: a line with more than {} points: break it up", name, number, max_points));
    }
  }
}

}  // namespace

toml::table parse_table(std::string_view text, const std::string& name) {
  check_depth(text, name);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line, error.description()));
  }
}

Machine parse(std::string_view text, const std::string& name) {
  const toml::table table = parse_table(text, name);
  Machine machine;
  Reader(name, "", table).read(machine);
  return machine;
}

Machine read(const std::string& path) {
  return parse(read_text(path), path);
}

}  // namespace penstock::machine
