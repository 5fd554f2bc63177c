// Speedups by the laws of Amdahl and Gustafson and their refinements, and fits to measured
// ones.
#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

struct ScalingChoices {
  model::Communication communication = model::Communication::none;
  model::Work work = model::Work::all;
  std::vector<model::MeasuredSpeedup> points;  ///< to fit; none: evaluate the law
};

model::Scaling scaling_of(const ScalingChoices& choices, const Case& at) {
  const bool has_messages = choices.communication != model::Communication::none;
  const bool has_surface = choices.communication == model::Communication::surface;
  const bool is_fit = !choices.points.empty();  // which finds the other numbers
  const model::Scaling scaling{.serial = is_fit ? 0 : at.number("serial"),
                               .alpha = at.number("alpha"),
                               .communication = choices.communication,
                               .kappa = has_messages && !is_fit ? at.number("kappa") : 0,
                               .lambda = has_messages && !is_fit ? at.number("lambda") : 0,
                               .beta = has_surface ? at.number("beta") : 0};
  if (scaling.serial < 0 || scaling.serial > 1) {
    throw Error(fmt::format("serial is {}: give a part, from 0 to 1", scaling.serial));
  }
  if (scaling.alpha < 0 || scaling.kappa < 0 || scaling.lambda < 0 || scaling.beta < 0) {
    throw Error("alpha, kappa, lambda and beta must be 0 or more");
  }
  return scaling;
}

Quantities evaluate_law(const ScalingChoices& choices, const Case& at) {
  const model::Scaling scaling = scaling_of(choices, at);
  const double workers = at.number("workers");
  if (workers < 1) {
    throw Error(fmt::format("{} workers are none: give 1 or more", workers));
  }
  Quantities quantities = {
      {"workers", "workers", Unit::number, workers},
      {"speedup", "speedup", Unit::number, model::speedup(scaling, workers, choices.work)},
      {"efficiency", "efficiency", Unit::number, model::efficiency(scaling, workers, choices.work)},
      {"time", "time, of one worker's", Unit::number, model::scaled_time(scaling, workers)}};
  // Of a fixed problem without communication, where Amdahl's law holds.
  const bool is_amdahl = scaling.alpha == 0 && scaling.communication == model::Communication::none;
  if (scaling.serial > 0 && is_amdahl) {
    quantities.push_back({"crossover_workers",
                          "serial part pays from",
                          Unit::number,
                          model::crossover_workers(scaling.serial),
                          {},
                          false});
  }
  if (scaling.communication == model::Communication::blocking && scaling.kappa + scaling.lambda > 0) {
    quantities.push_back(
        {"best_workers", "fastest with", Unit::number, model::best_blocking_workers(scaling), {}, false});
  }
  return quantities;
}

/// "1:1,2:1.9,4:3.5", or the same in the lines of a file, after a @.
std::vector<model::MeasuredSpeedup> parse_points(const std::string& option, const std::string& text) {
  std::string list = text.starts_with('@') ? read_text(text.substr(1)) : text;
  for (char& letter : list) {
    letter = letter == '\n' || letter == '\r' ? ',' : letter;
  }
  std::vector<model::MeasuredSpeedup> points;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, comma - begin);
    begin = comma + 1;
    const std::size_t colon = item.find(':');
    if (item.empty()) {
      continue;
    }
    if (colon == std::string::npos) {
      throw Error(fmt::format("{} {}: '{}' is not of the form WORKERS:SPEEDUP", option, text, item));
    }
    points.push_back({parse_number(option, item.substr(0, colon), 1),
                      parse_number(option, item.substr(colon + 1), std::numeric_limits<double>::min())});
  }
  return points;
}

OtherAnswer answer_fit(const Study& law, const StudyOptions& options, const ScalingChoices& choices) {
  if (options.sweep) {
    throw Error("--fit fits the points that it lists: give it without --sweep and --plot");
  }
  const Case at = make_case(law, options);
  const model::Scaling form = scaling_of(choices, at);
  refuse_unread(law, options, {{.at = at, .swept = 0, .quantities = {}}});
  const model::ScalingFit fit = model::fit_scaling(choices.points, form);
  const std::string schema = "model-scaling-fit";
  nlohmann::ordered_json json{{"schema", schema}, {"model", "scaling"}};
  std::string text = fmt::format("{:16} {:>12}  95% interval\n", "", "fitted");
  const auto add = [&](const std::string& name, const std::optional<model::Estimate>& estimate) {
    if (estimate) {
      text += fmt::format("{:16} {:12.5g} {:12.5g} to {:.5g}\n", name, estimate->value, estimate->low, estimate->high);
      json[name] = {{"value", estimate->value}, {"low", estimate->low}, {"high", estimate->high}};
    }
  };
  add("serial", fit.serial);
  add("kappa", fit.kappa);
  add("lambda", fit.lambda);
  add("kappa_plus_lambda", fit.kappa_plus_lambda);
  text += fmt::format("{:16} {:11.2f}%\n", "error", 100 * fit.relative_error);
  json["relative_error"] = fit.relative_error;
  return {.schema = schema, .json = json.dump(2) + "\n", .text = std::move(text)};
}

/// Adds an option that sets one of the law's numbers.
void add_real(OptionedStudy& all, const std::string& option, const std::string& help, const std::string& key) {
  all.add_value(option, "X", fmt::format("{} ({:.3g})", help, all.study->numbers.at(key)),
                [=, law = all.study](const std::string& text) { law->numbers.at(key) = parse_number(option, text, 0); },
                {key});
}

}  // namespace

OptionedStudy scaling_study() {
  Study described;
  described.name = "scaling";
  described.numbers = {{"workers", 1}, {"serial", 0.05}, {"alpha", 0}, {"kappa", 0}, {"lambda", 0}, {"beta", 2.0 / 3}};
  described.plotted = {"speedup"};
  described.default_sweep = "workers=1..1024:x2";
  described.has_machine = false;
  auto choices = std::make_shared<ScalingChoices>();
  OptionedStudy all = with_options(std::move(described));
  add_real(all, "--serial", "The serial part s", "serial");
  add_real(all, "--alpha", "The problem grows like N^alpha: 0 for Amdahl's law, 1 for Gustafson's", "alpha");
  add_real(all, "--kappa", "The time in which a message streams", "kappa");
  add_real(all, "--lambda", "The latency of a message", "lambda");
  add_real(all, "--beta", "Of surface to volume", "beta");
  all.add_value("--communication", "none|blocking|constant|surface", "How messages cost (none)",
                [choices](const std::string& text) {
                  using model::Communication;
                  choices->communication = parse_choice<Communication>("--communication", text,
                                                                       {{"none", Communication::none},
                                                                        {"blocking", Communication::blocking},
                                                                        {"constant", Communication::constant},
                                                                        {"surface", Communication::surface}});
                });
  all.add_value("--work", "all|parallel", "What counts as work (all)", [choices](const std::string& text) {
    choices->work =
        parse_choice<model::Work>("--work", text, {{"all", model::Work::all}, {"parallel", model::Work::parallel}});
  });
  all.add_value("--fit", "N:SPEEDUP,...|@FILE",
                "Fit s, and with --communication kappa and lambda, to measured speedups (none)",
                [choices](const std::string& text) { choices->points = parse_points("--fit", text); });
  all.study->evaluate = [choices](const Case& at) { return evaluate_law(*choices, at); };
  all.other = [choices, study = all.study, asked = all.asked]() -> std::optional<OtherAnswer> {
    return choices->points.empty() ? std::nullopt : std::optional(answer_fit(*study, *asked, *choices));
  };
  return all;
}

}  // namespace penstock::study
