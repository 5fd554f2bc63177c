// What all reports of transforms in memory tell alike: the problem, the times, the check.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/cli/fft/fft_options.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/field/field.hpp"

namespace penstock::cli {

/// As --layout and --scaling have them.
std::string_view layout_name(const FftOptions& options);
std::string_view scaling_name(const FftOptions& options);

/// Lines of a report.
std::string describe_problem(const FftOptions& options);
std::string describe_times(std::string_view title, const field::Times& times);
std::string describe_check(const std::optional<double>& relative_error, double tolerance, bool has_failed);

/// The problem, and what is asked of its spectrum.
nlohmann::ordered_json problem_json(const FftOptions& options);
/// Adds the times of both directions, by what they were spent on.
void add_times(nlohmann::ordered_json& json, const FftOptions& options, const field::RoundTrips& times);

}  // namespace penstock::cli
