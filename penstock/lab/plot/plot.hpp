// Curves drawn by gnuplot into SVG files.
#pragma once

#include <string>
#include <vector>

namespace penstock::lab {

/// What is drawn: curves over common points `x`, on one axis or, where they differ in kind, on two.
struct Chart {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::string right_name = {};  ///< of the axis on the right, for the series that are measured there
  bool has_logarithms = false;  ///< on all axes
  std::vector<double> x;
  struct Series {
    std::string name;
    std::vector<double> y;  ///< as many as `x`
    bool is_on_the_right = false;
  };
  std::vector<Series> series;
};

/// Draws into the file `path`, beside and renamed. Throws Error where gnuplot is not there or fails, and where the file
/// cannot be written.
void draw(const Chart& chart, const std::string& path);

/// Whether there is a gnuplot to draw with: for programs that would rather know before long work.
bool can_draw();

}  // namespace penstock::lab
