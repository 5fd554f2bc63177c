// Whether results of a study depend on a key that the user has named, and the refusal of those on which none does.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

/// The results with the machine's key at another value, or none where the model refuses it; nothing where the machine
/// cannot have that value.
std::optional<Quantities> results_with(const Study& study, const Case& at, const std::string& key, double value) {
  Case changed = at;
  try {
    changed.machine = machine::with(at.machine, std::vector{machine::Override{key, digits_of(value)}});
  } catch (const Error&) {
    return std::nullopt;
  }
  try {
    return study.evaluate(changed);
  } catch (const Error&) {
    return Quantities();
  }
}

std::optional<double> machine_number(const Case& at, const std::string& key) {
  try {
    return machine::number(at.machine, key);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// A resource that binds nothing as it is binds where it is scarce, so values far away are tried. Nothing where that
/// cannot be told: of a text or a list, or where the machine can have no other value.
std::optional<bool> depends_on(const Study& study, const Evaluated& point, const std::string& key) {
  if (point.at.numbers.contains(key)) {
    return point.at.reads->numbers.contains(key);
  }
  const auto value = machine_number(point.at, key);
  if (!value) {
    return std::nullopt;
  }
  bool has_tried = false;
  for (const double other : {*value * 1e3, *value * 1e-3, *value * 1e9, *value * 1e-9, 0.0, 1.0, 2.0, *value * 2}) {
    const auto results = other == *value ? std::nullopt : results_with(study, point.at, key, other);
    has_tried = has_tried || results;
    if (results && *results != point.quantities) {
      return true;
    }
  }
  return has_tried ? std::optional(false) : std::nullopt;
}

/// Elements of lists that have no name count as one: "node.caches.N.bandwidth_bytes_per_s".
std::string without_numbers(std::string key) {
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
    const std::size_t end = std::min(key.find_first_not_of("0123456789", dot + 1), key.size());
    if (end > dot + 1 && (end == key.size() || key[end] == '.')) {
      key.replace(dot + 1, end - dot - 1, "N");
    }
  }
  return key;
}

void add_number_keys(const toml::node& node, const std::string& key, std::vector<std::string>& keys) {
  if (node.is_number()) {
    keys.push_back(key);
  }
  const std::string before = key.empty() ? "" : key + ".";
  if (const toml::table* table = node.as_table()) {
    for (const auto& [name, each] : *table) {
      add_number_keys(each, before + std::string(name.str()), keys);
    }
  }
  if (const toml::array* list = node.as_array(); list != nullptr && node.is_array_of_tables()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const auto name = (*list->get(i)->as_table())["name"].value<std::string>();
      add_number_keys(*list->get(i), before + name.value_or(fmt::format("{}", i)), keys);
    }
  }
}

/// "n, nodes; of the machine count, node.cores"
std::string accepted_keys(const Study& study, const Evaluated& point) {
  std::string text = fmt::format("{}", fmt::join(point.at.reads->numbers, ", "));
  if (!study.has_machine) {
    return text;
  }
  std::vector<std::string> all;
  add_number_keys(toml::parse(machine::format(point.at.machine)), "", all);
  std::vector<std::string> read;
  for (const std::string& key : all) {
    const std::string name = without_numbers(key);
    if ((read.empty() || read.back() != name) && depends_on(study, point, key).value_or(false)) {
      read.push_back(name);
    }
  }
  return read.empty() ? text : fmt::format("{}; of the machine {}", text, fmt::join(read, ", "));
}

}  // namespace

void refuse_unread(const Study& study, const StudyOptions& options, const std::vector<Evaluated>& points) {
  std::vector<std::array<std::string, 2>> named;
  for (const machine::Override& change : options.changes) {
    named.push_back({"--set", change.key});
  }
  if (options.sweep) {
    named.push_back({"--sweep", options.sweep->key});
  }
  if (!options.solve_key.empty()) {
    named.push_back({"--solve", options.solve_key});
  }
  for (const auto& [option, key] : named) {
    // The ends of a sweep: a network, for one, counts from the second node on.
    if (!depends_on(study, points.back(), key).value_or(true) &&
        !depends_on(study, points.front(), key).value_or(true)) {
      throw Error(fmt::format("{} {}: no result of model {} depends on it here, but on {}", option, key, study.name,
                              accepted_keys(study, points.back())));
    }
  }
}

}  // namespace penstock::study
