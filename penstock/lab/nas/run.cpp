// A run of the benchmark: memory counted before it is taken, warm-up, timed region, verification.
#include <fmt/format.h>

#include <cmath>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/lab/nas/heat_equation.hpp"
#include "penstock/lab/nas/nas.hpp"

namespace penstock::lab::nas {
namespace {

double points_of(const Problem& problem) {
  const auto [nx, ny, nz] = problem.size;
  return static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz);
}

/// Collective: throws on every rank where the plans and fields of the ranks of some node need more than it has.
void check_memory(const gas::Team& team, const Problem& problem, const fft::Options& options) {
  const fft::MemoryNeed plan = fft::memory_need<double>(team, options);
  team.require_memory(fmt::format("NAS FT class {}", problem.name), plan.total_bytes() + 2 * plan.field_bytes,
                      options.memory_budget_bytes);
}

/// Runs `work` and adds the seconds it took to `total_s`.
template <class Work>
void time_into(double& total_s, const char* name, const Work& work) {
  const trace::Step step(name);
  const double start_s = seconds();
  work();
  total_s += seconds() - start_s;
}

/// Collective: the mean over the ranks.
Breakdown mean(const gas::Team& team, const Breakdown& mine) {
  Breakdown sum;
  const auto all = team.all_gather(mine);
  for (const Breakdown& each : all) {
    sum.plan_s += each.plan_s;
    sum.setup_s += each.setup_s;
    sum.fft_s += each.fft_s;
    sum.evolve_s += each.evolve_s;
    sum.checksum_s += each.checksum_s;
  }
  const double ranks = team.size();
  return {sum.plan_s / ranks, sum.setup_s / ranks, sum.fft_s / ranks, sum.evolve_s / ranks, sum.checksum_s / ranks};
}

}  // namespace

double million_operations(const Problem& problem) {
  const double points = points_of(problem);
  return 1e-6 * points *
         (14.8157 + 7.19641 * std::log(points) + (5.23518 + 7.21113 * std::log(points)) * problem.steps());
}

Result run(const gas::Team& team, const Problem& problem, const fft::Options& chosen,
           const std::function<void(int, std::complex<double>)>& on_step) {
  fft::Options options = chosen;
  options.size = problem.size;
  options.type = fft::Type::c2c;
  options.output = fft::Output::transposed;
  options.batch = 1;
  check_memory(team, problem, options);

  HeatEquation equation(team, problem, options);
  {
    const trace::Pause pause;
    equation.make_plan();
    equation.set_up();
    equation.forward();
    equation.drop_plan();
  }

  Result result;
  Breakdown spent;
  team.barrier();
  const double start_s = seconds();
  time_into(spent.plan_s, "plan", [&] { equation.make_plan(); });
  time_into(spent.setup_s, "set up", [&] { equation.set_up(); });
  time_into(spent.fft_s, "forward", [&] { equation.forward(); });
  for (int step = 0; step < problem.steps(); ++step) {
    time_into(spent.evolve_s, "evolve", [&] { equation.evolve(); });
    time_into(spent.fft_s, "backward", [&] { equation.backward(); });
    time_into(spent.checksum_s, "checksum", [&] { result.checksums.push_back(equation.checksum()); });
    if (on_step) {
      on_step(step + 1, result.checksums.back());
    }
  }
  result.time_s = team.largest(seconds() - start_s);

  result.rate_mops = million_operations(problem) / result.time_s;
  result.breakdown = mean(team, spent);
  result.decision = equation.decision();
  result.memory_bytes = team.largest(equation.memory_bytes());
  for (std::size_t step = 0; step < problem.checksums.size(); ++step) {
    const std::complex<double> published = problem.checksums[step];
    const double error = std::abs((result.checksums[step] - published) / published);
    result.errors.push_back(error);
    if (std::isnan(error) || error > result.largest_error) {  // what is not a number stays, as nothing exceeds it
      result.largest_error = error;
    }
  }
  result.is_verified = result.largest_error <= tolerance;
  return result;
}

}  // namespace penstock::lab::nas
