// `penstock compare`: results of several runs beside each other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/compare/comparison.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/results.hpp"

namespace penstock::cli {
namespace {

using nlohmann::ordered_json;

std::string text_of(const std::string& key, double value) {
  return key.ends_with("_bytes_per_s") ? fmt::format("{:.2f} GB/s", value / 1e9)
         : key.ends_with("_s")         ? format_seconds(value)
                                       : fmt::format("{:.4g}", value);
}

std::string text_of(const ordered_json& value) {
  return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

/// Rows whose columns are as wide as their widest cell; the first column is flush left.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
      text += fmt::format("  {:>{}}", row[i], widths[i]);
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string> row_of_names(const std::vector<NamedResult>& results) {
  std::vector<std::string> row{""};
  for (const NamedResult& each : results) {
    row.push_back(each.name);
  }
  return row;
}

std::string describe(const std::vector<NamedResult>& results, const Comparison& all) {
  std::vector<std::vector<std::string>> rows{row_of_names(results)};
  for (const AskedValue& each : all.asked) {
    if (std::ranges::adjacent_find(each.values, std::not_equal_to()) == each.values.end()) {
      continue;
    }
    auto& row = rows.emplace_back(std::vector{each.key});
    for (const ordered_json& value : each.values) {
      row.push_back(text_of(value));
    }
  }
  for (const MeasuredValue& each : all.measured) {
    if (each.is_in_list && !all.time_key.empty()) {
      continue;  // parts of what is told by the numbers that are in no list
    }
    auto& row = rows.emplace_back(std::vector{each.name});
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      const auto ratio = i > 0 ? each.ratio(i) : std::nullopt;
      row.push_back((each.values[i] ? text_of(each.key, *each.values[i]) : "-") +
                    (ratio ? fmt::format(" ({:.2f})", *ratio) : ""));
    }
  }
  std::string text =
      fmt::format("{}; in parentheses the ratio to {}\n\n{}", all.schema, results.front().name, aligned(rows));
  if (all.scaling) {
    rows = {{"workers", "time", "speedup", "efficiency"}};
    for (const auto& [workers, time_s, speedup, efficiency] : all.scaling->points) {
      rows.push_back({fmt::format("{:g}", workers), format_seconds(time_s), fmt::format("{:.2f}", speedup),
                      fmt::format("{:.0f} %", 100 * efficiency)});
    }
    text += "\n" + aligned(rows);
    if (all.scaling->law) {
      const model::Estimate& serial = all.scaling->law->serial;
      text += fmt::format("Amdahl's law: a serial part of {:.3g} ({:.3g} to {:.3g})\n", serial.value, serial.low,
                          serial.high);
    }
  }
  return text;
}

ordered_json to_json(const ScalingSeries& scaling) {
  auto points = ordered_json::array();
  for (const auto& [workers, time_s, speedup, efficiency] : scaling.points) {
    points.push_back({{"workers", workers}, {"time_s", time_s}, {"speedup", speedup}, {"efficiency", efficiency}});
  }
  ordered_json json{{"points", points}, {"serial", nullptr}};
  if (scaling.law) {
    const model::Estimate& serial = scaling.law->serial;
    json["serial"] = {{"value", serial.value}, {"low", serial.low}, {"high", serial.high}};
  }
  return json;
}

ordered_json to_json(const std::vector<NamedResult>& results, const Comparison& all) {
  ordered_json json{{"compared", all.schema},
                    {"files", ordered_json::array()},
                    {"asked", ordered_json::array()},
                    {"measured", ordered_json::array()},
                    {"scaling", nullptr}};
  for (const NamedResult& each : results) {
    json["files"].push_back(each.name);
  }
  for (const AskedValue& each : all.asked) {
    json["asked"].push_back({{"key", each.key}, {"values", each.values}});
  }
  for (const MeasuredValue& each : all.measured) {
    ordered_json row{{"name", each.name}, {"key", each.key}};
    for (std::size_t i = 0; i < each.values.size(); ++i) {
      append(row, "values", or_null(each.values[i]));
      append(row, "ratios", or_null(each.ratio(i)));
    }
    json["measured"].push_back(row);
  }
  if (all.scaling) {
    json["scaling"] = to_json(*all.scaling);
  }
  return json;
}

/// The results themselves, and the fitted law as a curve.
ordered_json details_of(const std::vector<NamedResult>& results, const Comparison& all) {
  auto runs = ordered_json::array();
  for (const NamedResult& each : results) {
    runs.push_back({{"name", std::filesystem::path(each.name).stem().string()}, {"result", each.result}});
  }
  ordered_json details{{"runs", runs}, {"time_key", all.time_key}, {"law", nullptr}};
  if (all.scaling && all.scaling->law) {
    ordered_json law{{"x", ordered_json::array()}, {"y", ordered_json::array()}};
    const double most = all.scaling->points.back().workers;
    for (double workers = 1; workers <= 4 * most; workers *= 1.25) {
      law["x"].push_back(workers);
      law["y"].push_back(model::speedup({.serial = all.scaling->law->serial.value}, workers));
    }
    details["law"] = law;
  }
  return details;
}

void run_compare(Session& session, const std::vector<std::string>& paths) {
  std::vector<NamedResult> results;
  for (const std::string& path : paths) {
    results.push_back(read_result(path));
  }
  const Comparison all = compare(results);
  Results files(session, "compare");
  session.has_begun_work = true;
  if (session.has_table()) {
    write_output(describe(results, all));
  }
  files.write(to_json(results, all), details_of(results, all));
}

}  // namespace

Body declare_compare(CLI::App& app) {
  auto paths = std::make_shared<std::vector<std::string>>();
  app.add_option("results", *paths,
                 "Results of one subcommand, as its --json writes them; the first is what the others are compared with "
                 "(two or more)")
      ->type_name("FILE.json")
      ->required()
      ->expected(2, 1000);
  return [paths](Session& session) { run_compare(session, *paths); };
}

}  // namespace penstock::cli
