#include "penstock/cli/core/parse.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstddef>

#include "penstock/base/base.hpp"

namespace penstock::cli {

std::array<bool, 3> parse_directions(std::string_view option, std::string_view text) {
  std::array<bool, 3> directions{};
  for (const char letter : text) {
    const std::size_t d = std::string_view("xyz").find(letter);
    if (d == std::string_view::npos || directions[d]) {
      throw Error(fmt::format("{} {}: give some of x, y and z, each once, such as xy", option, text));
    }
    directions[d] = true;
  }
  if (text.empty()) {
    throw Error(fmt::format("{} names no direction: give some of x, y and z, such as xy", option));
  }
  return directions;
}

namespace {

/// By number, but for the last.
const std::vector<std::pair<std::string_view, std::optional<fft::RealKind>>> kind_names{
    {"redft00", fft::RealKind::redft00}, {"redft10", fft::RealKind::redft10}, {"redft01", fft::RealKind::redft01},
    {"redft11", fft::RealKind::redft11}, {"rodft00", fft::RealKind::rodft00}, {"rodft10", fft::RealKind::rodft10},
    {"rodft01", fft::RealKind::rodft01}, {"rodft11", fft::RealKind::rodft11}, {"r2hc", fft::RealKind::r2hc},
    {"hc2r", fft::RealKind::hc2r},       {"dht", fft::RealKind::dht},         {"fourier", std::nullopt}};

}  // namespace

std::array<std::optional<fft::RealKind>, 3> parse_kinds(std::string_view option, std::string_view text) {
  std::vector<std::optional<fft::RealKind>> kinds;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    kinds.push_back(parse_choice<std::optional<fft::RealKind>>(option, text.substr(begin, end - begin), kind_names));
    begin = end + 1;
  }
  if (kinds.size() != 1 && kinds.size() != 3) {
    throw Error(fmt::format("{} {}: give one kind, or one each for x, y and z", option, text));
  }
  return {kinds.front(), kinds[kinds.size() / 2], kinds.back()};
}

std::string_view kind_name(const std::optional<fft::RealKind>& kind) {
  return kind ? kind_names[static_cast<std::size_t>(*kind)].first : kind_names.back().first;
}

std::array<int, 3> parse_sequence(std::string_view option, std::string_view text) {
  const std::array<bool, 3> directions = parse_directions(option, text);
  if (directions != std::array{true, true, true}) {
    throw Error(fmt::format("{} {}: give each of x, y and z once, such as zxy", option, text));
  }
  return {text[0] - 'x', text[1] - 'x', text[2] - 'x'};
}

percolate::EngineChoice parse_engine(std::string_view option, std::string_view text) {
  return parse_choice<percolate::EngineChoice>(option, text,
                                               {{"auto", percolate::EngineChoice::automatic},
                                                {"io_uring", percolate::EngineChoice::uring},
                                                {"threads", percolate::EngineChoice::threads}});
}

std::vector<std::size_t> parse_message_sizes(std::string_view option, std::string_view text) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  const std::size_t colon = text.find(':');
  const std::int64_t first = parse_integer(option, text.substr(0, colon), 1, largest);
  const std::int64_t last =
      colon == std::string_view::npos ? first : parse_integer(option, text.substr(colon + 1), first, largest);
  std::vector<std::size_t> sizes;
  for (std::int64_t bytes = first; bytes <= last; bytes *= 2) {
    sizes.push_back(static_cast<std::size_t>(bytes));
  }
  return sizes;
}

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& value_name, const std::string& help,
                       std::function<void(const std::string&)> take) {
  const std::string without = help.ends_with(')') ? "" : " (none)";
  return app.add_option_function<std::string>(name, take, help + without)->type_name(value_name);
}

std::vector<std::string> given_options(const CLI::App& app) {
  std::vector<std::string> given;
  for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return one->count() > 0; })) {
    given.push_back(option->get_name());
  }
  return given;
}

}  // namespace penstock::cli
