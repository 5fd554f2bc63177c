#include "penstock/study/sweep.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"

namespace penstock::study {
namespace {

constexpr std::size_t max_values = 10000;
constexpr double lowest = std::numeric_limits<double>::lowest();

std::vector<double> parse_list(std::string_view option, std::string_view text) {
  std::vector<double> values;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    values.push_back(parse_number(option, text.substr(0, comma), lowest));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return values;
}

}  // namespace

std::pair<std::string, std::string> parse_assignment(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    throw Error(fmt::format("{} {}: not of the form KEY=VALUE", option, text));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Sweep parse_sweep(std::string_view option, std::string_view text) {
  const auto [key, range] = parse_assignment(option, text);
  Sweep sweep{.key = key, .values = {}};
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) {
    sweep.values = parse_list(option, range);
    return sweep;
  }
  const std::size_t colon = range.find(':', dots);
  const double first = parse_number(option, range.substr(0, dots), lowest);
  const double last = parse_number(option, range.substr(dots + 2, colon - dots - 2), lowest);
  const std::string pace = colon == std::string::npos ? "x2" : range.substr(colon + 1);
  sweep.is_geometric = pace.starts_with('x');
  const double by = pace.empty() ? 0 : parse_number(option, pace.substr(1), lowest);
  const bool is_usable = sweep.is_geometric ? by > 1 && first > 0 : pace.starts_with('+') && by > 0;
  if (!is_usable || last < first) {
    throw Error(
        fmt::format("{} {}: not of the form KEY=FIRST..LAST:xFACTOR (a factor above 1, from above 0) or "
                    "KEY=FIRST..LAST:+STEP, LAST not below FIRST",
                    option, text));
  }
  // Each value from the first one, so that no rounding adds up and leaves out the last.
  for (double value = first, step = 0; value <= last * (1 + 1e-12); ++step) {
    if (sweep.values.size() == max_values) {
      throw Error(fmt::format("{} {}: more than {} values", option, text, max_values));
    }
    sweep.values.push_back(value);
    value = sweep.is_geometric ? sweep.values.back() * by : first + (step + 1) * by;
  }
  return sweep;
}

}  // namespace penstock::study
