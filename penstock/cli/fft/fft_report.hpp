// The results of `penstock fft`, as a table for people and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "penstock/cli/core/machine_rates.hpp"
#include "penstock/cli/core/session.hpp"
#include "penstock/cli/fft/fft_options.hpp"
#include "penstock/field/field.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {

/// What a run found out beside its options; complete on the first rank.
struct FftReport {
  fft::Decision decision;
  double planning_s = 0;
  std::string wisdom;
  fft::MemoryNeed memory;  ///< the largest of all ranks', field by field
  std::uint64_t available_bytes = 0;
  MachineRates figures;
  model::Fft problem;
  model::FftLimit limit;
  /// By the model, where a machine file was given that tells enough, and what bounds it; or why not.
  std::optional<model::PlannedFftTime> predicted;
  std::string predicted_bound;
  std::string why_not_predicted;
  field::RoundTrips times;
  std::optional<double> relative_error;  ///< of the check, where one was asked for
  double tolerance = 0;
  std::optional<double> modes_kept;  ///< by the low-pass filter, all ranks together

  /// Sets what is predicted for the decision.
  void predict(const std::string& machine_path);
  /// `amount` over the time of the best forward transform; nothing where that took none that the clock shows.
  std::optional<double> over_forward_s(double amount) const {
    const double time_s = times.forward.min_s();
    return time_s > 0 ? std::optional(amount / time_s) : std::nullopt;
  }
  std::optional<double> rate_flops() const { return over_forward_s(model::fft_flops(problem)); }
  std::optional<double> fraction_of_limit() const { return over_forward_s(limit.limit_s()); }
  /// Of the forward transform: 0.1 where 10 % more time was predicted than was taken.
  std::optional<double> prediction_error() const { return over_forward_s(predicted->total_s - times.forward.min_s()); }
  bool has_failed() const { return relative_error && !(*relative_error <= tolerance); }
};

/// What is known before the transforms run: machine, problem, plan and memory.
std::string describe_plan(const Session& session, const FftOptions& options, const FftReport& report);
/// What they brought: times, those of the stages and what bounds each, rate, limit, error, and the files written.
std::string describe_results(const Session& session, const FftOptions& options, const FftReport& report);

nlohmann::ordered_json to_json(const Session& session, const FftOptions& options, const FftReport& report);

/// "wavenumber power modes", a line for each shell, for plots.
std::string spectrum_table(const field::RadialSpectrum& spectrum);

}  // namespace penstock::cli
