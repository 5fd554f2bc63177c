#include "penstock/cli/report/timeline_report.hpp"

#include "penstock/base/base.hpp"
#include "penstock/cli/report/output.hpp"

namespace penstock::cli {

timeline::Heading timeline_heading(const Session& session) {
  return {.version = PENSTOCK_VERSION, .arguments = session.options.arguments};
}

void write_timeline(Session& session, ResultFile& file) {
  if (session.options.trace_path.empty()) {
    return;
  }
  const timeline::Collected collected = session.timeline->collect(timeline_heading(session));
  session.team.together([&] { file.write(collected.json); });
  if (session.has_table()) {
    print_output(
        "Trace       {} events in {}{}\n", collected.events, session.options.trace_path,
        collected.dropped > 0 ? fmt::format("; {} more were left out, as memory is bounded", collected.dropped) : "");
  }
}

nlohmann::ordered_json timeline_of(Session& session, const std::string& step) {
  constexpr std::size_t most_bytes = 8 << 20;
  const timeline::Collected collected = session.timeline->collect(timeline_heading(session), step);
  return collected.events == 0 || collected.json.size() > most_bytes ? nlohmann::ordered_json()
                                                                     : nlohmann::ordered_json::parse(collected.json);
}

}  // namespace penstock::cli
