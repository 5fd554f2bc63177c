#include "penstock/lab/plot/plot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "penstock/base/base.hpp"

namespace penstock::lab {
namespace {

/// In gnuplot's single quotes, where a quote is doubled and nothing else means anything.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) {
    result += letter == '\'' ? "''" : std::string(1, letter);
  }
  return result + "'";
}

// Beyond this many points a curve shows where they lie by itself.
constexpr std::size_t max_marks = 100;

std::string script_of(const Chart& chart) {
  std::string script = fmt::format(
      "set terminal svg size 900,560 dynamic enhanced background 'white' font 'sans,13'\n"
      "set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\nset grid\nset key outside right "
      "top noenhanced\n",
      quoted(chart.title), quoted(chart.x_name), quoted(chart.y_name));
  if (chart.has_logarithms) {
    script += "set logscale xyy2\nset format y '%.0s%c'\nset format y2 '%.0s%c'\n";
  }
  std::vector<std::string> curves;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& [name, y, is_on_the_right] = chart.series[i];
    if (is_on_the_right) {
      script += fmt::format("set ytics nomirror\nset y2tics\nset y2label {} noenhanced\n", quoted(chart.right_name));
    }
    script += fmt::format("$curve{} << END\n", i);
    for (std::size_t point = 0; point < chart.x.size(); ++point) {
      // A logarithm leaves no room for 0: there the curve has a gap.
      const bool is_drawn = !chart.has_logarithms || (chart.x[point] > 0 && y[point] > 0);
      script += is_drawn ? fmt::format("{} {}\n", chart.x[point], y[point]) : "\n";
    }
    script += "END\n";
    curves.push_back(fmt::format("$curve{} axes {} with {} title {}", i, is_on_the_right ? "x1y2" : "x1y1",
                                 chart.x.size() > max_marks ? "lines" : "linespoints", quoted(name)));
  }
  return script + fmt::format("plot {}\n", fmt::join(curves, ", "));
}

}  // namespace

bool can_draw() {
  return std::system("command -v gnuplot >/dev/null 2>&1") == 0;
}

void draw(const Chart& chart, const std::string& path) {
  if (!can_draw()) {
    throw Error("plots are drawn by gnuplot, which is not found: install it (gnuplot-nox)");
  }
  Draft draft(path);
  // gnuplot writes where the draft lies, and the draft renames it.
  const std::string script = fmt::format("set output {}\n{}", quoted(draft.file().path()), script_of(chart));
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

}  // namespace penstock::lab
