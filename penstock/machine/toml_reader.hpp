// The parser's section: reads one table of a machine file and refuses, with file, line and key, what it cannot use.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/check.hpp"
#include "penstock/machine/fields.hpp"

namespace penstock::machine {

/// Any text in TOML. Throws Error, in the name of the file `name`, for what is none.
toml::table parse_table(std::string_view text, const std::string& name);

/// The names of a table's keys, as a visitor.
class KeyNames {
 public:
  template <class... Values>
  void positive(std::string_view key, Values&...) {
    names.emplace_back(key);
  }
  void not_negative(std::string_view key, const auto&) { names.emplace_back(key); }
  void text(std::string_view key, const auto&) { names.emplace_back(key); }
  void topology(std::string_view key, const auto&) { names.emplace_back(key); }
  void integers(std::string_view key, const auto&) { names.emplace_back(key); }
  void lists(std::string_view key, const auto&) { names.emplace_back(key); }
  void table(std::string_view key, const auto&) { names.emplace_back(key); }
  void tables(std::string_view key, const auto&) { names.emplace_back(key); }

  std::vector<std::string> names;
};

class Reader {
 public:
  /// `name` is that of the table, empty for the whole file.
  Reader(const std::string& file, std::string name, const toml::table& table)
      : file_(file), name_(std::move(name)), table_(table) {}

  /// Fills `value` from all keys of the table, which may have no others, and checks what they say of each other.
  template <class Value>
  void read(Value& value) {
    KeyNames known;
    visit(known, value);
    known_ = std::move(known.names);
    visit(*this, value);
    for (const auto& [key, node] : table_) {
      if (!is_known(key.str())) {
        refuse_unknown(key.str(), node.source());
      }
    }
    check(value, [&](std::string_view key, const std::string& problem) {
      const toml::node* node = table_.get(key);
      refuse(node != nullptr ? node->source() : table_.source(), fmt::format("{} {}", full(key), problem));
    });
  }

  template <class Number>
  void positive(std::string_view key, Number& value) {
    take_positive(required(key), key, value);
  }
  template <class Number>
  void positive(std::string_view key, std::optional<Number>& value) {
    if (const toml::node* node = table_.get(key)) {
      take_positive(*node, key, value.emplace());
    }
  }

  template <class Number>
  void not_negative(std::string_view key, Number& value) {
    const toml::node& node = required(key);
    value = number<Number>(node, key);
    if (!(value >= 0)) {
      refuse(node, fmt::format("{} is {}; give 0 or more", full(key), value));
    }
  }

  void text(std::string_view key, std::string& value) {
    const toml::node& node = required(key);
    if (!node.is_string()) {
      refuse_type(node, key, "a string in quotes");
    }
    value = node.as_string()->get();
  }

  void topology(std::string_view key, Topology& value) {
    std::string text_value;
    text(key, text_value);
    std::vector<std::string_view> accepted;
    for (const auto& [topology, topology_name] : topology_names) {
      if (text_value == topology_name) {
        value = topology;
        return;
      }
      accepted.push_back(topology_name);
    }
    refuse(required(key), fmt::format("{} is '{}'; give one of {}", full(key), text_value, fmt::join(accepted, ", ")));
  }

  void integers(std::string_view key, std::vector<std::int64_t>& values) {
    if (const toml::node* node = table_.get(key)) {
      values = list(*node, key, "a list of integers");
    }
  }

  void lists(std::string_view key, std::vector<std::vector<std::int64_t>>& values) {
    if (const toml::node* node = table_.get(key)) {
      if (!node->is_array()) {
        refuse_type(*node, key, "a list of lists of integers");
      }
      for (const toml::node& element : *node->as_array()) {
        values.push_back(list(element, key, "a list of lists of integers"));
      }
    }
  }

  template <class Value>
  void table(std::string_view key, Value& value) {
    read_table(required(key), full(key), key, value);
  }

  template <class Value>
  void table(std::string_view key, std::optional<Value>& value) {
    if (const toml::node* node = table_.get(key)) {
      read_table(*node, full(key), key, value.emplace());
    }
  }

  template <class Value>
  void tables(std::string_view key, std::vector<Value>& values) {
    if (const toml::node* node = table_.get(key)) {
      if (!node->is_array()) {
        refuse_type(*node, key, fmt::format("a list of tables, each under [[{}]]", full(key)));
      }
      for (const toml::node& element : *node->as_array()) {
        const std::string name = fmt::format("{}[{}]", full(key), values.size());
        read_table(element, name, key, values.emplace_back());
      }
    }
  }

 private:
  [[noreturn]] void refuse(const toml::source_region& source, const std::string& problem) const {
    // Values that were overridden, and the tables that those made, come from no line.
    const std::string line = source.begin.line > 0 ? fmt::format(":{}", source.begin.line) : "";
    throw Error(fmt::format("{}{}: {}", file_, line, problem));
  }
  [[noreturn]] void refuse(const toml::node& node, const std::string& problem) const { refuse(node.source(), problem); }
  [[noreturn]] void refuse_type(const toml::node& node, std::string_view key, std::string_view wanted) const {
    refuse(node, fmt::format("{} is not {}", full(key), wanted));
  }

  [[noreturn]] void refuse_unknown(std::string_view key, const toml::source_region& source) const {
    for (const std::string& known : known_) {
      if (has_stem_of(key, known)) {
        refuse(source,
               fmt::format("{} is not a known key; the unit is part of a key: give {}", full(key), full(known)));
      }
    }
    refuse(source, fmt::format("{} is not a known key; known here are {}", full(key), fmt::join(known_, ", ")));
  }

  /// Whether `key` is `known` but for the unit at its end, as link_bandwidth_gb_per_s is link_bandwidth_bytes_per_s.
  static bool has_stem_of(std::string_view key, std::string_view known) {
    for (const std::string_view unit : {"_bytes_per_s", "_flops_per_core", "_flops", "_bytes", "_s"}) {
      if (known.ends_with(unit)) {
        const std::string_view stem = known.substr(0, known.size() - unit.size());
        return key == stem || (key.starts_with(stem) && key[stem.size()] == '_');
      }
    }
    return false;
  }

  std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  bool is_known(std::string_view key) const { return std::find(known_.begin(), known_.end(), key) != known_.end(); }

  const toml::node& required(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      for (const auto& [other, other_node] : table_) {
        if (!is_known(other.str()) && has_stem_of(other.str(), key)) {
          refuse_unknown(other.str(), other_node.source());
        }
      }
      refuse(table_.source(), fmt::format("{} is missing", full(key)));
    }
    return *node;
  }

  template <class Number>
  void take_positive(const toml::node& node, std::string_view key, Number& value) const {
    value = number<Number>(node, key);
    if (!(value > 0)) {
      refuse(node, fmt::format("{} is {}; give a number greater than 0", full(key), value));
    }
  }

  template <class Number>
  Number number(const toml::node& node, std::string_view key) const {
    if constexpr (std::is_integral_v<Number>) {
      if (!node.is_integer()) {
        refuse_type(node, key, "an integer");
      }
      return node.as_integer()->get();
    } else {
      const auto value = node.is_number() ? node.value<double>() : std::nullopt;
      if (!value || !std::isfinite(*value)) {
        refuse_type(node, key, "a finite number");
      }
      return *value;
    }
  }

  std::vector<std::int64_t> list(const toml::node& node, std::string_view key, std::string_view wanted) const {
    if (!node.is_array()) {
      refuse_type(node, key, wanted);
    }
    std::vector<std::int64_t> values;
    for (const toml::node& element : *node.as_array()) {
      const auto value = number<std::int64_t>(element, key);
      if (value <= 0) {
        refuse(element, fmt::format("{} holds {}; give numbers greater than 0", full(key), value));
      }
      values.push_back(value);
    }
    return values;
  }

  template <class Value>
  void read_table(const toml::node& node, std::string name, std::string_view key, Value& value) const {
    if (!node.is_table()) {
      refuse_type(node, key, "a table");
    }
    Reader(file_, std::move(name), *node.as_table()).read(value);
  }

  const std::string& file_;
  std::string name_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

}  // namespace penstock::machine
