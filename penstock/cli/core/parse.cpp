#include "penstock/cli/core/parse.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

/// Reads all of `text` as one number of type T.
template <class T>
std::errc read_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && rest != end ? std::errc::invalid_argument : code;
}

/// The numbers between the letters x, as many as `values` has room for.
void parse_product(std::string_view option, std::string_view text, std::string_view form,
                   std::initializer_list<std::int64_t*> values) {
  std::string_view rest = text;
  std::size_t left = values.size();
  for (std::int64_t* value : values) {
    const std::size_t length = --left > 0 ? rest.find('x') : rest.size();
    const std::errc code =
        length == std::string_view::npos ? std::errc::invalid_argument : read_number(rest.substr(0, length), *value);
    if (code == std::errc::result_out_of_range) {
      throw Error(fmt::format("{} {}: a number in it is larger than 64 bits can hold", option, text));
    }
    if (code != std::errc()) {
      throw Error(fmt::format("{} {}: not of the form {}, such as 256x256x256 or 1x2", option, text, form));
    }
    if (*value < 1) {
      throw Error(fmt::format("{} {}: each number must be at least 1", option, text));
    }
    rest.remove_prefix(left > 0 ? length + 1 : length);
  }
}

}  // namespace

std::int64_t parse_integer(std::string_view option, std::string_view text, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = 0;
  const std::errc code = read_number(text, value);
  if (code == std::errc::invalid_argument) {
    throw Error(fmt::format("{} {}: not a whole number", option, text));
  }
  if (code == std::errc() && value < lowest) {
    throw Error(fmt::format("{} {}: must be at least {}", option, text, lowest));
  }
  if (code != std::errc() || value > highest) {
    throw Error(fmt::format("{} {}: must be at most {}", option, text, highest));
  }
  return value;
}

double parse_number(std::string_view option, std::string_view text, double lowest) {
  double value = 0;
  if (read_number(text, value) != std::errc() || !std::isfinite(value)) {
    throw Error(fmt::format("{} {}: not a number", option, text));
  }
  if (value < lowest) {
    throw Error(fmt::format("{} {}: must be at least {}", option, text, lowest));
  }
  return value;
}

fft::Extents parse_size(std::string_view option, std::string_view text) {
  fft::Extents size{};
  parse_product(option, text, "NXxNYxNZ", {&size[0], &size[1], &size[2]});
  return size;
}

fft::Grid parse_grid(std::string_view option, std::string_view text) {
  if (text == "auto") {
    return {};
  }
  std::int64_t ty = 0;
  std::int64_t tz = 0;
  parse_product(option, text, "TYxTZ", {&ty, &tz});
  constexpr std::int64_t limit = std::numeric_limits<int>::max();
  if (ty > limit || tz > limit) {
    throw Error(fmt::format("{} {}: no machine has so many ranks", option, text));
  }
  return {.ty = static_cast<int>(ty), .tz = static_cast<int>(tz)};
}

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

void refuse_choice(std::string_view option, std::string_view text, const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    list += list.empty() ? std::string(name) : fmt::format(", {}", name);
  }
  throw Error(fmt::format("{} {}: must be one of {}", option, text, list));
}

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& value_name, const std::string& help,
                       std::function<void(const std::string&)> take) {
  const std::string without = help.ends_with(')') ? "" : " (none)";
  return app.add_option_function<std::string>(name, take, help + without)->type_name(value_name);
}

}  // namespace penstock::cli
