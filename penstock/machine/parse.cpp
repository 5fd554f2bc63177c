#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>

#include "penstock/base/base.hpp"
#include "penstock/machine/reader.hpp"

namespace penstock::machine {

Machine parse(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line, error.description()));
  }
  Machine machine;
  Reader(name, "", table).read(machine);
  return machine;
}

Machine read(const std::string& path) {
  return parse(read_text(path), path);
}

}  // namespace penstock::machine
