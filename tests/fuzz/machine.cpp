// Machine files from any text: one that is accepted is written and read again as the same. The lines behind a line of
// "--set" are keys that are replaced.
#include "penstock/machine/machine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "tests/fuzz/target.hpp"

namespace penstock {
namespace {

std::vector<machine::Override> overrides_of(std::string_view lines) {
  std::vector<machine::Override> overrides;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    if (const std::size_t equals = line.find('='); equals != std::string_view::npos) {
      std::string value(line.substr(equals + 1));
      std::replace(value.begin(), value.end(), '\v', '\n');  // a value may have lines of its own
      overrides.push_back({.key = std::string(line.substr(0, equals)), .value = std::move(value)});
    }
  }
  return overrides;
}

void check_written(const machine::Machine& machine) {
  require(machine::parse(machine::format(machine), "written") == machine, "a machine written is read as the same");
}

void check(std::string_view text) {
  constexpr std::string_view mark = "\n--set\n";
  const std::size_t end = text.find(mark);
  const std::string_view file = text.substr(0, end);
  const machine::Machine machine = file.empty() ? machine::built_in() : machine::parse(file, "fuzzed.toml");
  check_written(machine);
  if (end == std::string_view::npos) {
    return;
  }
  const auto overrides = overrides_of(text.substr(end + mark.size()));
  for (const machine::Override& change : overrides) {
    try {
      machine::number(machine, change.key);
    } catch (const Error&) {  // no number of that name
    }
  }
  check_written(machine::with(machine, overrides));
}

}  // namespace
}  // namespace penstock

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    penstock::check(penstock::text_of(data, size));
  } catch (const penstock::Error&) {  // refused, with a message
  }
  return 0;
}
