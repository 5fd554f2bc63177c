// The values of a parameter that an option lists. Included by study.hpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::study {

/// A parameter and the values that it takes in turn.
struct Sweep {
  std::string key;
  std::vector<double> values;
  bool is_geometric = true;  ///< by factors, not by steps
};

/// "KEY=FIRST..LAST", which doubles, "KEY=FIRST..LAST:xFACTOR", "KEY=FIRST..LAST:+STEP", or "KEY=A,B,C".
Sweep parse_sweep(std::string_view option, std::string_view text);

/// "KEY=VALUE".
std::pair<std::string, std::string> parse_assignment(std::string_view option, std::string_view text);

}  // namespace penstock::study
