#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/fields.hpp"

namespace penstock::machine {
namespace {

/// Writes the keys of one table, then the tables below it.
class Section {
 public:
  explicit Section(std::string name) : name_(std::move(name)) {}

  // fmt writes the shortest digits that read back as the same number.
  template <class Number>
  void positive(std::string_view key, Number value) {
    keys_ += fmt::format("{} = {}\n", key, value);
  }
  template <class Number>
  void not_negative(std::string_view key, Number value) {
    positive(key, value);
  }
  template <class Number>
  void positive(std::string_view key, const std::optional<Number>& value) {
    if (value) {
      positive(key, *value);
    }
  }
  void text(std::string_view key, const std::string& value) {
    std::ostringstream quoted;
    quoted << toml::value<std::string>(value);
    keys_ += fmt::format("{} = {}\n", key, quoted.str());
  }
  void topology(std::string_view key, Topology value) {
    text(key, std::string(topology_names[static_cast<std::size_t>(value)].second));
  }
  void integers(std::string_view key, const std::vector<std::int64_t>& values) {
    if (!values.empty()) {
      keys_ += fmt::format("{} = [{}]\n", key, fmt::join(values, ", "));
    }
  }
  void lists(std::string_view key, const std::vector<std::vector<std::int64_t>>& values) {
    if (!values.empty()) {
      keys_ += fmt::format("{} = {}\n", key, values);
    }
  }
  template <class Value>
  void table(std::string_view key, Value& value) {
    append(fmt::format("[{}]", full(key)), key, value);
  }
  template <class Value>
  void table(std::string_view key, std::optional<Value>& value) {
    if (value) {
      table(key, *value);
    }
  }
  template <class Value>
  void tables(std::string_view key, std::vector<Value>& values) {
    for (Value& value : values) {
      append(fmt::format("[[{}]]", full(key)), key, value);
    }
  }

  std::string content() const { return keys_ + tables_; }

 private:
  std::string full(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  template <class Value>
  void append(const std::string& heading, std::string_view key, Value& value) {
    Section section(full(key));
    visit(section, value);
    tables_ += fmt::format("\n{}\n{}", heading, section.content());
  }

  std::string name_;
  std::string keys_;
  std::string tables_;
};

}  // namespace

std::string format(const Machine& machine) {
  Machine copy = machine;  // the visitors take what they may fill
  Section section("");
  visit(section, copy);
  return section.content();
}

void write(const Machine& machine, const std::string& path) {
  write_text(path, format(machine));
}

}  // namespace penstock::machine
