// The figures of the documents that Penstock comes from, with the numbers of our models beside theirs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::lab {

/// What a reproduced figure proves about a model.
enum class Basis {
  derived,  ///< a test: ours follows from the document's other figures, or from a machine's figures that come from
            ///< elsewhere
  fitted,   ///< no test: the machine's figures were chosen so that this comes out; it shows only that they can be
  refit,    ///< a test of the fit alone: the document's parameters, fitted to the curve that they draw themselves
};

/// One printed figure. Where it does not follow from the document's own equations, `note` says why.
struct Statement {
  std::string what;
  std::string unit;              ///< "s", "PFlop/s", "" for a ratio or a number
  std::optional<double> theirs;  ///< absent where the document draws but prints no number
  double ours = 0;
  double tolerance = 0.01;  ///< relative to theirs: its rounding, or what a model with fitted parameters must reach
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

/// The statements and the curves of one subject.
struct Reproduction {
  std::string name;
  std::string source;
  std::vector<Statement> statements;
  std::vector<Curves> curves;
};

/// The names of the subjects: "ping-pong", "scaling", "bluegene-p", "exascale", "digpufft", "htmt".
std::vector<std::string_view> reproduction_names();

/// The reproduction of the subject `name`. Throws Error for another name, with the list of the names.
Reproduction reproduce(std::string_view name);

}  // namespace penstock::lab
