#include "penstock/cli/report/command_line.hpp"

#include <fmt/format.h>

#include <string_view>

namespace penstock::cli {
namespace {

std::string quoted_for_shell(const std::string& text) {
  constexpr std::string_view special = " \t\n'\"\\$`&|;<>()*?[]{}~#!";
  if (!text.empty() && text.find_first_of(special) == std::string::npos) {
    return text;
  }
  std::string quoted;
  for (const char letter : text) {
    quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return fmt::format("'{}'", quoted);
}

}  // namespace

std::string command_line(const Session& session) {
  const int processes = session.processes.size();
  std::string line = processes > 1 ? fmt::format("mpiexec -n {} penstock", processes) : "penstock";
  for (const std::string& argument : session.options.arguments) {
    line += fmt::format(" {}", quoted_for_shell(argument));
  }
  return line;
}

}  // namespace penstock::cli
