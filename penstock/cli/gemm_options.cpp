// Options of `penstock gemm`, read and checked one by one.
#include "penstock/cli/gemm_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <limits>

#include "penstock/base/base.hpp"
#include "penstock/cli/parse.hpp"

namespace penstock::cli {
namespace {

/// "2.5", or "2.5,-1" with an imaginary part.
std::complex<double> parse_scalar(std::string_view option, std::string_view text) {
  constexpr double lowest = -std::numeric_limits<double>::max();
  const std::size_t comma = text.find(',');
  const double real = parse_number(option, text.substr(0, comma), lowest);
  return {real, comma == std::string_view::npos ? 0 : parse_number(option, text.substr(comma + 1), lowest)};
}

void add_op(CLI::App& app, const std::string& matrix, gemm::Op& op) {
  CLI::Option* transpose = app.add_flag_callback(
      "--transpose-" + matrix, [&op] { op = gemm::Op::transpose; }, "Take it transposed");
  app.add_flag_callback(
         "--adjoint-" + matrix, [&op] { op = gemm::Op::conjugate_transpose; }, "Take it transposed and conjugated")
      ->excludes(transpose);
}

}  // namespace

std::shared_ptr<GemmOptions> declare_gemm_options(CLI::App& app) {
  auto options = std::make_shared<GemmOptions>();
  gemm::FileProduct& files = options->files;
  for (const auto& [name, path, what] :
       {std::tuple{"--a", &files.a, "The matrix A, a .npy file in C or Fortran order"},
        std::tuple{"--b", &files.b, "The matrix B, the same"},
        std::tuple{"--c", &files.c, "Where C goes; with --beta it is read first, and keeps its order"}}) {
    add_value(app, name, "FILE.npy", what, [path = path](const std::string& text) { *path = text; });
  }
  add_op(app, "a", files.op_a);
  add_op(app, "b", files.op_b);
  add_value(app, "--alpha", "RE[,IM]", "Of C = alpha op(A) op(B) + beta C (1)",
            [&files](const std::string& text) { files.scalars.alpha = parse_scalar("--alpha", text); });
  add_value(app, "--beta", "RE[,IM]", "The same (0)",
            [&files](const std::string& text) { files.scalars.beta = parse_scalar("--beta", text); });
  add_value(app, "--memory", "BYTES",
            "Files: what the process may take, as 256MiB or 2GB (half of what the system has left)",
            [options](const std::string& text) {
              try {
                options->memory_bytes = parse_bytes(text);
              } catch (const Error& error) {
                throw Error(fmt::format("--memory {}", error.what()));
              }
              if (options->memory_bytes == 0 || options->memory_bytes > (std::uint64_t{1} << 62)) {
                throw Error(fmt::format("--memory {}: must be from 1 byte to 2^62", text));
              }
            });
  add_value(app, "--engine", "auto|io_uring|threads", "Files: what reads and writes (io_uring where the kernel has it)",
            [options](const std::string& text) {
              options->engine = parse_choice<percolate::EngineChoice>("--engine", text,
                                                                      {{"auto", percolate::EngineChoice::automatic},
                                                                       {"io_uring", percolate::EngineChoice::uring},
                                                                       {"threads", percolate::EngineChoice::threads}});
            });
  app.add_flag_callback(
      "--no-scratch", [options] { options->uses_scratch = false; },
      "Files: keep no copy of the inputs' blocks on disk in the order of their use");
  add_value(app, "--machine", "FILE.toml",
            "Machine by whose figures tiles are chosen and times predicted (this one, measured)",
            [options](const std::string& text) { options->machine_path = text; });
  add_value(app, "--trace", "FILE.json", "Files: write what waited for what, for chrome://tracing or ui.perfetto.dev",
            [options](const std::string& text) { options->trace_path = text; });
  return options;
}

}  // namespace penstock::cli
