#include "penstock/cli/report/file_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/command_line.hpp"

namespace penstock::cli {
std::string bytes_text(std::int64_t bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

void say_how_to_resume(const Session& session) {
  session.interruption.say("what is complete is kept, and the same command resumes it: " + command_line(session));
}

void show(Progress& progress, const percolate::Progress& at) {
  progress.show(fmt::format("{:.1f} %, {}", at.done / at.total * 100, time_left(at.left_s())));
}

std::string describe_movement(const percolate::RunTimes& times, int threads) {
  const double workers_s = std::max(times.total_s * threads, 1e-12);
  return fmt::format(
      "Waited      {:.1f} % of the threads' time, for what had not arrived\n"
      "Moved       {} read, {} written\n",
      times.idle_s / workers_s * 100, bytes_text(times.read_bytes), bytes_text(times.written_bytes));
}

}  // namespace penstock::cli
