#include "penstock/base/parse.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <system_error>

#include "penstock/base/error.hpp"

namespace penstock {
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

std::array<std::int64_t, 3> parse_size(std::string_view option, std::string_view text) {
  std::array<std::int64_t, 3> size{};
  parse_product(option, text, "NXxNYxNZ", {&size[0], &size[1], &size[2]});
  return size;
}

std::array<int, 2> parse_grid(std::string_view option, std::string_view text) {
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
  return {static_cast<int>(ty), static_cast<int>(tz)};
}

void refuse_choice(std::string_view option, std::string_view text, const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    list += list.empty() ? std::string(name) : fmt::format(", {}", name);
  }
  throw Error(fmt::format("{} {}: must be one of {}", option, text, list));
}

}  // namespace penstock
