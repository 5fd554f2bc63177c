// The points of a study as JSON, and models asked by their names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/study/study.hpp"

namespace penstock::study {
namespace {

struct Model {
  std::string_view name;
  OptionedStudy (*study)();
};

constexpr std::array models{Model{"fft", fft_study},           Model{"gemm", gemm_study},
                            Model{"pingpong", pingpong_study}, Model{"plan", plan_study},
                            Model{"project", project_study},   Model{"scaling", scaling_study},
                            Model{"topology", topology_study}};

/// Hands each argument to its option.
void take(const OptionedStudy& optioned, std::span<const std::string> arguments) {
  std::set<std::string> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto option = std::ranges::find(optioned.options, arguments[i], &Option::name);
    if (option == optioned.options.end()) {
      throw Error(fmt::format("model {} has no option {}", optioned.study->name, arguments[i]));
    }
    if (!given.insert(option->name).second && !option->is_repeated) {
      throw Error(fmt::format("model {}: {} is given twice", optioned.study->name, option->name));
    }
    const bool is_flag = option->value_name.empty();
    if (!is_flag && i + 1 == arguments.size()) {
      throw Error(fmt::format("model {}: {} needs {}", optioned.study->name, option->name, option->value_name));
    }
    option->take(is_flag ? "" : arguments[++i]);
  }
}

/// Resources are named in JSON as keys are.
std::string key_of(model::Resource resource) {
  std::string key(model::name_of(resource));
  std::ranges::replace(key, ' ', '_');
  return key;
}

}  // namespace

std::string to_json(const Study& study, const Answer& answer) {
  auto json = nlohmann::ordered_json::object();
  json["schema"] = "model-" + study.name;
  json["model"] = study.name;
  if (study.has_machine) {
    json["machine"] = answer.points.front().at.machine.name;
  }
  json["points"] = nlohmann::ordered_json::array();
  for (const Evaluated& each : answer.points) {
    auto point = nlohmann::ordered_json::object();
    if (!answer.key.empty()) {
      point[answer.key] = each.swept;
    }
    for (const Quantity& quantity : each.quantities) {
      if (quantity.unit == Unit::text) {
        point[quantity.key] = quantity.text;
      } else {
        point[quantity.key] = quantity.value ? nlohmann::ordered_json(*quantity.value) : nlohmann::ordered_json();
      }
    }
    if (!each.gains.empty()) {
      point["bound_by"] = key_of(each.gains.front().resource);
      auto gains = nlohmann::ordered_json::object();
      for (const model::Gain& gain : each.gains) {
        gains[key_of(gain.resource)] = gain.factor;
      }
      point["gain_of_twice"] = std::move(gains);
    }
    json["points"].push_back(point);
  }
  return json.dump(2) + "\n";
}

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names(models.size());
  std::ranges::transform(models, names.begin(), &Model::name);
  return names;
}

OptionedStudy study_of(std::string_view model, std::span<const std::string> arguments) {
  const auto found = std::ranges::find(models, model, &Model::name);
  if (found == models.end()) {
    throw Error(fmt::format("'{}' is no model: give one of {}", model, fmt::join(model_names(), ", ")));
  }
  OptionedStudy optioned = found->study();
  take(optioned, arguments);
  return optioned;
}

std::string json_of(std::string_view model, std::span<const std::string> arguments) {
  const OptionedStudy optioned = study_of(model, arguments);
  if (const std::optional<OtherAnswer> other = optioned.other()) {
    return other->json;
  }
  return to_json(*optioned.study, answer(*optioned.study, *optioned.asked));
}

}  // namespace penstock::study
