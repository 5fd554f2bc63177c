// Curves drawn by gnuplot into SVG files.
#pragma once

#include <string>
#include <vector>

namespace penstock::lab {

/// A chart: curves over common points `x`, on one y axis or, where they differ in kind, on two.
struct Chart {
  std::string title;
  std::string x_name;
  std::string y_name;
  std::string right_name = {};  ///< the name of the right axis, for the series that belong to it
  bool has_logarithms = false;  ///< whether all axes are logarithmic
  std::vector<double> x;
  struct Series {
    std::string name;
    std::vector<double> y;  ///< as many numbers as `x`
    bool is_on_the_right = false;
  };
  std::vector<Series> series;
};

/// Draws the chart into the SVG file `path`, written beside and renamed. Throws Error where gnuplot is missing or
/// fails, and where the file cannot be written.
void draw(const Chart& chart, const std::string& path);

/// Whether there is a gnuplot: for programs that check this before long work.
bool can_draw();

}  // namespace penstock::lab
