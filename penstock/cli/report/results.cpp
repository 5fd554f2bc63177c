#include "penstock/cli/report/results.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/cli/report/command_line.hpp"
#include "penstock/cli/report/pages.hpp"

namespace penstock::cli {
namespace {

/// JSON whose text may stand in a script of an HTML page: no tag begins in it.
std::string text_in_page(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char letter : text) {
    letter == '<' ? safe += "\\u003c" : safe += letter;  // only strings have such letters
  }
  return safe;
}

}  // namespace

Results::Results(const Session& session, std::string schema)
    : schema_(std::move(schema)),
      command_(command_line(session)),
      has_page_(!session.options.report_path.empty()),
      json_(session, "--json", session.options.json_path),
      page_(session, "--report", session.options.report_path) {}

std::string Results::page_text(const nlohmann::ordered_json& result, const nlohmann::ordered_json& details) const {
  constexpr std::string_view mark = "@RUN@";
  const std::string_view page = report_page();
  const std::size_t at = page.find(mark);
  const nlohmann::ordered_json run{{"schema", schema_},
                                   {"command", command_},
                                   {"version", PENSTOCK_VERSION},
                                   {"host", host_name()},
                                   {"written", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))},
                                   {"result", result},
                                   {"details", details}};
  return fmt::format("{}{}{}", page.substr(0, at), text_in_page(run), page.substr(at + mark.size()));
}

void Results::write(const nlohmann::ordered_json& result, const nlohmann::ordered_json& details) {
  if (json_.is_written()) {
    nlohmann::ordered_json named = result;
    if (result.is_object()) {
      named = {{"schema", schema_}};
      named.update(result);
    }
    json_.write(named.dump(2) + "\n");
  }
  if (page_.is_written()) {
    page_.write(page_text(result, details));
  }
}

}  // namespace penstock::cli
