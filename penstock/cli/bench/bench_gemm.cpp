// `penstock bench gemm`: square products across ranks, beside OpenBLAS on as many threads and ScaLAPACK on as many
// ranks; with --memory, of matrices in files.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/bench/bench.hpp"
#include "penstock/cli/bench/bench_gemm_files.hpp"
#include "penstock/cli/bench/bench_ways.hpp"
#include "penstock/cli/bench/scalapack.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/version.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/gemm/gemm.hpp"

namespace penstock::cli {
namespace {

struct BenchGemmOptions {
  std::int64_t n = 4096;
  int rounds = 5;
  std::int64_t scalapack_block = 128;
  std::uint64_t memory_bytes = 0;  ///< out of core; 0: in memory
  std::string folder = ".";
};

void run_bench_gemm(Session& session, const BenchGemmOptions& options) {
  const gas::Team& team = session.team;
  const std::int64_t n = options.n;
  Results results(session, "bench-gemm");
  const bool has_scalapack =
      Scalapack::is_built_in() && session.processes.has_mpi() && session.processes.size() == team.size();
  const auto matrix_bytes = static_cast<std::uint64_t>(n * n * 8);
  team.require_memory(fmt::format("matrices for n = {}", n),
                      3 * matrix_bytes * (has_scalapack ? 3 : 1) / static_cast<std::uint64_t>(team.size()) +
                          (team.rank() == 0 ? 3 * matrix_bytes : 0),
                      0);
  Progress progress(session);
  const gas::ArrayShape<2> shape{.extents = {n, n}};
  gemm::GlobalMatrix<double> a(team, shape);
  gemm::GlobalMatrix<double> b(team, shape);
  gemm::GlobalMatrix<double> c(team, shape);
  std::ranges::fill(a.local(), 0.5);
  std::ranges::fill(b.local(), 0.25);
  const int all_threads = team.size() * session.threads;
  const Memory alone(team.rank() == 0 ? 3 * matrix_bytes : 0);
  std::vector<Contender> ways;
  // Where blocks have to travel there is more than one way.
  const bool all_mapped = gemm::plan_multiply(team, npy::DataType::float64, n, n, n,
                                              {static_cast<int>(c.grid()[0]), static_cast<int>(c.grid()[1])})
                              .algorithm == gemm::Algorithm::stationary;
  using gemm::Algorithm;
  const std::vector<Algorithm> algorithms =
      all_mapped ? std::vector{Algorithm::stationary}
                 : std::vector{Algorithm::cannon, Algorithm::stationary, Algorithm::layered};
  for (const Algorithm algorithm : algorithms) {
    ways.push_back({fmt::format("Penstock, {}", name(algorithm)), [&, algorithm] {
                      gemm::multiply<double>(team, gemm::Op::none, gemm::Op::none, 1, a, b, 0, c,
                                             {.threads = session.threads, .algorithm = algorithm});
                    }});
  }
  ways.push_back({fmt::format("OpenBLAS, {} threads", all_threads), [&] {
                    if (team.rank() == 0) {
                      gemm::multiply_by_blas_threads(npy::DataType::float64, n, n, n, {},
                                                     {.data = alone.data(), .leading = n},
                                                     {.data = alone.data() + matrix_bytes, .leading = n},
                                                     alone.data() + 2 * matrix_bytes, n, all_threads);
                    }
                    team.barrier();
                  }});
  std::unique_ptr<Scalapack> scalapack;
  if (has_scalapack) {
    scalapack = std::make_unique<Scalapack>(n, options.scalapack_block);
    ways.push_back({fmt::format("ScaLAPACK pdgemm, blocks of {}", options.scalapack_block), [&] {
                      const gemm::SerialBlas serial(1);
                      scalapack->multiply();
                    }});
    ways.push_back({"Penstock's pdgemm, the same", [&] { scalapack->multiply_by_penstock(team, session.threads); }});
  }
  session.has_begun_work = true;
  time_all(team, ways, 1, options.rounds, progress, session.recorder());
  progress.show("");
  const double flops =
      gemm::flops(npy::DataType::float64, static_cast<double>(n), static_cast<double>(n), static_cast<double>(n));
  if (session.has_table()) {
    print_output("{} x {} doubles, {} ranks of {} threads, transport {}; GFlop/s, best and median of {} in turn\n\n", n,
                 n, team.size(), session.threads, team.transport().name, options.rounds);
    print_ways(ways, flops);
    if (!has_scalapack) {
      print_output("No ScaLAPACK: {}\n", Scalapack::is_built_in()
                                             ? "it needs a process for each rank, started by mpirun"
                                             : "it was not found for this MPI when this was built");
    }
  }
  nlohmann::ordered_json result{{"n", n},
                                {"ranks", team.size()},
                                {"threads", session.threads},
                                {"transport", team.transport().name},
                                {"mpi", mpi_text()},
                                {"results", ways_to_json(ways, flops)}};
  results.write(result);
  team.barrier();
}

}  // namespace

Body declare_bench_gemm(CLI::App& app) {
  auto options = std::make_shared<BenchGemmOptions>();
  add_value(app, "--n", "N", fmt::format("Rows and columns of the matrices ({})", options->n),
            [options](const std::string& text) { options->n = parse_integer("--n", text, 1, 1 << 20); });
  add_value(app, "--rounds", "N", fmt::format("Multiplies timed of each way ({})", options->rounds),
            [options](const std::string& text) {
              options->rounds = static_cast<int>(parse_integer("--rounds", text, 1, 1000000));
            });
  add_value(app, "--scalapack-block", "N", fmt::format("Blocks of ScaLAPACK's matrices ({})", options->scalapack_block),
            [options](const std::string& text) {
              options->scalapack_block = parse_integer("--scalapack-block", text, 1, 1 << 20);
            });
  add_value(app, "--memory", "BYTES",
            "Out of core instead: matrices in files and so much memory for each way, as 256MiB; beside OpenBLAS over "
            "the mapped files",
            [options](const std::string& text) {
              try {
                options->memory_bytes = parse_bytes(text);
              } catch (const Error& error) {
                throw Error(fmt::format("--memory {}", error.what()));
              }
              if (options->memory_bytes == 0) {
                throw Error("--memory 0: give some, as 256MiB");
              }
            });
  add_value(app, "--folder", "DIR", "Where these files are made, and removed at the end (.)",
            [options](const std::string& text) { options->folder = text; });
  return [options](Session& session) {
    if (options->memory_bytes > 0) {
      run_bench_gemm_files(session, {.n = options->n,
                                     .rounds = options->rounds,
                                     .memory_bytes = options->memory_bytes,
                                     .folder = options->folder});
    } else {
      run_bench_gemm(session, *options);
    }
  };
}

}  // namespace penstock::cli
