#include "penstock/cli/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "penstock/base/base.hpp"

namespace penstock::cli {
namespace {

using nlohmann::ordered_json;

/// Whether a key names what was measured; what else a result has says what was asked, or which row it is.
bool is_measured(std::string_view key) {
  constexpr std::array endings{"_s", "_gflops", "_mops", "_flops", "_speedup", "speedup", "efficiency", "_error"};
  constexpr std::array whole{"fraction_of_limit", "times_as_fast", "multiply_share"};
  return std::ranges::any_of(endings, [&](std::string_view ending) { return key.ends_with(ending); }) ||
         std::ranges::find(whole, key) != whole.end();
}

/// A measured number of one result.
struct Found {
  std::string name;
  std::string key;
  bool is_in_list;
  double value;
};

/// What sets a row of a list apart from the others; empty where nothing does.
std::string name_of_row(const ordered_json& row) {
  constexpr std::array keys{"name",  "way",    "what",  "key",     "group", "regime", "operation", "transforms_along",
                            "bytes", "window", "nodes", "workers", "year",  "n"};
  std::string name;
  for (const char* key : keys) {
    if (row.contains(key) && row[key].is_primitive() && !row[key].is_null()) {
      name += (name.empty() ? "" : " ") + (row[key].is_string() ? row[key].get<std::string>() : row[key].dump());
    }
  }
  return name;
}

void find_measured(const ordered_json& object, const std::string& prefix, bool is_in_list, std::vector<Found>& found) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      find_measured(value, fmt::format("{}{}: ", prefix, key), is_in_list, found);
    } else if (value.is_array()) {
      for (const ordered_json& row : value) {
        if (const std::string name = row.is_object() ? name_of_row(row) : ""; !name.empty()) {
          find_measured(row, fmt::format("{}{} {}: ", prefix, key, name), true, found);
        }
      }
    } else if (value.is_number() && is_measured(key)) {
      found.push_back({prefix + key, key, is_in_list, value.get<double>()});
    }
  }
}

bool is_asked(const std::string& key, const ordered_json& value) {
  return key != "schema" && !value.is_object() && !is_measured(key) &&
         !(value.is_array() &&
           std::ranges::any_of(value, [](const ordered_json& each) { return each.is_structured(); }));
}

std::vector<AskedValue> asked_of(const std::vector<NamedResult>& results) {
  std::vector<AskedValue> asked;
  for (const NamedResult& each : results) {
    for (const auto& [key, value] : each.result.items()) {
      if (is_asked(key, value) && std::ranges::find(asked, key, &AskedValue::key) == asked.end()) {
        asked.push_back({key, {}});
      }
    }
  }
  for (AskedValue& each : asked) {
    for (const NamedResult& from : results) {
      each.values.push_back(from.result.value(each.key, ordered_json()));
    }
  }
  return asked;
}

std::vector<MeasuredValue> measured_of(const std::vector<NamedResult>& results) {
  std::vector<MeasuredValue> measured;
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<Found> found;
    find_measured(results[i].result, "", false, found);
    for (const Found& each : found) {
      auto row = std::ranges::find(measured, each.name, &MeasuredValue::name);
      if (row == measured.end()) {
        row = measured.insert(measured.end(), {each.name, each.key, each.is_in_list, {}});
        row->values.resize(results.size());
      }
      row->values[i] = each.value;
    }
  }
  return measured;
}

/// The series, where the results are of one problem and of different numbers of workers.
std::optional<ScalingSeries> scaling_of(const std::vector<NamedResult>& results, const Comparison& all) {
  constexpr std::array problem{"size", "type", "precision", "batch", "m", "n", "k", "class", "along", "kinds"};
  for (const AskedValue& each : all.asked) {
    const auto differs = [&](const ordered_json& value) { return value != each.values.front(); };
    if (std::ranges::find(problem, each.key) != problem.end() && std::ranges::any_of(each.values, differs)) {
      return std::nullopt;
    }
  }
  ScalingSeries series;
  for (const NamedResult& each : results) {
    const double ranks = each.result.value("ranks", 0.0);
    const double time_s = all.time_key.empty() ? 0 : each.result.value(all.time_key, 0.0);
    if (ranks < 1 || time_s <= 0) {
      return std::nullopt;
    }
    series.points.push_back(
        {.workers = ranks * each.result.value("threads", 1.0), .time_s = time_s, .speedup = 0, .efficiency = 0});
  }
  std::ranges::sort(series.points, {}, &ScalingSeries::Point::workers);
  if (std::ranges::adjacent_find(series.points, {}, &ScalingSeries::Point::workers) != series.points.end()) {
    return std::nullopt;
  }
  const ScalingSeries::Point fewest = series.points.front();
  std::vector<model::MeasuredSpeedup> speedups;
  for (ScalingSeries::Point& point : series.points) {
    point.speedup = fewest.workers * fewest.time_s / point.time_s;
    point.efficiency = point.speedup / point.workers;
    speedups.push_back({point.workers, point.speedup});
  }
  if (fewest.workers == 1 && series.points.size() > 2) {
    series.law = model::fit_scaling(speedups, {});
  }
  return series;
}

}  // namespace

std::optional<double> MeasuredValue::ratio(std::size_t i) const {
  return values[i] && values[0] && *values[0] != 0 ? std::optional(*values[i] / *values[0]) : std::nullopt;
}

NamedResult read_result(const std::string& path) {
  ordered_json result;
  try {
    result = ordered_json::parse(read_text(path));
  } catch (const ordered_json::exception&) {
    throw Error(fmt::format("{}: not JSON", path));
  }
  if (!result.is_object() || !result.contains("schema") || !result["schema"].is_string()) {
    throw Error(fmt::format("{}: not what --json writes: it has no \"schema\"", path));
  }
  return {path, std::move(result)};
}

Comparison compare(const std::vector<NamedResult>& results) {
  const auto schema_of = [](const NamedResult& each) { return each.result["schema"].get<std::string>(); };
  Comparison all;
  all.schema = schema_of(results.front());
  for (const NamedResult& each : results) {
    if (schema_of(each) != all.schema) {
      throw Error(fmt::format("{} is of {} and {} of {}: results of one kind can be compared", results.front().name,
                              all.schema, each.name, schema_of(each)));
    }
  }
  all.asked = asked_of(results);
  all.measured = measured_of(results);
  for (const char* key : {"forward_min_s", "time_min_s", "time_s"}) {
    if (all.time_key.empty() && results.front().result.contains(key)) {
      all.time_key = key;
    }
  }
  all.scaling = scaling_of(results, all);
  return all;
}

}  // namespace penstock::cli
