#include "penstock/cli/report/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "penstock/cli/core/processes.hpp"

namespace penstock::cli {
namespace {

/// https://no-color.org: set to anything but nothing.
bool has_colour() {
  const char* const refused = std::getenv("NO_COLOR");
  return takes_escapes(STDOUT_FILENO) && (refused == nullptr || *refused == '\0');
}

/// ECMA-48, SGR.
std::string rendered(std::string_view rendition, std::string_view text) {
  return has_colour() ? fmt::format("\x1b[{}m{}\x1b[0m", rendition, text) : std::string(text);
}

int columns() {
  constexpr int usual = 80;
  struct winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

}  // namespace

bool takes_escapes(int stream) {
  const char* const type = std::getenv("TERM");
  return isatty(stream) != 0 && type != nullptr && *type != '\0' && std::string_view(type) != "dumb" &&
         !(stream == STDOUT_FILENO && Processes::is_launched());
}

std::string strong(std::string_view text) {
  return rendered("1", text);
}

std::string alarming(std::string_view text) {
  return rendered("1;31", text);
}

std::string bar(int indentation, std::span<const Part> parts) {
  // Black on these backgrounds is read on light and dark terminals alike.
  constexpr std::array<std::string_view, 4> renditions{"30;46", "30;43", "30;42", "30;47"};
  constexpr int max_width = 72;
  double whole = 0;
  for (const Part& part : parts) {
    whole += std::max(part.amount, 0.0);
  }
  const int width = std::min(columns() - indentation - 1, max_width);
  if (!takes_escapes(STDOUT_FILENO) || !(whole > 0) || !std::isfinite(whole) || width < 1) {
    return "";
  }
  std::string line(static_cast<std::size_t>(indentation), ' ');
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto begin = static_cast<std::size_t>(std::lround(sum / whole * width));
    sum += std::max(parts[i].amount, 0.0);
    const auto letters = static_cast<std::size_t>(std::lround(sum / whole * width)) - begin;
    if (letters > 0) {
      // Without colours a stroke divides the parts.
      const std::string_view name = parts[i].name.substr(0, letters - 1);
      line += rendered(renditions[i % renditions.size()],
                       fmt::format("{}{:{}}", has_colour() ? ' ' : '|', name, letters - 1));
    }
  }
  return line + (has_colour() ? "\n" : "|\n");
}

}  // namespace penstock::cli
