// The figures of the documents that Penstock comes from, ours beside theirs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::lab {

/// What it says of a model that a figure reproduces.
enum class Basis {
  derived,  ///< from the document's other figures, or from figures of a machine that come from elsewhere: a test
  fitted,   ///< figures of the machine were chosen so that this comes out: no test, but that they can be chosen so
  refit,    ///< the document's parameters, fitted to the curve that they draw themselves: a test of the fit alone
};

/// One printed figure. Where it does not follow from the document's own equations, `note` says why.
struct Statement {
  std::string what;
  std::string unit;              ///< "s", "PFlop/s", "" for a ratio or a number
  std::optional<double> theirs;  ///< absent where the document draws but prints no number
  double ours = 0;
  double tolerance = 0.01;  ///< of their figure: its rounding, or what was asked of a model with fitted parameters
  std::string note = {};
  Basis basis = Basis::derived;

  /// ours / theirs - 1; absent without theirs.
  std::optional<double> difference() const noexcept;
  bool reproduces() const noexcept;
};

/// A drawn figure: a value for each x and series.
struct Curves {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::vector<double> x;
  struct Series {
    std::string name;
    std::vector<double> y;
  };
  std::vector<Series> series;
};

/// All of one subject.
struct Reproduction {
  std::string name;
  std::string source;
  std::vector<Statement> statements;
  std::vector<Curves> curves;
};

/// "ping-pong", "scaling", "bluegene-p", "exascale", "htmt".
std::vector<std::string_view> reproduction_names();

/// Throws Error for another name, with the list of those that there are.
Reproduction reproduce(std::string_view name);

}  // namespace penstock::lab
