// `penstock gemm`: multiplies matrices in files, or made-up ones across ranks or on a device.
#include "penstock/cli/gemm/gemm.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"

namespace penstock::cli {

Body declare_gemm(CLI::App& app) {
  const auto options = declare_gemm_options(app);
  return [options, &app](Session& session) {
    const gemm::FileProduct& files = options->files;
    const bool names_files = !files.a.empty() || !files.b.empty() || !files.c.empty();
    if ((options->size[0] > 0) == names_files) {
      throw Error(names_files
                      ? "--size is for matrices that are made up, --a, --b and --c for files: give one of the two"
                      : "give --a, --b and --c, each a .npy file, or --size for matrices that are made up");
    }
    if (!options->device.empty()) {
      run_gemm_device(session, *options, given_options(app));
      return;
    }
    if (!names_files) {
      run_gemm_ranks(session, *options);
      return;
    }
    if (files.a.empty() || files.b.empty() || files.c.empty()) {
      throw Error("matrices in files want all of --a, --b and --c");
    }
    if (session.team.size() > 1) {
      throw Error(fmt::format("matrices in files are multiplied by one process with --threads, and these are {} ranks",
                              session.team.size()));
    }
    run_gemm_files(session, *options);
  };
}

}  // namespace penstock::cli
