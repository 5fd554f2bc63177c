#include "penstock/cli/report/file_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/command_line.hpp"

namespace penstock::cli {
namespace {

/// "1 h 02 min", "3 min 20 s", "12 s"
std::string rough_time(double time_s) {
  const auto whole_s = static_cast<std::int64_t>(std::ceil(time_s));
  return whole_s >= 3600 ? fmt::format("{} h {:02} min", whole_s / 3600, whole_s / 60 % 60)
         : whole_s >= 60 ? fmt::format("{} min {:02} s", whole_s / 60, whole_s % 60)
                         : fmt::format("{} s", whole_s);
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

void say_how_to_resume(const Session& session) {
  session.interruption.say("what is complete is kept, and the same command resumes it: " + command_line(session));
}

void show(const Progress& progress, const percolate::Progress& at) {
  progress.show(fmt::format("{:.1f} %, {} left", at.done / at.total * 100, rough_time(at.left_s())));
}

std::string describe_movement(const percolate::RunTimes& times, int threads) {
  const double workers_s = std::max(times.total_s * threads, 1e-12);
  return fmt::format(
      "Waited      {:.1f} % of the threads' time, for what had not arrived\n"
      "Moved       {} read, {} written\n",
      times.idle_s / workers_s * 100, bytes_text(times.read_bytes), bytes_text(times.written_bytes));
}

}  // namespace penstock::cli
