// Results of several runs beside each other: what was asked differently, what came out, how it scales.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "penstock/model/model.hpp"

namespace penstock::cli {

/// A result as `--json` wrote it.
struct NamedResult {
  std::string name;  ///< of its file
  nlohmann::ordered_json result;
};

/// Something of all results: nothing where one does not have it.
struct AskedValue {
  std::string key;
  std::vector<nlohmann::ordered_json> values;
};

/// A measured number of all results.
struct MeasuredValue {
  std::string name;  ///< of the list and row that it stands in, and its key: "results put_signal 8: time_min_s"
  std::string key;
  bool is_in_list = false;
  std::vector<std::optional<double>> values;
  /// That of result i to that of the first; nothing where one is missing or the first is 0.
  std::optional<double> ratio(std::size_t i) const;
};

/// One problem with more and more workers.
struct ScalingSeries {
  struct Point {
    double workers;  ///< ranks times threads
    double time_s;
    double speedup;     ///< over the fewest workers, times their number
    double efficiency;  ///< the speedup over the workers
  };
  std::vector<Point> points;             ///< by workers
  std::optional<model::ScalingFit> law;  ///< Amdahl's, where there are points enough from one worker on
};

struct Comparison {
  std::string schema;  ///< of all results
  std::vector<AskedValue> asked;
  std::vector<MeasuredValue> measured;
  std::string time_key;  ///< of the time that tells most; empty: none
  std::optional<ScalingSeries> scaling;
};

/// Throws Error where there is no such result, or results of different kinds.
NamedResult read_result(const std::string& path);
Comparison compare(const std::vector<NamedResult>& results);

}  // namespace penstock::cli
