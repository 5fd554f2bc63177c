#include "penstock/cli/core/transport_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::cli {
namespace {

constexpr const char* variable = "PENSTOCK_TRANSPORT";

}  // namespace

void check_transport(const TransportChoice& choice) {
  const auto names = gas::transport_names();
  if (std::ranges::find(names, choice.name) == names.end()) {
    throw Error(fmt::format("{}: must be one of {}", choice.told_by, fmt::join(names, ", ")));
  }
  if (choice.name != "threads") {
    static_cast<void>(gas::reach_named(choice.name));  // throws where it is not built in
  }
}

TransportChoice resolve_transport(const Processes& processes, const TransportChoice& option) {
  if (!option.told_by.empty()) {
    return option;
  }
  const char* const text = std::getenv(variable);
  const std::string name = text == nullptr ? "" : text;
  processes.agree_on(variable, name);
  if (name.empty()) {
    return option;
  }
  const TransportChoice choice{.name = name, .told_by = fmt::format("{}={}", variable, name)};
  check_transport(choice);
  return choice;
}

}  // namespace penstock::cli
