// Keys of a machine replaced by hand: written into the tables that its file would have, and read again.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <charconv>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/machine/toml_reader.hpp"

namespace penstock::machine {
namespace {

/// The element of a list of tables that `word` means, by its name or its number.
toml::node* find_element(toml::array& list, std::string_view word) {
  for (toml::node& element : list) {
    const toml::table* table = element.as_table();
    if (table != nullptr && (*table)["name"].value_or(std::string_view()) == word) {
      return &element;
    }
  }
  std::size_t index = 0;
  const auto [rest, code] = std::from_chars(word.data(), word.data() + word.size(), index);
  return code == std::errc() && rest == word.data() + word.size() ? list.get(index) : nullptr;
}

/// The value that `text` has in a file, under the key "value"; the text itself where it is none, or more than one.
toml::table value_of(const std::string& text) {
  try {
    toml::table file = parse_table("value = " + text, "");
    if (file.size() == 1) {
      return file;
    }
  } catch (const Error&) {  // a word without quotes
  }
  std::ostringstream quoted;
  quoted << toml::value<std::string>(text);
  toml::table file = parse_table("value = " + quoted.str(), text);
  if (file["value"].value_or(std::string_view()) != text) {
    throw Error(fmt::format("'{}' is not text in UTF-8, as values of a machine are", text));
  }
  return file;
}

/// The table that holds `key`'s last word, which `rest` becomes. Throws Error for a word before that leads nowhere.
toml::table& find_table(toml::table& file, std::string_view key, std::string_view& rest) {
  const auto refuse = [&](std::string_view word) {
    throw Error(fmt::format("{}: there is no '{}' in the machine", key, word));
  };
  toml::table* table = &file;
  rest = key;
  for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
    const std::string_view word = rest.substr(0, dot);
    rest.remove_prefix(dot + 1);
    toml::node* node = table->get(word);
    if (node != nullptr && node->is_array()) {
      const std::size_t end = rest.find('.');
      const std::string_view element = rest.substr(0, end);
      node = find_element(*node->as_array(), element);
      if (node == nullptr || end == std::string_view::npos) {
        refuse(element);
      }
      rest.remove_prefix(end + 1);
    }
    if (node == nullptr || !node->is_table()) {
      refuse(word);
    }
    table = node->as_table();
  }
  return *table;
}

}  // namespace

Machine with(const Machine& machine, std::span<const Override> overrides) {
  if (overrides.empty()) {
    return machine;
  }
  toml::table file = toml::parse(format(machine));
  std::string name = machine.name + " with";
  for (const Override& change : overrides) {
    std::string_view last;
    toml::table& table = find_table(file, change.key, last);
    table.insert_or_assign(last, *value_of(change.value).get("value"));
    name += fmt::format(" {}={}", change.key, change.value);
  }
  Machine changed;
  Reader(name, "", file).read(changed);
  return changed;
}

double number(const Machine& machine, std::string_view key) {
  toml::table file = toml::parse(format(machine));
  std::string_view last;
  const toml::node* node = find_table(file, key, last).get(last);
  if (node == nullptr || !node->is_number()) {
    throw Error(fmt::format("{}: the machine has no such number", key));
  }
  return node->value<double>().value_or(0);
}

}  // namespace penstock::machine
