#include "penstock/lab/reproductions/reproductions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/lab/reproductions/subjects.hpp"

namespace penstock::lab {
namespace {

constexpr std::array<std::pair<std::string_view, Reproduction (*)()>, 6> all{{{"ping-pong", reproduce_ping_pong},
                                                                              {"scaling", reproduce_scaling},
                                                                              {"bluegene-p", reproduce_bluegene},
                                                                              {"exascale", reproduce_exascale},
                                                                              {"digpufft", reproduce_digpufft},
                                                                              {"htmt", reproduce_htmt}}};

}  // namespace

std::optional<double> Statement::difference() const noexcept {
  return theirs ? std::optional(ours / *theirs - 1) : std::nullopt;
}

bool Statement::reproduces() const noexcept {
  return !theirs || std::abs(ours - *theirs) <= tolerance * std::abs(*theirs);
}

std::vector<std::string_view> reproduction_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, make] : all) {
    names.push_back(name);
  }
  return names;
}

Reproduction reproduce(std::string_view name) {
  for (const auto& [known, make] : all) {
    if (known == name) {
      return make();
    }
  }
  throw Error(
      fmt::format("'{}' is nothing to reproduce: give all, or one of {}", name, fmt::join(reproduction_names(), ", ")));
}

}  // namespace penstock::lab
