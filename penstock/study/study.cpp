#include "penstock/study/study.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/parse.hpp"

namespace penstock::study {
namespace {

std::string names_of(const std::map<std::string, double>& numbers) {
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers) {
    names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Sets a number of the problem, or else a key of the machine.
void set(Case& at, const std::string& key, const std::string& value) {
  const auto found = at.numbers.find(key);
  if (found != at.numbers.end()) {
    found->second = parse_number(key + " =", value, std::numeric_limits<double>::lowest());
  } else {
    at.machine = machine::with(at.machine, std::vector{machine::Override{key, value}});
  }
}

bool has_time(const Quantities& quantities) {
  return std::ranges::find(quantities, "time_s", &Quantity::key) != quantities.end();
}

double time_s(const Quantities& quantities) {
  const auto quantity = std::ranges::find(quantities, "time_s", &Quantity::key);
  if (quantity == quantities.end()) {
    throw Error("there is no time to solve for: the machine needs a network");
  }
  return quantity->value.value();
}

std::vector<model::Gain> gains_of(const Study& study, const Evaluated& each) {
  if (!study.has_machine || !has_time(each.quantities)) {
    return {};
  }
  return model::gains(each.at.machine, [&](const machine::Machine& machine) {
    Case changed = each.at;
    changed.machine = machine;
    return time_s(study.evaluate(changed));
  });
}

/// `base` with `key`, a number of the problem or a key of the machine, at `value`.
Evaluated evaluate_with(const Study& study, const Case& base, const std::string& key, double value) {
  Evaluated evaluated{.at = base, .swept = value, .quantities = {}};
  set(evaluated.at, key, digits_of(value));
  evaluated.quantities = study.evaluate(evaluated.at);
  return evaluated;
}

/// The time as a function of the number or key alone.
model::TimeAt time_by(const Study& study, const Case& base, const std::string& key) {
  return [&study, &base, key](double value) { return time_s(evaluate_with(study, base, key, value).quantities); };
}

Evaluated solve_nodes(const Study& study, const Case& base, double wanted_s) {
  const std::vector<double> numbers = model::numbers_of_nodes(static_cast<double>(base.machine.count));
  const model::Solution solution = model::first_within_time(time_by(study, base, "nodes"), numbers, wanted_s);
  if (!solution.is_found) {
    throw Error(
        fmt::format("--time {}: no number of nodes reaches it; the shortest is {:.4g} s, with {} of the machine's {} "
                    "nodes",
                    wanted_s, solution.time_s, digits_of(solution.argument), base.machine.count));
  }
  return evaluate_with(study, base, "nodes", solution.argument);
}

/// Whether the model, which has been evaluated at `at`, or the machine takes whole numbers alone for `key`.
bool is_whole(const Case& at, const std::string& key, double value) {
  if (at.numbers.contains(key)) {
    return at.reads->whole.contains(key);
  }
  constexpr double slightly = 1e-9;  // one of the two is within what the machine may have
  return std::ranges::all_of(std::array{value * (1 + slightly), value * (1 - slightly)}, [&](double near) {
    try {
      machine::with(at.machine, std::vector{machine::Override{key, digits_of(near)}});
      return false;
    } catch (const Error&) {
      return true;
    }
  });
}

Evaluated solve_number(const Study& study, const StudyOptions& options, const Case& base, double wanted_s) {
  const std::string& key = options.solve_key;
  const double start = base.numbers.contains(key) ? base.numbers.at(key) : machine::number(base.machine, key);
  if (!(start > 0)) {
    throw Error(fmt::format("--solve {}: it is {}, and can only be solved for from above 0", key, start));
  }
  const Evaluated first = evaluate_with(study, base, key, start);
  refuse_unread(study, options, {first});
  const bool has_whole = is_whole(first.at, key, start);
  const model::Solution solution = model::solve_for_time(time_by(study, base, key), start, wanted_s, has_whole);
  if (!solution.is_found) {
    throw Error(fmt::format("--time {}: no value of {} gives it; the {} is {:.4g} s, with {}", wanted_s, key,
                            time_s(first.quantities) > wanted_s ? "shortest" : "longest", solution.time_s,
                            digits_of(solution.argument)));
  }
  return evaluate_with(study, base, key, solution.argument);
}

}  // namespace

double Case::number(const std::string& key) const {
  reads->numbers.insert(key);
  return numbers.at(key);
}

std::int64_t Case::integer(const std::string& key) const {
  const double value = number(key);
  reads->whole.insert(key);
  if (value != std::floor(value) || std::abs(value) > 1e15) {
    throw Error(fmt::format("{} is {}: give a whole number", key, value));
  }
  return static_cast<std::int64_t>(value);
}

void OptionedStudy::add_value(std::string name, std::string value_name, std::string help,
                              std::function<void(const std::string&)> take, std::vector<std::string> keys) {
  options.push_back({.name = std::move(name),
                     .value_name = std::move(value_name),
                     .help = std::move(help),
                     .take = std::move(take),
                     .keys = std::move(keys)});
}

void OptionedStudy::add_flag(std::string name, std::string help, std::function<void()> take) {
  options.push_back({std::move(name), "", std::move(help), [=](const std::string&) { take(); }});
}

void OptionedStudy::add_number(const std::string& name, const std::string& help, const std::string& key,
                               std::int64_t lowest) {
  add_value(name, "N", fmt::format("{} ({:g})", help, study->numbers.at(key)),
            [=, of = study](const std::string& text) {
              of->numbers.at(key) = static_cast<double>(parse_integer(name, text, lowest));
            },
            {key});
}

void OptionedStudy::add_size() {
  add_value("--size", "NXxNYxNZ", "Points of the field (256x256x256)",
            [of = study](const std::string& text) {
              const auto [nx, ny, nz] = parse_size("--size", text);
              of->numbers.at("nx") = static_cast<double>(nx);
              of->numbers.at("ny") = static_cast<double>(ny);
              of->numbers.at("nz") = static_cast<double>(nz);
            },
            {"nx", "ny", "nz"});
}

OptionedStudy with_options(Study study) {
  OptionedStudy all{
      .study = std::make_shared<Study>(std::move(study)), .asked = std::make_shared<StudyOptions>(), .options = {}};
  const auto asked = all.asked;
  all.add_value("--set", "KEY=VALUE",
                "A number of the model or a key of the machine file, as network.link_bandwidth_bytes_per_s=5e9; many "
                "times (none)",
                [asked](const std::string& text) {
                  const auto [key, value] = parse_assignment("--set", text);
                  asked->changes.push_back({key, value});
                });
  all.options.back().is_repeated = true;
  all.add_value("--sweep", "KEY=A..B:xF",
                "A number or key that takes many values: A..B:xF, A..B:+S or A,B,C, as nodes=1..16:x2 (none)",
                [asked](const std::string& text) { asked->sweep = parse_sweep("--sweep", text); });
  if (all.study->has_machine) {
    all.add_value("--machine", "NAME|FILE",
                  fmt::format("A described machine ({}), or a machine file (default)",
                              fmt::join(machine::described_names(), ", ")),
                  [asked](const std::string& text) { asked->machine = text; });
    all.add_value("--solve", "KEY", "The number or key to find for --time; nodes: the fewest of the machine's (none)",
                  [asked](const std::string& text) { asked->solve_key = text; });
    all.add_value("--time", "SECONDS", "The time that --solve aims at (none)", [asked](const std::string& text) {
      asked->solve_time_s = parse_number("--time", text, std::numeric_limits<double>::min());
    });
  }
  return all;
}

model::RankOrder parse_rank_order(std::string_view option, std::string_view text) {
  return parse_choice<model::RankOrder>(
      option, text, {{"nodes", model::RankOrder::nodes_first}, {"cores", model::RankOrder::cores_first}});
}

std::string digits_of(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

Case make_case(const Study& study, const StudyOptions& options) {
  Case at{.machine = machine::find(options.machine), .numbers = study.numbers};
  std::vector<machine::Override> of_machine;
  std::set<std::string> given;
  for (const machine::Override& change : options.changes) {
    if (!given.insert(change.key).second) {
      throw Error(fmt::format("--set {} is given twice: leave one out", change.key));
    }
    if (options.sweep && options.sweep->key == change.key) {
      throw Error(fmt::format("--set {0} and --sweep {0} cannot be had together: leave one out", change.key));
    }
    if (at.numbers.contains(change.key)) {
      set(at, change.key, change.value);
    } else if (study.has_machine) {
      of_machine.push_back(change);
    } else {
      throw Error(fmt::format("--set {}: model {} reads no such key; it reads {}", change.key, study.name,
                              names_of(study.numbers)));
    }
  }
  try {
    // Together: dimensions and count must agree.
    at.machine = machine::with(at.machine, of_machine);
    if (options.sweep && study.has_machine && !at.numbers.contains(options.sweep->key)) {
      const machine::Override first{options.sweep->key, digits_of(options.sweep->values.front())};
      static_cast<void>(machine::with(at.machine, std::span(&first, 1)));
    }
  } catch (const Error& error) {
    throw Error(fmt::format("{} (numbers of the model are {})", error.what(), names_of(at.numbers)));
  }
  return at;
}

namespace {

std::vector<Evaluated> evaluate(const Study& study, const StudyOptions& options, const std::optional<Sweep>& sweep) {
  const Case base = make_case(study, options);
  if (!sweep) {
    return {{.at = base, .swept = 0, .quantities = study.evaluate(base)}};
  }
  std::vector<Evaluated> points;
  for (const double value : sweep->values) {
    points.push_back(evaluate_with(study, base, sweep->key, value));
  }
  return points;
}

/// The value of options.solve_key at which "time_s" is the time asked for; of whole numbers the nearest one with which
/// it takes no more, of nodes the fewest that the machine has. Throws Error, with the time that comes nearest, where
/// there is none.
Evaluated solve(const Study& study, const StudyOptions& options) {
  if (!options.solve_time_s) {
    throw Error(fmt::format("--solve {} needs --time", options.solve_key));
  }
  const Case base = make_case(study, options);
  return options.solve_key == "nodes" ? solve_nodes(study, base, *options.solve_time_s)
                                      : solve_number(study, options, base, *options.solve_time_s);
}

}  // namespace

Answer answer(const Study& study, const StudyOptions& options) {
  std::optional<Sweep> sweep = options.sweep;
  if (!sweep && !study.default_sweep.empty() && options.solve_key.empty()) {
    sweep = parse_sweep("--sweep", study.default_sweep);
    if (std::ranges::find(options.changes, sweep->key, &machine::Override::key) != options.changes.end()) {
      sweep.reset();  // its value is given
    }
  }
  if (sweep && !options.solve_key.empty()) {
    throw Error("--sweep and --solve cannot be had together");
  }
  if (options.solve_time_s && options.solve_key.empty()) {
    throw Error("--time has a meaning with --solve alone");
  }
  Answer answer{
      .points = options.solve_key.empty() ? evaluate(study, options, sweep) : std::vector{solve(study, options)},
      .sweep = sweep,
      .key = sweep ? sweep->key : options.solve_key};
  refuse_unread(study, options, answer.points);
  for (Evaluated& each : answer.points) {
    each.gains = options.has_gains ? gains_of(study, each) : std::vector<model::Gain>();
  }
  return answer;
}

}  // namespace penstock::study
