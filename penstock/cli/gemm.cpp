// `penstock gemm`: multiplies matrices in files.
#include "penstock/cli/gemm.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/subcommand.hpp"

namespace penstock::cli {

Body declare_gemm(CLI::App& app) {
  const auto options = declare_gemm_options(app);
  return [options](Session& session) {
    const gemm::FileProduct& files = options->files;
    if (files.a.empty() || files.b.empty() || files.c.empty()) {
      throw Error("penstock gemm wants --a, --b and --c, each a .npy file");
    }
    if (session.team.size() > 1) {
      throw Error(fmt::format("matrices in files are multiplied by one process with --threads, and these are {} ranks",
                              session.team.size()));
    }
    run_gemm_files(session, *options);
  };
}

}  // namespace penstock::cli
