// `penstock bench pack`: packing and unpacking MPI datatypes beside the MPI library, hand-written loops and memcpy.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/cli/bench/bench.hpp"
#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/version.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/progress.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/lab/pack/pack.hpp"

namespace penstock::cli {

#if PENSTOCK_HAS_MPI
namespace {

using lab::PackMean;
using lab::PackOperation;
using lab::PackOptions;
using lab::PackRegime;
using lab::PackReport;
using lab::PackResult;
using lab::PackTimes;

// Below this, ours counts as slower than the best of the others.
constexpr double slower_below = 0.95;

const char* name(PackRegime regime) {
  return regime == PackRegime::hot ? "hot" : "cold";
}
const char* name(PackOperation operation) {
  return operation == PackOperation::pack ? "pack" : "unpack";
}
const char* name(lab::PackGroup group) {
  return group == lab::PackGroup::strided ? "strided" : group == lab::PackGroup::indexed ? "indexed" : "transpose";
}

std::string uses_text(const std::optional<double>& uses) {
  return uses ? fmt::format("{:.3g}", *uses) : "never";
}

std::string microseconds(double time_s) {
  return fmt::format("{:.2f} us", time_s * 1e6);
}

void print_pack_times(const PackReport& report) {
  print_output("GB/s of packed bytes, minimum of the rounds; break-even in uses, against the MPI library\n\n");
  print_output("{:28} {:4} {:6} {:>9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6} {:>8} {:>9} {:>7}\n", "case", "", "", "bytes",
               "ours", "MPI", "hand", "memcpy", "/MPI", "/hand", "emit", "first use", "even");
  for (const PackResult& result : report.results) {
    const auto rate = [&](const PackTimes& times) { return static_cast<double>(result.bytes) / times.min_s / 1e9; };
    print_output("{:28} {:4} {:6} {:9} {:7.2f} {:7.2f} {:7.2f} {:7.2f} {:6.2f} {:6.2f} {:>8} {:>9} {:>7}\n",
                 result.name, name(result.regime), name(result.operation), result.bytes, rate(result.ours),
                 rate(result.mpi), rate(result.hand), rate(result.copy), result.mpi.min_s / result.ours.min_s,
                 result.hand.min_s / result.ours.min_s, result.costs.has_code ? microseconds(result.costs.emit_s) : "-",
                 microseconds(result.costs.first_use_s), uses_text(result.break_even_uses(result.mpi)));
  }
}

void print_summary(const PackReport& report) {
  print_output(
      "\nGeometric means of the speed of ours over that of the others; uses until ours is even with the MPI library, "
      "median "
      "of all cases and the most where it is faster; the longest making of code and time to the first byte\n\n");
  print_output("{:12} {:4} {:6} {:>5} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6} {:>10} {:>10}\n", "group", "", "", "cases",
               "hand", "MPI", "memcpy", "median", "worst", "never", "emit", "first use");
  for (const PackMean& mean : lab::pack_means(report.results)) {
    print_output("{:12} {:4} {:6} {:5} {:7.2f} {:7.2f} {:7.2f} {:>8} {:>8} {:6} {:>10} {:>10}\n", mean.group,
                 name(mean.regime), name(mean.operation), mean.cases, mean.against_hand, mean.against_mpi,
                 mean.against_copy, uses_text(mean.break_even_median_uses), uses_text(mean.break_even_worst_uses),
                 mean.never_even, microseconds(mean.emit_worst_s), microseconds(mean.first_use_worst_s));
  }
  print_output("\nSlower than {} of the faster of the MPI library and the loop (by minima; by medians):", slower_below);
  int slower = 0;
  for (const PackResult& result : report.results) {
    if (result.ratio_to_best() < slower_below) {
      ++slower;
      print_output("\n  {:28} {:4} {:6} {:.2f} {:.2f}", result.name, name(result.regime), name(result.operation),
                   result.ratio_to_best(), result.median_ratio_to_best());
    }
  }
  print_output("{}\n", slower == 0 ? " none" : fmt::format("\n  {} of {}", slower, report.results.size()));
  for (const std::string& overlapping : report.not_unpacked) {
    print_output("{} names bytes twice, and MPI allows no unpacking into such a type\n", overlapping);
  }
}

nlohmann::ordered_json to_json(const PackResult& result) {
  const auto rate = [&](double time_s) { return static_cast<double>(result.bytes) / time_s; };
  nlohmann::ordered_json json{{"name", result.name},
                              {"group", name(result.group)},
                              {"regime", name(result.regime)},
                              {"operation", name(result.operation)},
                              {"bytes", result.bytes},
                              {"rounds", result.rounds},
                              {"hint", result.hint}};
  for (const auto& [who, times] :
       {std::pair{"ours", result.ours}, {"mpi", result.mpi}, {"hand", result.hand}, {"memcpy", result.copy}}) {
    json[fmt::format("{}_bytes_per_s", who)] = rate(times.min_s);
    json[fmt::format("{}_median_bytes_per_s", who)] = rate(times.median_s);
  }
  json["mpi_commit_s"] = result.costs.mpi_commit_s;
  json["describe_s"] = result.costs.describe_s;
  json["compile_s"] = result.costs.compile_s;
  json["emit_s"] = result.costs.has_code ? nlohmann::ordered_json(result.costs.emit_s) : nlohmann::ordered_json();
  json["first_use_s"] = result.costs.first_use_s;
  json["break_even_uses"] = or_null(result.break_even_uses(result.mpi));
  json["break_even_uses_hand"] = or_null(result.break_even_uses(result.hand));
  json["mover"] = result.mover;
  return json;
}

nlohmann::ordered_json to_json(const Session& session, const PackOptions& options, const PackReport& report) {
  const machine::Machine machine = read_machine(session, "");
  auto json = nlohmann::ordered_json::object();
  json["machine"] = machine.name;
  json["cores"] = machine.node.cores;
  json["cache_bytes"] = machine.node.cache_bytes;
  json["mpi"] = mpi_text();
  json["hand_instruction_set"] = report.hand_instruction_set;
  json["rounds_at_most"] = options.rounds;
  json["verified"] = true;  // a case that is not ends the run
  json["cases"] = nlohmann::ordered_json::array();
  json["slower"] = nlohmann::ordered_json::array();
  for (const PackResult& result : report.results) {
    json["cases"].push_back(to_json(result));
    if (result.ratio_to_best() < slower_below) {
      json["slower"].push_back({{"name", result.name},
                                {"regime", name(result.regime)},
                                {"operation", name(result.operation)},
                                {"ratio_to_best", result.ratio_to_best()},
                                {"median_ratio_to_best", result.median_ratio_to_best()}});
    }
  }
  json["not_unpacked"] = report.not_unpacked;
  for (const PackMean& mean : lab::pack_means(report.results)) {
    append(json, "geometric_means",
           {{"group", mean.group},
            {"regime", name(mean.regime)},
            {"operation", name(mean.operation)},
            {"cases", mean.cases},
            {"against_hand", mean.against_hand},
            {"against_mpi", mean.against_mpi},
            {"against_memcpy", mean.against_copy},
            {"break_even_median_uses", or_null(mean.break_even_median_uses)},
            {"break_even_worst_uses", or_null(mean.break_even_worst_uses)},
            {"never_even", mean.never_even},
            {"emit_worst_s", mean.emit_worst_s},
            {"first_use_worst_s", mean.first_use_worst_s}});
  }
  return json;
}

void run_bench_pack(Session& session, const PackOptions& asked) {
  if (session.team.size() > 1) {
    throw Error(
        fmt::format("bench pack measures one process and was given {} ranks: start it without a launcher and "
                    "without --ranks",
                    session.team.size()));
  }
  if (session.options.threads > 1) {
    throw Error(fmt::format("--threads {}: bench pack measures one thread", session.options.threads));
  }
  Results results(session, "bench-pack");
  session.processes.start_mpi();
  PackReport report;
  PackOptions options = asked;
  {
    Progress progress(session);
    options.progress = [&](std::string_view step, int number, int count) {
      session.has_begun_work = true;
      progress.show(step, number, count);
    };
    const trace::Recording recording(session.recorder());
    report = lab::measure_packing(options);
  }
  if (session.has_table()) {
    print_pack_times(report);
    print_summary(report);
  }
  results.write(to_json(session, options, report));
}

}  // namespace

Body declare_bench_pack(CLI::App& app) {
  auto options = std::make_shared<PackOptions>();
  add_value(app, "--filter", "REGEX", "Only the cases whose name contains a match (all)",
            [options](const std::string& text) { options->filter = text; });
  add_value(
      app, "--regime", "hot|cold|all", "In cache, from memory, or both (all)", [options](const std::string& text) {
        using Regimes = std::vector<PackRegime>;
        options->regimes = parse_choice<Regimes>(
            "--regime", text,
            {{"hot", {PackRegime::hot}}, {"cold", {PackRegime::cold}}, {"all", {PackRegime::hot, PackRegime::cold}}});
      });
  add_value(app, "--operation", "pack|unpack|all", "Which way (all)", [options](const std::string& text) {
    using Operations = std::vector<PackOperation>;
    options->operations = parse_choice<Operations>("--operation", text,
                                                   {{"pack", {PackOperation::pack}},
                                                    {"unpack", {PackOperation::unpack}},
                                                    {"all", {PackOperation::pack, PackOperation::unpack}}});
  });
  add_value(app, "--rounds", "N",
            fmt::format("Rounds of each case, of which it ends the later ones after {} s ({})", options->case_s,
                        options->rounds),
            [options](const std::string& text) {
              options->rounds = static_cast<int>(parse_integer("--rounds", text, 1, 1000000));
            });
  return [options](Session& session) { run_bench_pack(session, *options); };
}

#else

Body declare_bench_pack(CLI::App&) {
  return [](Session&) { throw Error("bench pack measures MPI datatypes, and this build of penstock has no MPI"); };
}

#endif

}  // namespace penstock::cli
