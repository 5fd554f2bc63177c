#include "plot.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <penstock/base/draft.hpp>
#include <penstock/base/error.hpp>

namespace navier_stokes {
namespace {

// Beyond this many points a curve shows where they lie by itself.
constexpr std::size_t max_marks = 100;

/// A path in gnuplot's single quotes, where a quote is doubled and nothing else means anything.
std::string quoted(const std::string& path) {
  std::string result = "'";
  for (const char letter : path) {
    result += letter == '\'' ? "''" : std::string(1, letter);
  }
  return result + "'";
}

std::string script_of(const Parameters& parameters, const History& history, const std::string& path) {
  std::array<char, 80> title{};
  std::snprintf(title.data(), title.size(), "Taylor-Green vortex (%s), Reynolds number %g, %lld^3 points",
                name_of(parameters.flow).data(), parameters.reynolds, static_cast<long long>(parameters.n));
  std::string script = "set output " + quoted(path) +
                       "\nset terminal svg size 900,560 dynamic enhanced background 'white' font 'sans,13'\n"
                       "set title '" +
                       title.data() +
                       "' noenhanced\nset xlabel 'time' noenhanced\nset ylabel 'energy' noenhanced\n"
                       "set y2label 'dissipation' noenhanced\nset grid\nset key outside right top noenhanced\nset "
                       "ytics nomirror\nset y2tics\n$rows << END\n";
  for (std::size_t i = 0; i < history.size(); ++i) {
    std::array<char, 100> row{};
    std::snprintf(row.data(), row.size(), "%.17g %.17g %.17g\n", time_of(parameters, i), history[i].energy,
                  dissipation(parameters, history[i]));
    script += row.data();
  }
  const std::string style = history.size() > max_marks ? "lines" : "linespoints";
  return script + "END\nplot $rows using 1:2 axes x1y1 with " + style +
         " title 'energy', $rows using 1:3 axes x1y2 with " + style + " title 'dissipation'\n";
}

}  // namespace

bool can_draw() {
  return std::system("command -v gnuplot >/dev/null 2>&1") == 0;
}

void draw(const Parameters& parameters, const History& history, const std::string& path) {
  penstock::Draft draft(path);
  const std::string script = script_of(parameters, history, draft.file().path());
  std::FILE* pipe = popen("gnuplot 2>/dev/null", "w");
  if (pipe == nullptr) {
    throw penstock::Error("gnuplot cannot be started");
  }
  const bool is_written = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  if (pclose(pipe) != 0 || !is_written || draft.file().size() == 0) {
    throw penstock::Error("gnuplot could not draw " + path);
  }
  draft.commit();
}

}  // namespace navier_stokes
