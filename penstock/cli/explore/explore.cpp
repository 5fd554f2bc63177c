// `penstock explore`: the page that asks the models in a browser, which is built with the command and lies in it:
// written into a file, or served.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/explore/page_server.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/pages.hpp"
#include "penstock/cli/report/result_file.hpp"
#include "penstock/cli/report/results.hpp"

namespace penstock::cli {
namespace {

struct ExploreOptions {
  std::string output_path;  ///< empty: as `default_path`
  bool is_served = false;
  int port = 0;
  bool has_port = false;
};

constexpr const char* default_path = "penstock-explore.html";

void write_page(Session& session, const std::string& path, std::string_view page) {
  ResultFile output(session, "--output", path);
  Results results(session, "explore");
  session.has_begun_work = true;
  output.write(session.is_first() ? page : "");
  if (session.has_table()) {
    print_output("{}: {}, which need nothing else; open the file in a browser\n", path, format_bytes(page.size()));
  }
  const nlohmann::ordered_json facts{{"file", path}, {"bytes", page.size()}};
  results.write(facts);
}

/// The first rank serves; the others have nothing to do.
void serve_page(Session& session, int port, std::string_view page) {
  std::optional<PageServer> server;
  session.team.together([&] {
    if (session.is_first()) {
      server.emplace(page, port);
    }
  });
  session.has_begun_work = true;
  if (server) {
    print_output("{}\n  open this address in a browser of this computer; Ctrl-C ends\n", server->address());
    flush_output();
    server->run();
  }
}

}  // namespace

Body declare_explore(CLI::App& app) {
  auto options = std::make_shared<ExploreOptions>();
  add_value(app, "--output", "FILE.html", fmt::format("The page's file, to be opened in a browser ({})", default_path),
            [options](const std::string& text) { options->output_path = text; });
  app.add_flag("--serve", options->is_served,
               "Write no file: give the page to browsers of this computer, until Ctrl-C");
  add_value(app, "--port", "N", "The port of --serve; 0: any that is free (0)", [options](const std::string& text) {
    options->port = static_cast<int>(parse_integer("--port", text, 0, 65535));
    options->has_port = true;
  });
  return [options](Session& session) {
    const std::string_view page = explore_page();
    if (options->has_port && !options->is_served) {
      throw Error("--port has a meaning with --serve alone");
    }
    if (options->is_served && !(options->output_path.empty() && session.options.json_path.empty())) {
      throw Error("--serve writes no file: give it without --output and --json");
    }
    if (options->is_served) {
      serve_page(session, options->port, page);
    } else {
      write_page(session, options->output_path.empty() ? default_path : options->output_path, page);
    }
  };
}

}  // namespace penstock::cli
