// `penstock explore`: the page that asks the models in a browser, which is built with the command and lies in it.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/pages.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"

namespace penstock::cli {

Body declare_explore(CLI::App& app) {
  auto path = std::make_shared<std::string>("penstock-explore.html");
  add_value(app, "--output", "FILE.html", "The page's file, to be opened in a browser (penstock-explore.html)",
            [path](const std::string& text) { *path = text; });
  return [path](Session& session) {
    const std::string_view page = explore_page();
    ResultFile output(session, "--output", *path);
    Results results(session, "explore");
    session.has_begun_work = true;
    output.write(session.is_first() ? page : "");
    if (session.has_table()) {
      print_output("{}: {}, which need nothing else; open the file in a browser\n", *path, format_bytes(page.size()));
    }
    const nlohmann::ordered_json facts{{"file", *path}, {"bytes", page.size()}};
    results.write(facts);
  };
}

}  // namespace penstock::cli
