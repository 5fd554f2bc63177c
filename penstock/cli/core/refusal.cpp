#include "penstock/cli/core/refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace penstock::cli {
namespace {

/// The letters that must be put in, left out, replaced, or exchanged with their neighbour to make one text the other
/// (optimal string alignment).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> two_before;
  std::vector<std::size_t> before;
  std::vector<std::size_t> now(other.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    two_before = std::move(before);
    before = std::move(now);
    now.assign(other.size() + 1, i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = before[j] + (one[i] == other[j] ? 0 : 1);
      now[j + 1] = std::min({replaced, before[j + 1] + 1, now[j] + 1});
      if (i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j]) {
        now[j + 1] = std::min(now[j + 1], two_before[j - 1] + 1);
      }
    }
  }
  return now.back();
}

/// Of `names` the one that `text` begins, or that differs by few letters; empty where none does.
std::string nearest(std::string_view text, const std::vector<std::string>& names) {
  std::string best;
  std::size_t edits_allowed = std::max<std::size_t>(text.size() / 3, 1);
  for (const std::string& name : names) {
    if (text.size() > 2 && name.starts_with(text)) {
      return name;
    }
    if (const std::size_t edits = edits_between(text, name); edits <= edits_allowed && edits < text.size()) {
      best = name;
      edits_allowed = edits - 1;  // never 0, as that were the name itself
    }
  }
  return best;
}

/// The first of the command, its subcommand and that one's that met an argument that it does not know; else the last.
const CLI::App& refusing(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() || !app.remaining().empty() ? app : refusing(*parsed.front());
}

/// "penstock model fft"
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

/// What the first unknown argument is not, and what was likely meant.
std::string describe_unknown(const CLI::App& app, const std::string& argument) {
  const bool is_option = argument.starts_with('-');
  const std::vector<std::string> names = is_option ? option_names(app) : subcommand_names(app);
  if (names.empty()) {
    return fmt::format("{} takes no argument '{}'", full_name(app), argument);
  }
  const std::string name = argument.substr(0, argument.find('='));
  const std::string meant = nearest(name, names);
  return fmt::format("{} has no {} '{}'{}", full_name(app), is_option ? "option" : "subcommand", name,
                     meant.empty() ? "" : fmt::format(": did you mean {}?", meant));
}

}  // namespace

std::string refusal(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = refusing(app);
  const std::vector<std::string> unknown = at.remaining();
  const std::vector<std::string> names = subcommand_names(at);
  const std::string what = !unknown.empty() ? describe_unknown(at, unknown.front())
                           : !names.empty() ? fmt::format("{} wants one of {}", full_name(at), fmt::join(names, ", "))
                                            : error.what();
  return fmt::format("{} (see {} --help)", what, full_name(at));
}

}  // namespace penstock::cli
