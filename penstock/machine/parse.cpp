#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/fields.hpp"

namespace penstock::machine {
namespace {

/// Reads one table of the file, and remembers which keys were asked for.
class Section {
 public:
  Section(const std::string& file, std::string name, const toml::table& table)
      : file_(file), name_(std::move(name)), table_(table) {}

  template <class Number>
  void positive(std::string_view key, Number& value) {
    const toml::node& node = required(key);
    value = number<Number>(node, key);
    if (!(value > 0)) {
      refuse(node, fmt::format("{} is {}; give a number greater than 0", full(key), value));
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
    if (const toml::node* node = find(key)) {
      if (!node->is_array()) {
        refuse_type(*node, key, "a list of integers");
      }
      for (const toml::node& element : *node->as_array()) {
        const auto value = number<std::int64_t>(element, key);
        if (value <= 0) {
          refuse(element, fmt::format("{} holds {}; give numbers greater than 0", full(key), value));
        }
        values.push_back(value);
      }
    }
  }

  template <class Value>
  void table(std::string_view key, Value& value) {
    read_table(required(key), full(key), key, value);
  }

  template <class Value>
  void table(std::string_view key, std::optional<Value>& value) {
    if (const toml::node* node = find(key)) {
      read_table(*node, full(key), key, value.emplace());
    }
  }

  template <class Value>
  void tables(std::string_view key, std::vector<Value>& values) {
    if (const toml::node* node = find(key)) {
      if (!node->is_array()) {
        refuse_type(*node, key, fmt::format("a list of tables, each under [[{}]]", full(key)));
      }
      for (const toml::node& element : *node->as_array()) {
        const std::string name = fmt::format("{}[{}]", full(key), values.size());
        read_table(element, name, key, values.emplace_back());
      }
    }
  }

  /// Refuses what is in the table and was never asked for.
  void finish() const {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end()) {
        refuse(key.source(),
               fmt::format("{} is not a known key; known here are {}", full(key.str()), fmt::join(known_, ", ")));
      }
    }
  }

  [[noreturn]] void refuse(std::string_view key, const std::string& problem) const {
    const toml::node* node = table_.get(key);
    refuse(node != nullptr ? node->source() : table_.source(), problem);
  }

 private:
  [[noreturn]] void refuse(const toml::source_region& source, const std::string& problem) const {
    throw Error(fmt::format("{}:{}: {}", file_, source.begin.line, problem));
  }
  [[noreturn]] void refuse(const toml::node& node, const std::string& problem) const { refuse(node.source(), problem); }
  [[noreturn]] void refuse_type(const toml::node& node, std::string_view key, std::string_view wanted) const {
    refuse(node, fmt::format("{} is not {}", full(key), wanted));
  }

  std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  const toml::node* find(std::string_view key) {
    known_.emplace_back(key);
    return table_.get(key);
  }

  const toml::node& required(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) {
      refuse(table_.source(), fmt::format("{} is missing", full(key)));
    }
    return *node;
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

  template <class Value>
  void read_table(const toml::node& node, std::string name, std::string_view key, Value& value) {
    if (!node.is_table()) {
      refuse_type(node, key, "a table");
    }
    Section section(file_, std::move(name), *node.as_table());
    visit(section, value);
    section.finish();
    check(section, value);
  }

  // What the keys of one table say of each other.
  template <class Value>
  static void check(const Section&, const Value&) {}

  static void check(const Section& section, const Network& network) {
    const bool has_dimensions = network.topology == Topology::mesh || network.topology == Topology::torus;
    if (has_dimensions == network.dimensions.empty()) {
      section.refuse("dimensions", has_dimensions ? "network.dimensions is missing; a mesh or torus needs it"
                                                  : "network.dimensions has a meaning for a mesh or torus alone");
    }
    if (network.pieces.empty() || network.pieces.front().from_bytes != 0) {
      section.refuse("pieces", "network.pieces does not begin with a piece of from_bytes = 0");
    }
    const auto is_behind = [](const NetworkPiece& a, const NetworkPiece& b) { return a.from_bytes >= b.from_bytes; };
    if (std::adjacent_find(network.pieces.begin(), network.pieces.end(), is_behind) != network.pieces.end()) {
      section.refuse("pieces", "network.pieces is not in ascending order of from_bytes");
    }
  }

  const std::string& file_;
  std::string name_;
  const toml::table& table_;
  std::vector<std::string> known_;
};

/// The number of nodes that the dimensions span, or -1 beyond 63 bits.
std::int64_t product(const std::vector<std::int64_t>& dimensions) {
  std::int64_t nodes = 1;
  for (const std::int64_t extent : dimensions) {
    if (__builtin_mul_overflow(nodes, extent, &nodes)) {
      return -1;
    }
  }
  return nodes;
}

}  // namespace

Machine parse(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line, error.description()));
  }
  Section section(name, "", table);
  Machine machine;
  visit(section, machine);
  section.finish();
  if (machine.count > 1 && !machine.network) {
    section.refuse("count", fmt::format("count is {}, and more than one node needs a [network]", machine.count));
  }
  if (machine.network && !machine.network->dimensions.empty() &&
      product(machine.network->dimensions) != machine.count) {
    section.refuse("network", fmt::format("network.dimensions ({}) do not multiply to count ({})",
                                          fmt::join(machine.network->dimensions, " x "), machine.count));
  }
  return machine;
}

Machine read(const std::string& path) {
  return parse(read_text(path), path);
}

}  // namespace penstock::machine
