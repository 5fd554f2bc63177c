#include "penstock/cli/model/run_study.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/lab/plot/plot.hpp"

namespace penstock::cli {
namespace {

using study::Evaluated;
using study::Quantity;
using study::Study;
using study::Unit;

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array prefixes{std::pair{1e18, "E"}, std::pair{1e15, "P"}, std::pair{1e12, "T"},
                                std::pair{1e9, "G"},  std::pair{1e6, "M"},  std::pair{1e3, "k"}};
  for (const auto& [scale, prefix] : prefixes) {
    if (std::abs(value) >= scale) {
      return fmt::format("{:.4g} {}{}", value / scale, prefix, unit);
    }
  }
  return fmt::format("{:.4g} {}", value, unit);
}

std::string text_of(double value, Unit unit) {
  switch (unit) {
    case Unit::number:
      return std::abs(value) >= 1e4 && value == std::floor(value) && value < 1e15 ? fmt::format("{:.0f}", value)
                                                                                  : fmt::format("{:.4g}", value);
    case Unit::seconds:
      return value == 0 ? "0" : format_seconds(value);
    case Unit::bytes:
      return value < 1e19 ? format_bytes(static_cast<std::uint64_t>(value)) : with_prefix(value, "B");
    case Unit::bytes_per_s:
      return with_prefix(value, "B/s");
    case Unit::flops_per_s:
      return with_prefix(value, "Flop/s");
    case Unit::text:
      break;
  }
  return {};
}

std::string text_of(const Quantity& quantity) {
  return quantity.unit == Unit::text ? quantity.text : quantity.value ? text_of(*quantity.value, quantity.unit) : "-";
}

std::string bound_of(const Evaluated& each) {
  return each.gains.empty() ? "" : std::string(model::name_of(each.gains.front().resource));
}

const Quantity* find(const Evaluated& each, std::string_view key) {
  const auto found = std::ranges::find(each.quantities, key, &Quantity::key);
  return found == each.quantities.end() ? nullptr : &*found;
}

/// The seconds of that key; none where it is no result.
double seconds_of(const Evaluated& each, std::string_view key) {
  const Quantity* const quantity = find(each, key);
  return quantity == nullptr ? 0 : quantity->value.value_or(0);
}

/// On a terminal, the parts of the time drawn.
void draw_parts(const Study& study, const Evaluated& each) {
  std::vector<Part> parts;
  for (const std::string& key : study.parts) {
    if (const Quantity* const quantity = find(each, key)) {
      const double hidden_s = parts.empty() ? seconds_of(each, "hidden_s") : 0;
      parts.push_back({quantity->name, quantity->value.value_or(0) - hidden_s});
    }
  }
  constexpr int indentation = 35;
  write_output(parts.size() == study.parts.size() ? bar(indentation, parts) : "");
}

void print_list(const Study& study, const Evaluated& each) {
  for (const Quantity& quantity : each.quantities) {
    const bool is_time = quantity.key == "time_s";
    print_output("{:34} {}\n", quantity.name, is_time ? strong(text_of(quantity)) : text_of(quantity));
    if (is_time) {
      draw_parts(study, each);
    }
  }
  if (!each.gains.empty()) {
    print_output("\n{:34} {}\n", "bound by", strong(bound_of(each)));
    for (const model::Gain& gain : each.gains) {
      print_output("{:34} {:.2f} times faster\n", fmt::format("twice the {}", model::name_of(gain.resource)),
                   gain.factor);
    }
  }
}

void print_table(const std::vector<Evaluated>& points, const std::string& swept_key) {
  std::vector<std::vector<std::string>> rows(points.size() + 1);
  rows[0].push_back(swept_key);
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows[i + 1].push_back(text_of(points[i].swept, Unit::number));
    for (const Quantity& quantity : points[i].quantities) {
      if (quantity.is_in_table && quantity.key != swept_key) {
        if (i == 0) {
          rows[0].push_back(quantity.name);
        }
        rows[i + 1].push_back(text_of(quantity));
      }
    }
    if (!points[i].gains.empty()) {
      rows[i + 1].push_back(bound_of(points[i]));
      rows[i + 1].push_back(fmt::format("{:.2f}", points[i].gains.front().factor));
    }
  }
  if (std::ranges::any_of(points, [](const Evaluated& each) { return !each.gains.empty(); })) {
    rows[0].insert(rows[0].end(), {"bound by", "gain of twice"});
  }
  const auto fastest =
      std::ranges::min_element(points, {}, [](const Evaluated& each) { return seconds_of(each, "time_s"); });
  const bool has_time = find(points.front(), "time_s") != nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const std::vector<std::string>& other : rows) {
        width = std::max(width, column < other.size() ? other[column].size() : 0);
      }
      line += fmt::format("{:>{}}  ", row[column], width);
    }
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    const bool is_fastest = has_time && i == static_cast<std::size_t>(fastest - points.begin()) + 1;
    print_output("{}\n", is_fastest ? strong(line) : line);
  }
}

void print_points(const Study& study, const std::vector<Evaluated>& points, const std::string& swept_key) {
  if (points.size() > 1) {
    print_table(points, swept_key);
    return;
  }
  if (!swept_key.empty() && find(points.front(), swept_key) == nullptr) {
    print_output("{:34} {:g}\n", swept_key, points.front().swept);
  }
  print_list(study, points.front());
}

void draw_points(const Study& study, const std::vector<Evaluated>& points, const study::Sweep& sweep,
                 const std::string& path) {
  lab::Chart chart{.title = fmt::format("penstock model {}{}", study.name,
                                        study.has_machine ? ": " + points.front().at.machine.name : ""),
                   .x_name = sweep.key,
                   .y_name = "",
                   .has_logarithms = sweep.is_geometric,
                   .x = {},
                   .series = {}};
  for (const Evaluated& each : points) {
    chart.x.push_back(each.swept);
    for (const Quantity& quantity : each.quantities) {
      if (std::ranges::find(study.plotted, quantity.key) == study.plotted.end()) {
        continue;
      }
      const double value = quantity.value.value_or(0);
      const auto series = std::ranges::find(chart.series, quantity.name, &lab::Chart::Series::name);
      if (series == chart.series.end()) {
        chart.series.push_back({quantity.name, {value}});
        chart.y_name = quantity.unit == Unit::seconds       ? "seconds"
                       : quantity.unit == Unit::bytes_per_s ? "bytes per second"
                                                            : "";
      } else {
        series->y.push_back(value);
      }
    }
  }
  lab::draw(chart, path);
}

void declare_options(CLI::App& app, const study::OptionedStudy& optioned) {
  for (const study::Option& option : optioned.options) {
    const auto take = option.take;
    if (option.value_name.empty()) {
      app.add_flag_callback(
          option.name, [take] { take(""); }, option.help);
    } else if (option.is_repeated) {
      app.add_option_function<std::vector<std::string>>(
             option.name, [take](const std::vector<std::string>& texts) { std::ranges::for_each(texts, take); },
             option.help)
          ->type_name(option.value_name)
          ->allow_extra_args(false);
    } else {
      add_value(app, option.name, option.value_name, option.help, take);
    }
  }
}

/// Collective.
void run_study(Session& session, const study::OptionedStudy& optioned, const std::string& plot_path) {
  if (const std::optional<study::OtherAnswer> other = optioned.other()) {
    if (!plot_path.empty()) {
      throw Error("--plot draws the points of a sweep, and here there are none: leave it out");
    }
    Results results(session, other->schema);
    session.has_begun_work = true;
    if (session.has_table()) {
      write_output(other->text);
    }
    results.write(nlohmann::ordered_json::parse(other->json));
    return;
  }
  const Study& study = *optioned.study;
  const study::Answer answer = study::answer(study, *optioned.asked);
  if (!plot_path.empty() && !answer.sweep) {
    throw Error("--plot draws a sweep: give --sweep as well");
  }
  Results results(session, "model-" + study.name);
  session.has_begun_work = true;
  if (session.has_table()) {
    write_output(study.has_machine ? answer.points.front().at.machine.name + "\n\n" : "");
    print_points(study, answer.points, answer.key);
  }
  session.team.together([&] {
    if (session.is_first() && !plot_path.empty()) {
      draw_points(study, answer.points, *answer.sweep, plot_path);
    }
  });
  results.write(nlohmann::ordered_json::parse(study::to_json(study, answer)));
}

}  // namespace

Body declare_study(CLI::App& app, const study::OptionedStudy& optioned) {
  declare_options(app, optioned);
  auto plot_path = std::make_shared<std::string>();
  add_value(app, "--plot", "FILE.svg", "Draw the sweep", [plot_path](const std::string& text) { *plot_path = text; });
  return [=](Session& session) { run_study(session, optioned, *plot_path); };
}

}  // namespace penstock::cli
