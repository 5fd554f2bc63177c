#include "penstock/cli/report/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/terminal.hpp"

namespace penstock::cli {

std::string time_left(double time_s) {
  const auto whole_s = static_cast<std::int64_t>(std::ceil(time_s));
  return whole_s >= 3600 ? fmt::format("{} h {:02} min left", whole_s / 3600, whole_s / 60 % 60)
         : whole_s >= 60 ? fmt::format("{} min {:02} s left", whole_s / 60, whole_s % 60)
                         : fmt::format("{} s left", whole_s);
}

Progress::Progress(const Session& session) : is_shown_(session.is_first() && takes_escapes(STDERR_FILENO)) {}

void Progress::print(std::string_view line) const noexcept {
  if (is_shown_) {
    // Back to the start of the line, and clear it (ECMA-48, EL).
    std::fprintf(stderr, "\r\x1b[K%.*s%s", static_cast<int>(line.size()), line.data(), line.empty() ? "" : " ...");
    std::fflush(stderr);
  }
}

void Progress::show(std::string_view step) noexcept {
  if (!step.empty()) {
    first_ = 0;
  }
  print(step);
}

void Progress::show(std::string_view step, int number, int count) {
  const double now_s = seconds();
  if (first_ == 0 || number <= first_) {
    first_ = number;
    begin_s_ = now_s;
  }
  std::string line = fmt::format("{}, {} of {}", step, number, count);
  if (number > first_) {
    line += ", " + time_left((now_s - begin_s_) / (number - first_) * (count - number + 1));
  }
  print(line);
}

}  // namespace penstock::cli
