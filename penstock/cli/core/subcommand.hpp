// The table of subcommands: a new one adds its file and its line in subcommand.cpp.
#pragma once

#include <functional>
#include <span>

#include "penstock/cli/core/session.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

/// What a subcommand does on every rank once its options are read. Collective; failures as Error, the same on all ranks
/// wherever they can be agreed on.
using Body = std::function<void(Session&)>;

/// A subcommand. `declare` adds its options, or subcommands of its own, to `app` and returns its body, which holds what
/// the options are read into. One that is not distributed takes no options of ranks and threads.
struct Subcommand {
  const char* name;
  const char* summary;
  Body (*declare)(CLI::App& app);
  bool is_distributed = true;
  bool has_report = true;  ///< takes --report
};

/// All of them, in the order in which help lists them.
std::span<const Subcommand> subcommands();

/// Declares `all` as subcommands of `app`, of which one must be given; returns the body that runs that one.
Body declare_group(CLI::App& app, std::span<const Subcommand> all);

Body declare_bench(CLI::App& app);
Body declare_calibrate(CLI::App& app);
Body declare_compare(CLI::App& app);
Body declare_explore(CLI::App& app);
Body declare_fft(CLI::App& app);
Body declare_gemm(CLI::App& app);
Body declare_model(CLI::App& app);
Body declare_nas_ft(CLI::App& app);
Body declare_reproduce(CLI::App& app);
Body declare_try(CLI::App& app);

}  // namespace penstock::cli
