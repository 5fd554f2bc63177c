// The command `penstock`: reads the arguments, finds the subcommand, runs it on all ranks, tells how that ended.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/first_steps.hpp"
#include "penstock/cli/core/interruption.hpp"
#include "penstock/cli/core/launch.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/processes.hpp"
#include "penstock/cli/core/refusal.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/core/transport_choice.hpp"
#include "penstock/cli/core/version.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/pages.hpp"

namespace penstock::cli {
namespace {

void add_rank_options(CLI::App& app, CommonOptions& options) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  add_value(app, "--transport", fmt::format("{}", fmt::join(gas::transport_names(), "|")),
            "What carries data between ranks (auto, or what PENSTOCK_TRANSPORT says)", [&](const std::string& text) {
              options.transport = {.name = text, .told_by = "--transport " + text};
              check_transport(options.transport);
            });
  add_value(
      app, "--ranks", "N", "Ranks as threads of this process, where no launcher started it (1)",
      [&](const std::string& text) { options.ranks = static_cast<int>(parse_integer("--ranks", text, 1, most)); });
  add_value(
      app, "--threads", "N",
      "Threads of each rank (OMP_NUM_THREADS, else the usable processors, shared by the ranks of a host)",
      [&](const std::string& text) { options.threads = static_cast<int>(parse_integer("--threads", text, 1, 4096)); });
}

void add_trace_option(CLI::App& app, CommonOptions& options) {
  add_value(app, "--trace", "FILE.json",
            "Write what each thread of each rank did when, and for whom it waited, for ui.perfetto.dev",
            [&](const std::string& text) { options.trace_path = text; });
}

void add_json_option(CLI::App& app, CommonOptions& options) {
  add_value(app, "--json", "FILE", "Write the results as JSON; - writes them to standard output instead of the table",
            [&](const std::string& text) { options.json_path = text; });
}

void add_report_option(CLI::App& app, CommonOptions& options) {
  add_value(app, "--report", "FILE.html", "Write a page, for a browser, that shows the results (none)",
            [&](const std::string& text) {
              if (text == "-") {
                throw Error("--report -: give the page a file");
              }
              options.report_path = text;
            });
}

/// On the first process alone.
Outcome print_first(const Processes& processes, const std::string& text) {
  try {
    if (processes.is_first()) {
      write_output(text);
    }
    return {};
  } catch (const Error& error) {
    return {1, error.what()};
  }
}

/// Parses and runs; the outcome is this process's, not yet agreed on.
Outcome run(Processes& processes, Interruption& interruption, std::vector<std::string> arguments) {
  CLI::App app("Moves distributed data once, at machine speed.", "penstock");
  app.set_help_flag("--help,-h", "Print this and leave");
  bool wants_version = false;
  app.add_flag("--version", wants_version, "Print the version and what is built in, and leave");
  CommonOptions options;
  options.arguments = arguments;
  std::vector<std::pair<CLI::App*, Body>> bodies;
  for (const Subcommand& subcommand : subcommands()) {
    CLI::App* sub = app.add_subcommand(subcommand.name, subcommand.summary);
    bodies.emplace_back(sub, subcommand.declare(*sub));
    // A subcommand of subcommands leaves the options to those.
    std::vector<CLI::App*> leaves = sub->get_subcommands([](CLI::App*) { return true; });
    if (leaves.empty()) {
      leaves.push_back(sub);
    }
    for (CLI::App* leaf : leaves) {
      if (subcommand.is_distributed) {
        add_rank_options(*leaf, options);
        add_trace_option(*leaf, options);
      }
      add_json_option(*leaf, options);
      if (subcommand.has_report && !report_page().empty()) {
        add_report_option(*leaf, options);
      }
    }
  }
  app.require_subcommand(0, 1);
  try {
    processes.agree_on_arguments(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return print_first(processes, app.help());
  } catch (const CLI::ParseError& error) {
    return {2, refusal(app, error)};
  } catch (const Error& error) {
    return {2, error.what()};
  }
  if (wants_version) {
    return print_first(processes, version_text());
  }
  for (const auto& [sub, body] : bodies) {
    if (sub->parsed()) {
      return launch(processes, interruption, options, body);
    }
  }
  // As for all arguments that cannot be used, standard output stays empty: a script's may go on to a program.
  if (processes.is_first()) {
    fmt::print(stderr, "{}\n", first_steps(program_invocation_name));
  }
  return {2, "no subcommand is given"};
}

int run_command(std::vector<std::string> arguments) {
  Interruption interruption(Processes::is_launched());
  std::unique_ptr<Processes> processes;
  try {
    processes = std::make_unique<Processes>();
  } catch (const Error& error) {
    if (!Processes::is_silent_copy()) {
      print_failure(error.what());
    }
    return 2;
  }
  Outcome outcome = run(*processes, interruption, std::move(arguments));
  try {
    flush_output();
  } catch (const Error& error) {
    if (outcome.status == 0) {
      outcome.message = error.what();
    }
  }
  if (has_output_failed()) {
    outcome.status = 1;  // a failure of the run, whatever it was doing
  }
  return processes->conclude(outcome);
}

int run_and_tell(int argc, char** argv) {
  try {
    hold_standard_streams();
    return run_command({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    print_failure("out of memory");
  } catch (const std::exception& error) {
    print_failure(error.what());
  }
  return 1;
}

/// Where libraries throw and nobody can catch it, as where a destructor finds no memory.
[[noreturn]] void end_uncaught() {
  Interruption::remove_unfinished();
  try {
    const std::exception_ptr failure = std::current_exception();
    failure != nullptr ? std::rethrow_exception(failure) : throw Error("an error that nothing handles");
  } catch (const std::bad_alloc&) {
    print_failure("out of memory");
  } catch (const std::exception& failure) {
    print_failure(failure.what());
  } catch (...) {
    print_failure("an error that nothing handles");
  }
  _exit(1);
}

/// Whether the address space is limited, as by `ulimit -v`.
bool has_address_limit() {
  struct rlimit limit = {};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace
}  // namespace penstock::cli

int main(int argc, char** argv) {
  std::set_terminate(penstock::cli::end_uncaught);
  const bool is_limited = penstock::cli::has_address_limit();
#ifdef M_ARENA_MAX  // glibc
  if (is_limited) {
    // Else each thread's first allocation maps 128 MiB for a moment, and libraries that allocate meanwhile abort.
    mallopt(M_ARENA_MAX, 1);
  }
#endif
  const int status = penstock::cli::run_and_tell(argc, argv);
  if (is_limited) {
    // A thread of OpenBLAS's that gets no memory tries again for ever, and exit would wait for it.
    std::fflush(nullptr);
    _exit(status);
  }
  return status;
}
