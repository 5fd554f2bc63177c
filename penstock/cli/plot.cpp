#include "penstock/cli/plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

/// In gnuplot's single quotes, where a quote is doubled and nothing else means anything.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    result += letter == '\'' ? "''" : std::string(1, letter);
  }
  return result + "'";
}

std::string script_of(const Plot& plot) {
  std::string script = fmt::format(
      "set terminal svg size 900,560 dynamic enhanced background 'white' font 'sans,13'\n"
      "set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\nset grid\nset key outside right "
      "top noenhanced\n",
      quoted(plot.title), quoted(plot.x_name), quoted(plot.y_name));
  if (plot.has_logarithms) {
    script += "set logscale xy\nset format y '%.0s%c'\n";
  }
  std::vector<std::string> curves;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    script += fmt::format("$curve{} << END\n", i);
    for (std::size_t point = 0; point < plot.x.size(); ++point) {
      // A logarithm leaves no room for 0: there the curve has a gap.
      const bool is_drawn = !plot.has_logarithms || (plot.x[point] > 0 && plot.series[i].y[point] > 0);
      script += is_drawn ? fmt::format("{} {}\n", plot.x[point], plot.series[i].y[point]) : "\n";
    }
    script += "END\n";
    curves.push_back(fmt::format("$curve{} with linespoints title {}", i, quoted(plot.series[i].name)));
  }
  return script + fmt::format("plot {}\n", fmt::join(curves, ", "));
}

}  // namespace

void draw(const Plot& plot, const std::string& path) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    throw Error("--plot needs gnuplot, which is not found: install it (gnuplot-nox)");
  }
  Draft draft(path);
  // gnuplot writes where the draft lies, and the draft renames it.
  const std::string script = fmt::format("set output {}\n{}", quoted(Draft::part_path(path)), script_of(plot));
  std::FILE* pipe = popen("gnuplot 2>/dev/null", "w");
  if (pipe == nullptr) {
    throw Error("gnuplot cannot be started");
  }
  const bool is_written = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  const int status = pclose(pipe);
  if (!is_written || status != 0 || draft.file().size() == 0) {
    throw Error(fmt::format("gnuplot could not draw {}", path));
  }
  draft.commit();
}

}  // namespace penstock::cli
