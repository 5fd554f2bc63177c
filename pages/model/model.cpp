// The models for a page: what a browser calls, compiled to WebAssembly. The numbers are those of `penstock model`, as
// the code is.
#include <emscripten.h>
#include <toml++/toml.h>

#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/study/study.hpp"

namespace penstock::machine {

// The measuring of a machine is left out of a page.
Machine detect() {
  throw Error("a page cannot measure the machine that it runs on");
}
std::vector<CacheLevel> detect_caches() {
  return {};
}

}  // namespace penstock::machine

namespace penstock::pages {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(study::Unit unit) {
  switch (unit) {
    case study::Unit::number:
      return "";
    case study::Unit::seconds:
      return "s";
    case study::Unit::bytes:
      return "B";
    case study::Unit::bytes_per_s:
      return "B/s";
    case study::Unit::flops_per_s:
      return "Flop/s";
    case study::Unit::text:
      return "text";
  }
  return "";
}

/// The numbers of a machine by the dotted keys that --set and --sweep take.
void add_numbers(Json& numbers, const toml::node& node, const std::string& key) {
  if (const toml::table* const table = node.as_table()) {
    for (const auto& [name, part] : *table) {
      add_numbers(numbers, part, key.empty() ? std::string(name.str()) : key + "." + std::string(name.str()));
    }
  } else if (const toml::array* const list = node.as_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      add_numbers(numbers, *list->get(i), key + "." + std::to_string(i));
    }
  } else if (const auto value = node.value<double>(); value && !node.is_boolean()) {
    numbers[key] = *value;
  }
}

Json describe(const machine::Machine& machine) {
  Json numbers = Json::object();
  add_numbers(numbers, toml::parse(machine::format(machine)), "");
  Json transports = Json::array();
  for (const machine::Transport& transport : machine.transports) {
    transports.push_back(transport.name);
  }
  return {{"name", machine.name}, {"numbers", std::move(numbers)}, {"transports", std::move(transports)}};
}

Json describe_all() {
  Json models = Json::array();
  for (const std::string_view name : study::model_names()) {
    const study::OptionedStudy optioned = study::study_of(name, {});
    Json options = Json::array();
    for (const study::Option& option : optioned.options) {
      options.push_back(
          {{"name", option.name}, {"value", option.value_name}, {"help", option.help}, {"keys", option.keys}});
    }
    models.push_back({{"name", name},
                      {"options", std::move(options)},
                      {"numbers", optioned.study->numbers},
                      {"plotted", optioned.study->plotted},
                      {"default_sweep", optioned.study->default_sweep},
                      {"has_machine", optioned.study->has_machine}});
  }
  Json machines = Json::object();
  for (const std::string& name : machine::described_names()) {
    machines[name] = describe(machine::find(name));
  }
  return {{"models", std::move(models)}, {"machines", std::move(machines)}};
}

/// What `penstock model` writes, what its keys mean, and which of the model's numbers it depends on. Without gains it
/// comes sooner, and says nothing of twice of each resource.
Json answer(const std::string& model, const std::vector<std::string>& arguments, bool has_gains) {
  const study::OptionedStudy optioned = study::study_of(model, arguments);
  if (const auto other = optioned.other()) {
    return {{"json", other->json}};
  }
  optioned.asked->has_gains = has_gains;
  const study::Answer answer = study::answer(*optioned.study, *optioned.asked);
  Json keys = Json::object();
  for (const study::Evaluated& each : answer.points) {
    for (const study::Quantity& quantity : each.quantities) {
      keys[quantity.key] = {{"name", quantity.name}, {"unit", name_of(quantity.unit)}};
    }
  }
  return {{"json", study::to_json(*optioned.study, answer)},
          {"keys", std::move(keys)},
          {"reads", answer.points.back().at.reads->numbers},
          {"swept", answer.key},
          {"is_geometric", answer.sweep && answer.sweep->is_geometric}};
}

/// Runs `work` and keeps its result, or the sentence of its failure, until the next call.
template <class Work>
const char* keep(Work work) {
  static std::string kept;
  try {
    kept = work().dump();
  } catch (const std::exception& error) {
    kept = Json{{"error", error.what()}}.dump();
  }
  return kept.c_str();
}

}  // namespace
}  // namespace penstock::pages

extern "C" {

/// All models with their options, and all described machines.
EMSCRIPTEN_KEEPALIVE const char* penstock_describe_all() {
  return penstock::pages::keep([] { return penstock::pages::describe_all(); });
}

/// The machine of a machine file's text.
EMSCRIPTEN_KEEPALIVE const char* penstock_describe_machine(const char* text, const char* name) {
  return penstock::pages::keep([&] { return penstock::pages::describe(penstock::machine::parse(text, name)); });
}

/// Keeps the text of a machine file for `--machine NAME.toml`.
EMSCRIPTEN_KEEPALIVE void penstock_keep_machine(const char* file, const char* text) {
  std::ofstream(file) << text;
}

/// The answer of a model to its arguments, a list in JSON; without the gains of twice of each resource where
/// `has_gains` is 0.
EMSCRIPTEN_KEEPALIVE const char* penstock_ask(const char* model, const char* arguments, int has_gains) {
  return penstock::pages::keep([&] {
    const auto texts = nlohmann::json::parse(arguments).get<std::vector<std::string>>();
    return penstock::pages::answer(model, texts, has_gains != 0);
  });
}

}  // extern "C"
