#include "penstock/cli/fft/fft_problem.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/terminal.hpp"

namespace penstock::cli {
namespace {

std::string_view precision_name(const FftOptions& options) {
  return *options.is_single ? "single" : "double";
}

std::string size_of(const FftOptions& options) {
  const auto [nx, ny, nz] = options.fft.size;
  return fmt::format("{}x{}x{}", nx, ny, nz);
}

/// "xyz" where all directions are transformed.
std::string along_of(const FftOptions& options) {
  std::string directions;
  for (std::size_t d = 0; d < 3; ++d) {
    directions += options.fft.along[d] ? std::string(1, "xyz"[d]) : "";
  }
  return directions;
}

std::string sequence_of(const FftOptions& options) {
  std::string directions;
  for (const int d : options.fft.sequence) {
    directions += "xyz"[d];
  }
  return directions;
}

bool has_real_kinds(const FftOptions& options) {
  return options.fft.type == fft::Type::r2r || options.fft.kinds != decltype(options.fft.kinds){};
}

/// What the size and the type leave open, of a transform that is not the Fourier transform of all directions.
std::string describe_directions(const FftOptions& options) {
  std::string text = options.fft.along == std::array{true, true, true} ? "" : " along " + along_of(options);
  for (int d = 0; d < 3 && has_real_kinds(options); ++d) {
    if (options.fft.along[static_cast<std::size_t>(d)]) {
      text += fmt::format(", {} {}", "xyz"[d], kind_name(fft::real_kind(options.fft, d)));
    }
  }
  if (options.fft.sequence != std::array{0, 1, 2}) {
    text += fmt::format(", in the sequence {}", sequence_of(options));
  }
  return text;
}

/// A line of text, and on a terminal one that draws it.
std::string describe(const fft::Breakdown& breakdown) {
  const double total_s = breakdown.total_s > 0 ? breakdown.total_s : 1;
  // What is left: threads starting, and waiting for one another at a stage's end.
  const double other_s = total_s - breakdown.transform_s() - breakdown.move_s() - breakdown.wait_s();
  const std::array parts{Part{"transform", breakdown.transform_s()}, Part{"move", breakdown.move_s()},
                         Part{"wait", breakdown.wait_s()}, Part{"other", std::max(other_s, 0.0)}};
  std::vector<std::string> texts;
  for (const Part& part : parts) {
    texts.push_back(
        fmt::format("{} {} ({:.0f} %)", part.name, format_seconds(part.amount), 100 * part.amount / total_s));
  }
  return report_line("", "{}", fmt::join(texts, ", ")) + bar(report_title_width + 1, parts);
}

nlohmann::ordered_json to_json(const fft::Breakdown& breakdown) {
  return {{"transform_s", breakdown.transform_s()},
          {"move_s", breakdown.move_s()},
          {"wait_s", breakdown.wait_s()},
          {"total_s", breakdown.total_s}};
}

}  // namespace

std::string_view layout_name(const FftOptions& options) {
  return options.fft.output == fft::Output::transposed ? "transposed" : "as-input";
}

std::string_view scaling_name(const FftOptions& options) {
  const fft::Scaling scaling = options.scaling;
  return scaling == fft::Scaling::none ? "none" : scaling == fft::Scaling::symmetric ? "symmetric" : "full";
}

std::string describe_problem(const FftOptions& options) {
  const std::string fields = options.fft.batch > 1 ? fmt::format(", {} fields", options.fft.batch) : "";
  return report_line("Problem", "{} {}{}, {} precision{}: {}", size_of(options), type_name(options.fft.type),
                     describe_directions(options), precision_name(options), fields,
                     options.input_path.empty() ? "noise" : options.input_path);
}

std::string describe_times(std::string_view title, const field::Times& times) {
  return report_line(title, "min {}, median {} of {}", strong(format_seconds(times.min_s())),
                     format_seconds(times.median_s()), times.all_s.size()) +
         describe(times.best);
}

std::string describe_check(const std::optional<double>& relative_error, double tolerance, bool has_failed) {
  if (!relative_error) {
    return report_line("Error", "not checked (--check)");
  }
  return report_line("Error", "{:.1e} by random projections and on the way back; allowed {:.1e}{}", *relative_error,
                     tolerance, has_failed ? ": " + alarming("FAILED") : "");
}

nlohmann::ordered_json problem_json(const FftOptions& options) {
  auto json = nlohmann::ordered_json::object();
  json["command"] = "fft";
  json["version"] = PENSTOCK_VERSION;
  json["size"] = options.fft.size;
  json["type"] = type_name(options.fft.type);
  json["along"] = along_of(options);
  for (int d = 0; d < 3 && has_real_kinds(options); ++d) {
    append(json, "kinds", kind_name(fft::real_kind(options.fft, d)));
  }
  json["sequence"] = sequence_of(options);
  json["precision"] = precision_name(options);
  json["batch"] = options.fft.batch;
  json["input"] = options.input_path.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.input_path);
  json["layout"] = layout_name(options);
  json["scaling"] = scaling_name(options);
  return json;
}

void add_times(nlohmann::ordered_json& json, const FftOptions& options, const field::RoundTrips& times) {
  json["repetitions"] = options.repetitions;
  json["forward_min_s"] = times.forward.min_s();
  json["forward_median_s"] = times.forward.median_s();
  json["backward_min_s"] = times.backward.min_s();
  json["backward_median_s"] = times.backward.median_s();
  json["forward_breakdown"] = to_json(times.forward.best);
  json["backward_breakdown"] = to_json(times.backward.best);
  json["rate_convention"] = options.fft.type == fft::Type::c2c ? "5 N log2 N" : "2.5 N log2 N";
}

}  // namespace penstock::cli
