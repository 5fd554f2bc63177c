// Curves drawn by gnuplot into SVG files.
#pragma once

#include <string>
#include <vector>

namespace penstock::cli {

struct Plot {
  std::string title;
  std::string x_name;
  std::string y_name;
  bool has_logarithms = false;  ///< on both axes
  std::vector<double> x;
  struct Series {
    std::string name;
    std::vector<double> y;
  };
  std::vector<Series> series;
};

/// Draws into the file `path`, beside and renamed. Throws Error where gnuplot is not there or fails, and where the file
/// cannot be written.
void draw(const Plot& plot, const std::string& path);

}  // namespace penstock::cli
