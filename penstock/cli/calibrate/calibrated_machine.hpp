// A machine as it is being measured: its figures, and for each a comment that says how sure it is.
#pragma once

#include <string>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/probe/probe.hpp"

namespace penstock::cli {

/// A figure by its key in the machine file.
struct NamedFigure {
  std::string key;
  probe::Figure figure;
};

struct CalibratedMachine {
  machine::Machine machine;
  machine::Comments comments;
  std::vector<NamedFigure> figures;   ///< all that were measured, in the order of measuring
  std::vector<std::string> left_out;  ///< what could not be measured, and why
};

/// Keeps a figure's best under a key that the machine has been given it by, with a comment of its spread; `how` comes
/// first in it.
void note(CalibratedMachine& calibrated, const std::string& key, const probe::Figure& figure,
          const std::string& how = "measured");

}  // namespace penstock::cli
