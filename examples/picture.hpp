// Planes of fields as pictures, drawn by gnuplot.
#pragma once

#include <csignal>
#include <cstdio>
#include <penstock/base/error.hpp>
#include <penstock/gas/gas.hpp>
#include <span>
#include <string>
#include <vector>

namespace picture {

/// A plane of `columns` times some rows of numbers, the first row below.
struct Panel {
  std::string title;
  std::vector<double> numbers;
  std::size_t columns = 0;
};

/// Collective: of each number the largest of all ranks', which have the lowest where they hold none.
inline void gather(const penstock::gas::Team& team, std::vector<double>& numbers) {
  penstock::gas::all_reduce<double>(team, numbers, std::span(numbers), penstock::gas::Maximum{});
}

/// Draws the panels beside each other into the PNG file `path`. Throws penstock::Error where gnuplot fails.
inline void draw(const std::string& path, std::span<const Panel> panels) {
  const auto on_closed_pipe = std::signal(SIGPIPE, SIG_IGN);  // gnuplot's status tells
  std::FILE* gnuplot = popen("gnuplot", "w");
  if (gnuplot == nullptr) {
    throw penstock::Error("gnuplot cannot be started");
  }
  std::fprintf(gnuplot,
               "set terminal pngcairo size %zu,420 font 'sans,11'\nset output '%s'\nset multiplot layout 1,%zu\n"
               "set size ratio -1\nunset key\nset palette cubehelix start 0.5 cycles -1 saturation 1\n"
               "set autoscale xfix\nset autoscale yfix\n",
               420 * panels.size(), path.c_str(), panels.size());
  for (const Panel& panel : panels) {
    std::fprintf(gnuplot, "set title '%s'\n$plane << END\n", panel.title.c_str());
    for (std::size_t i = 0; i < panel.numbers.size(); ++i) {
      std::fprintf(gnuplot, "%.6g%c", panel.numbers[i], (i + 1) % panel.columns == 0 ? '\n' : ' ');
    }
    std::fprintf(gnuplot, "END\nplot $plane matrix with image\n");
  }
  const int status = pclose(gnuplot);
  std::signal(SIGPIPE, on_closed_pipe);
  if (status != 0) {
    throw penstock::Error("gnuplot could not draw " + path);
  }
}

}  // namespace picture
