// Options of `penstock gemm`, read and checked one by one.
#include "penstock/cli/gemm/gemm_options.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <limits>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"

namespace penstock::cli {
namespace {

/// "2.5", or "2.5,-1" with an imaginary part.
std::complex<double> parse_scalar(std::string_view option, std::string_view text) {
  constexpr double lowest = -std::numeric_limits<double>::max();
  const std::size_t comma = text.find(',');
  const double real = parse_number(option, text.substr(0, comma), lowest);
  return {real, comma == std::string_view::npos ? 0 : parse_number(option, text.substr(comma + 1), lowest)};
}

/// "M,N,K", or one number for all three.
std::array<std::int64_t, 3> parse_gemm_size(std::string_view text) {
  std::array<std::int64_t, 3> size{};
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  std::string_view rest = text;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::size_t comma = i + 1 < size.size() ? rest.find(',') : rest.size();
    if (comma == std::string_view::npos) {
      if (i > 0) {
        throw Error(fmt::format("--size {}: not of the form M,N,K, or N", text));
      }
      size.fill(parse_integer("--size", rest, 1, largest));
      return size;
    }
    size[i] = parse_integer("--size", rest.substr(0, comma), 1, largest);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return size;
}

/// "LAYERS,ROWS,COLUMNS"
std::array<int, 3> parse_layers(std::string_view text) {
  std::array<int, 3> layers{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::size_t comma = i + 1 < layers.size() ? rest.find(',') : rest.size();
    if (comma == std::string_view::npos) {
      throw Error(fmt::format("--layers {}: not of the form LAYERS,ROWS,COLUMNS", text));
    }
    layers[i] = static_cast<int>(parse_integer("--layers", rest.substr(0, comma), 1, 1 << 20));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return layers;
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
  add_value(app, "--size", "M,N,K", "Made-up matrices on all ranks instead: C is M x N, or all are N x N",
            [options](const std::string& text) { options->size = parse_gemm_size(text); });
  add_value(app, "--type", "NAME", "Ranks, --device: float32, float64, complex64 or complex128 (float64)",
            [options](const std::string& text) {
              options->type = parse_choice<npy::DataType>("--type", text,
                                                          {{"float32", npy::DataType::float32},
                                                           {"float64", npy::DataType::float64},
                                                           {"complex64", npy::DataType::complex64},
                                                           {"complex128", npy::DataType::complex128}});
            });
  add_value(
      app, "--device", "any|cuda:N|opencl:N",
      "Multiply made-up matrices of float32 or float64 on an accelerator, which may have less memory than they take "
      "(the processor)",
      [options](const std::string& text) { options->device = text; });
  add_value(app, "--block", "N", "Ranks: matrices block-cyclic in blocks of N x N, as ScaLAPACK's (one block a rank)",
            [options](const std::string& text) { options->block = parse_integer("--block", text, 1); });
  add_value(app, "--reps", "N", fmt::format("Ranks, --device: multiplies timed ({})", options->repetitions),
            [options](const std::string& text) {
              options->repetitions = static_cast<int>(parse_integer("--reps", text, 1, 1000000));
            });
  app.add_flag_callback(
      "--check", [options] { options->wants_check = true; },
      "Ranks, --device: compare with random projections, exactly");
  add_value(app, "--algorithm", "auto|stationary|cannon|layered",
            "Ranks: blocks read where they lie, put and handed on as Cannon does, the same on layers of ranks, or what "
            "the model says (auto)",
            [options](const std::string& text) {
              options->algorithm = parse_choice<gemm::Algorithm>("--algorithm", text,
                                                                 {{"auto", gemm::Algorithm::automatic},
                                                                  {"stationary", gemm::Algorithm::stationary},
                                                                  {"cannon", gemm::Algorithm::cannon},
                                                                  {"layered", gemm::Algorithm::layered}});
            });
  add_value(app, "--layers", "LAYERS,ROWS,COLUMNS", "Ranks: of --algorithm layered (chosen by the model)",
            [options](const std::string& text) { options->layers = parse_layers(text); });
  add_op(app, "a", files.op_a);
  add_op(app, "b", files.op_b);
  add_value(app, "--alpha", "RE[,IM]", "Of C = alpha op(A) op(B) + beta C (1)",
            [&files](const std::string& text) { files.scalars.alpha = parse_scalar("--alpha", text); });
  add_value(app, "--beta", "RE[,IM]", "The same (0)",
            [&files](const std::string& text) { files.scalars.beta = parse_scalar("--beta", text); });
  add_value(
      app, "--memory", "BYTES",
      "Files: what the process may take, as 256MiB or 2GB; ranks: what those of a node may take besides the matrices; "
      "--device: what of the device's memory (half of what the system has left; of an accelerator, what is free)",
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
            [options](const std::string& text) { options->engine = parse_engine("--engine", text); });
  app.add_flag_callback(
      "--no-scratch", [options] { options->uses_scratch = false; },
      "Files: keep no copy of the inputs' blocks on disk in the order of their use");
  app.add_flag_callback(
      "--verify-input", [options] { options->verifies_input = true; },
      "Files: notice a change of any byte of the inputs, by reading them twice more");
  add_value(app, "--machine", "FILE.toml",
            "Machine by whose figures the time is predicted, and --algorithm chosen (this one, measured)",
            [options](const std::string& text) { options->machine_path = text; });
  return options;
}

}  // namespace penstock::cli
