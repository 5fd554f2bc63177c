#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/machine/fields.hpp"

namespace penstock::machine {
namespace {

/// Writes the keys of one table, then the tables below it.
class Section {
 public:
  /// `name` is that of the heading, `path` the key that comments know it by, its elements numbered.
  Section(std::string name, std::string path, std::map<std::string, std::string>& comments)
      : name_(std::move(name)), path_(std::move(path)), comments_(comments) {}

  // fmt writes the shortest digits that read back as the same number.
  template <class Number>
  void positive(std::string_view key, Number value) {
    line(key, fmt::format("{}", value));
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
    line(key, quoted.str());
  }
  void topology(std::string_view key, Topology value) { text(key, std::string(name_of(value))); }
  void integers(std::string_view key, const std::vector<std::int64_t>& values) {
    if (!values.empty()) {
      line(key, fmt::format("[{}]", fmt::join(values, ", ")));
    }
  }
  void lists(std::string_view key, const std::vector<std::vector<std::int64_t>>& values) {
    if (!values.empty()) {
      line(key, fmt::format("{}", values));
    }
  }
  template <class Value>
  void table(std::string_view key, Value& value) {
    append(fmt::format("[{}]", below(name_, key)), key, below(path_, key), value);
  }
  template <class Value>
  void table(std::string_view key, std::optional<Value>& value) {
    if (value) {
      table(key, *value);
    }
  }
  template <class Value>
  void tables(std::string_view key, std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      append(fmt::format("[[{}]]", below(name_, key)), key, fmt::format("{}.{}", below(path_, key), i), values[i]);
    }
  }

  std::string content() const { return keys_ + tables_; }

 private:
  static std::string below(const std::string& name, std::string_view key) {
    return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
  }

  /// Takes the comment out of those that are left.
  void line(std::string_view key, const std::string& value) {
    const auto comment = comments_.extract(below(path_, key));
    keys_ += fmt::format("{} = {}{}\n", key, value, comment ? "  # " + comment.mapped() : "");
  }

  template <class Value>
  void append(const std::string& heading, std::string_view key, std::string path, Value& value) {
    Section section(below(name_, key), std::move(path), comments_);
    visit(section, value);
    tables_ += fmt::format("\n{}\n{}", heading, section.content());
  }

  std::string name_;
  std::string path_;
  std::map<std::string, std::string>& comments_;
  std::string keys_;
  std::string tables_;
};

}  // namespace

std::string_view name_of(Topology topology) noexcept {
  return topology_names[static_cast<std::size_t>(topology)].second;
}

std::string format(const Machine& machine, const Comments& comments) {
  Machine copy = machine;  // the visitors take what they may fill
  std::map<std::string, std::string> left = comments.of_key;
  Section section("", "", left);
  visit(section, copy);
  if (!left.empty()) {
    throw Error(fmt::format("a comment on {}, which the machine has not", left.begin()->first));
  }
  std::string heading;
  std::istringstream lines(comments.heading);
  for (std::string text; std::getline(lines, text);) {
    heading += fmt::format("#{}{}\n", text.empty() ? "" : " ", text);
  }
  return heading + section.content();
}

void write(const Machine& machine, const std::string& path) {
  write_text(path, format(machine));
}

}  // namespace penstock::machine
