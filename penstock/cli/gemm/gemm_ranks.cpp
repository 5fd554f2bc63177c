// `penstock gemm --size`: matrices that the ranks make up, multiplied across them, timed and checked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/gemm/gemm.hpp"
#include "penstock/cli/gemm/made_up.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/cli/report/timeline_report.hpp"

namespace penstock::cli {
namespace {

using gas::Index;
using gemm::GlobalMatrix;
using gemm::Op;

/// What all ranks tell one another of a multiply.
struct Spent {
  double total_s;
  double multiply_s;
  double wait_s;
  double redistribute_s;
  std::int64_t fetched_bytes;
};

struct RankReport {
  std::string transport;
  std::array<std::int64_t, 2> grid{};
  std::vector<double> times_s = {};  ///< of the slowest rank
  double multiply_share = 0;         ///< of the best time, the part in multiplies, mean of the ranks
  double wait_s = 0;                 ///< of the best time, for panels and other ranks, mean of the ranks
  double redistribute_s = 0;         ///< of the best time, the longest
  std::int64_t fetched_bytes = 0;    ///< all ranks together, in one multiply
  double machine_flops = 0;          ///< of all threads of all ranks at once
  gemm::MultiplyPlan plan = {};
  std::optional<std::int64_t> wrong = {};
  std::vector<Spent> best_of_ranks = {};

  /// Takes the times of one repetition, of all ranks.
  void add(const std::vector<Spent>& spent);
};

void RankReport::add(const std::vector<Spent>& spent) {
  const auto ranks = static_cast<double>(spent.size());
  const double slowest_s = std::ranges::max(spent, {}, &Spent::total_s).total_s;
  if (times_s.empty() || slowest_s < *std::ranges::min_element(times_s)) {
    multiply_share = wait_s = redistribute_s = 0;
    fetched_bytes = 0;
    for (const Spent& times : spent) {
      multiply_share += times.multiply_s / ranks / slowest_s;
      wait_s += times.wait_s / ranks;
      redistribute_s = std::max(redistribute_s, times.redistribute_s);
      fetched_bytes += times.fetched_bytes;
    }
    best_of_ranks = spent;
  }
  times_s.push_back(slowest_s);
}

/// The model's, or where it lacks the network's rates, the multiplies alone.
double predicted_s(const RankReport& report, double flops) {
  return report.plan.predicted_s > 0 ? report.plan.predicted_s : flops / report.machine_flops;
}

nlohmann::ordered_json to_json(const Session& session, const GemmOptions& options, const RankReport& report,
                               double flops) {
  const double best_s = *std::ranges::min_element(report.times_s);
  nlohmann::ordered_json json{{"type", npy::name(options.type)},
                              {"m", options.size[0]},
                              {"n", options.size[1]},
                              {"k", options.size[2]},
                              {"ranks", session.team.size()},
                              {"threads", session.threads},
                              {"transport", report.transport},
                              {"grid", report.grid},
                              {"time_min_s", best_s},
                              {"times_s", report.times_s},
                              {"rate_gflops", flops / best_s * 1e-9},
                              {"machine_gflops", report.machine_flops * 1e-9},
                              {"predicted_s", predicted_s(report, flops)},
                              {"algorithm", gemm::name(report.plan.algorithm)},
                              {"layers", report.plan.grid},
                              {"reason", report.plan.reason},
                              {"panel_depth", report.plan.depth},
                              {"transfer_predicted_s", report.plan.transfer_s},
                              {"hidden_predicted_s", report.plan.hidden_s},
                              {"multiply_share", report.multiply_share},
                              {"wait_s", report.wait_s},
                              {"redistribute_s", report.redistribute_s},
                              {"fetched_bytes", report.fetched_bytes}};
  if (report.wrong) {
    json["wrong_rows"] = *report.wrong;
  }
  return json;
}

/// Collective: what the page shows beside the results: the times of each rank in the best repetition, and its timeline.
nlohmann::ordered_json details_of(Session& session, const RankReport& report) {
  const auto best = std::ranges::min_element(report.times_s) - report.times_s.begin();
  auto ranks = nlohmann::ordered_json::array();
  for (const Spent& spent : report.best_of_ranks) {
    ranks.push_back({{"total_s", spent.total_s},
                     {"multiply_s", spent.multiply_s},
                     {"wait_s", spent.wait_s},
                     {"redistribute_s", spent.redistribute_s},
                     {"fetched_bytes", spent.fetched_bytes}});
  }
  return {{"ranks", ranks}, {"timeline", timeline_of(session, fmt::format("multiply {}", best + 1))}};
}

/// "2 x 2", "2 layers of 2 x 1"
std::string grid_text(const std::array<int, 3>& grid) {
  return (grid[0] > 1 ? fmt::format("{} layers of ", grid[0]) : "") + fmt::format("{} x {}", grid[1], grid[2]);
}

void print(const Session& session, const GemmOptions& options, const RankReport& report, double flops) {
  const double best_s = *std::ranges::min_element(report.times_s);
  const double multiply_s = report.multiply_share * best_s;
  const std::array parts{Part{"multiply", multiply_s}, Part{"wait", report.wait_s},
                         Part{"other", best_s - multiply_s - report.wait_s}};
  print_output(
      "Product     {}, {} x {} by {} x {}, on {} ranks ({} x {}) of {} threads, transport {}\n"
      "Machine     {:.4g} GFlop/s of blocks, all ranks at once ({}): {} for the product\n"
      "Algorithm   {}, {}: {}\n"
      "Prediction  {}; panels at most {} deep\n"
      "Time        {} (best of {}), {}, {} of the machine's; {:.3f} in multiplies\n"
      "{}"
      "Moved       {} of A and B fetched, all ranks; {} to and from block distributions\n",
      npy::name(options.type), options.size[0], options.size[2], options.size[2], options.size[1], session.team.size(),
      report.grid[0], report.grid[1], session.threads, report.transport, report.machine_flops * 1e-9,
      options.machine_path.empty() ? "measured in this run" : options.machine_path,
      format_seconds(flops / report.machine_flops), gemm::name(report.plan.algorithm), grid_text(report.plan.grid),
      report.plan.reason, format_seconds(predicted_s(report, flops)), report.plan.depth, strong(format_seconds(best_s)),
      report.times_s.size(), strong(fmt::format("{:.4g} GFlop/s", flops / best_s * 1e-9)),
      strong(fmt::format("{:.3f}", flops / best_s / report.machine_flops)), report.multiply_share, bar(12, parts),
      format_bytes(static_cast<std::uint64_t>(report.fetched_bytes)), format_seconds(report.redistribute_s));
  if (report.plan.transfer_s > 0) {
    print_output(
        "Transfers   {} by the model, of which {} are hidden and {} not; ranks waited {} for panels and one another\n",
        format_seconds(report.plan.transfer_s), format_seconds(report.plan.hidden_s),
        format_seconds(report.plan.transfer_s - report.plan.hidden_s), format_seconds(report.wait_s));
  }
  if (report.wrong) {
    print_output("Check       {}\n", *report.wrong == 0 ? "exact, by random projections"
                                                        : alarming(fmt::format("{} rows are wrong", *report.wrong)));
  }
}

/// Collective: that of the file, or one with what all ranks at once multiply and put, measured, the same on all.
machine::Machine find_machine(const Session& session, const GemmOptions& options) {
  if (!options.machine_path.empty()) {
    return read_machine(session, options.machine_path);
  }
  machine::Machine machine = machine::built_in();
  if (const auto rates = gas::network_rates_of(session.team)) {
    machine = gas::with_network(machine, *rates, gas::Carrier::fastest, session.team.transport().farthest());
  }
  const gemm::Rate rate = gemm::measure_rate(session.team, session.threads, options.type);
  machine.node.gemm_rate_flops_per_core = 1;
  machine.node.gemm_rate_flops_per_core =
      rate.best_flops / session.team.size() / gemm::rate_flops(machine, session.threads, options.type);
  return machine;
}

template <class T>
void run(Session& session, const GemmOptions& options) {
  const gas::Team& team = session.team;
  const gemm::FileProduct& product = options.files;
  const auto [m, n, k] = options.size;
  Results results(session, "gemm-ranks");
  Progress progress(session);
  progress.show("making matrices");
  MadeUpMatrices<T> matrices = make_matrices<T>(team, options);
  GlobalMatrix<T>& c = matrices.c;
  session.has_begun_work = true;
  fill(matrices.a, matrix_a);
  fill(matrices.b, matrix_b);

  RankReport report{.transport = std::string(team.transport().name), .grid = {c.grid()[0], c.grid()[1]}};
  progress.show("measuring the machine");
  team.barrier();
  const machine::Machine machine = find_machine(session, options);
  report.machine_flops = gemm::rate_flops(machine, session.threads, options.type) * team.size();
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    progress.show("multiplying", repetition + 1, options.repetitions);
    fill(c, matrix_c);
    const gemm::DistributedTimes mine = [&] {
      const trace::Recording recording(session.page_recorder());
      const trace::Step step("multiply", repetition + 1);
      return gemm::multiply(team, product.op_a, product.op_b, scalar<T>(product.scalars.alpha), matrices.a, matrices.b,
                            scalar<T>(product.scalars.beta), c,
                            {.threads = session.threads,
                             .algorithm = options.algorithm,
                             .layers = options.layers,
                             .memory_bytes = options.memory_bytes,
                             .machine = &machine});
    }();
    report.plan = mine.plan;
    report.add(
        team.all_gather(Spent{mine.total_s, mine.multiply_s, mine.wait_s, mine.redistribute_s, mine.fetched_bytes}));
  }
  if (options.wants_check) {
    progress.show("checking");
    report.wrong = 0;
    for (const std::int64_t wrong : team.all_gather(wrong_rows_of(c, options))) {
      *report.wrong += wrong;
    }
  }
  progress.show("");
  const double flops =
      gemm::flops(options.type, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
  if (session.has_table()) {
    print(session, options, report, flops);
  }
  const nlohmann::ordered_json details = results.have_page() ? details_of(session, report) : nlohmann::ordered_json();
  team.together([&] { results.write(to_json(session, options, report, flops), details); });
  team.barrier();
  if (report.wrong.value_or(0) > 0) {
    throw Error(fmt::format("the check has failed: {} rows of C are not what they must be", *report.wrong));
  }
}

}  // namespace

void run_gemm_ranks(Session& session, const GemmOptions& options) {
  switch (options.type) {
    case npy::DataType::float32:
      return run<float>(session, options);
    case npy::DataType::float64:
      return run<double>(session, options);
    case npy::DataType::complex64:
      return run<std::complex<float>>(session, options);
    case npy::DataType::complex128:
      return run<std::complex<double>>(session, options);
  }
}

}  // namespace penstock::cli
