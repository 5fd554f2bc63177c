// `penstock reproduce`: the figures of the documents that Penstock comes from, ours beside theirs.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/cli/core/parse.hpp"
#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/report/json.hpp"
#include "penstock/cli/report/output.hpp"
#include "penstock/cli/report/results.hpp"
#include "penstock/cli/report/terminal.hpp"
#include "penstock/lab/reproductions/reproductions.hpp"

namespace penstock::cli {
namespace {

using lab::Reproduction;
using lab::Statement;

std::string_view name_of(lab::Basis basis) {
  return basis == lab::Basis::derived ? "derived" : basis == lab::Basis::fitted ? "fitted" : "refit";
}

std::string verdict_of(const Statement& statement) {
  if (!statement.theirs) {
    return "";
  }
  const std::string verdict = statement.reproduces() ? "yes" : alarming("NO");
  return statement.basis == lab::Basis::derived ? verdict : fmt::format("{}, {}", verdict, name_of(statement.basis));
}

void print_statements(const Reproduction& found) {
  print_output("{}: {}\n\n{:88} {:>11} {:>11} {:>8}  {}\n", found.name, found.source, "", "theirs", "ours", "differs",
               "reproduces");
  for (const Statement& statement : found.statements) {
    const std::string what =
        statement.unit.empty() ? statement.what : fmt::format("{}, {}", statement.what, statement.unit);
    const std::string theirs = statement.theirs ? fmt::format("{:.5g}", *statement.theirs) : "";
    const std::string differs = statement.theirs ? fmt::format("{:+.1f}%", 100 * *statement.difference()) : "";
    print_output("{:88} {:>11} {:>11.5g} {:>8}  {}\n", what, theirs, statement.ours, differs, verdict_of(statement));
    if (!statement.note.empty() && statement.theirs) {
      print_output("    {}\n", statement.note);
    }
  }
}

void print_curves(const lab::Curves& curves) {
  print_output("\n{}; {}\n{:>12}", curves.title, curves.y_name, curves.x_name);
  const auto width = [](const lab::Curves::Series& series) {
    return std::max<std::size_t>(series.name.size() + 2, 11);
  };
  for (const auto& series : curves.series) {
    print_output("{:>{}}", series.name, width(series));
  }
  for (std::size_t i = 0; i < curves.x.size(); ++i) {
    print_output("\n{:>12.5g}", curves.x[i]);
    for (const auto& series : curves.series) {
      print_output("{:>{}.4g}", series.y[i], width(series));
    }
  }
  print_output("\n");
}

nlohmann::ordered_json to_json(const Reproduction& found) {
  nlohmann::ordered_json json{{"name", found.name}, {"source", found.source}};
  for (const Statement& statement : found.statements) {
    nlohmann::ordered_json row{{"what", statement.what}, {"unit", statement.unit}, {"ours", statement.ours}};
    if (statement.theirs) {
      row["theirs"] = *statement.theirs;
      row["relative_difference"] = *statement.difference();
      row["tolerance"] = statement.tolerance;
      row["reproduces"] = statement.reproduces();
      row["basis"] = name_of(statement.basis);
    }
    if (!statement.note.empty()) {
      row["note"] = statement.note;
    }
    append(json, "statements", row);
  }
  json["curves"] = nlohmann::ordered_json::array();
  for (const lab::Curves& curves : found.curves) {
    nlohmann::ordered_json drawn{
        {"title", curves.title}, {"x_name", curves.x_name}, {"y_name", curves.y_name}, {"x", curves.x}};
    for (const auto& series : curves.series) {
      append(drawn, "series", {{"name", series.name}, {"y", series.y}});
    }
    json["curves"].push_back(drawn);
  }
  return json;
}

void run_reproduce(Session& session, const std::string& name) {
  std::vector<Reproduction> all;
  if (name == "all") {
    for (const std::string_view each : lab::reproduction_names()) {
      all.push_back(lab::reproduce(each));
    }
  } else {
    all.push_back(lab::reproduce(name));
  }
  Results results(session, "reproduce");
  session.has_begun_work = true;
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  std::size_t printed = 0;
  std::size_t agreeing = 0;
  std::size_t unexplained = 0;
  std::size_t fitted = 0;
  std::size_t refit = 0;
  for (const Reproduction& found : all) {
    facts.push_back(to_json(found));
    for (const Statement& statement : found.statements) {
      printed += statement.theirs.has_value();
      agreeing += statement.theirs && statement.reproduces();
      fitted += statement.theirs && statement.basis == lab::Basis::fitted;
      refit += statement.theirs && statement.basis == lab::Basis::refit;
      unexplained += !statement.reproduces() && statement.note.empty();
    }
    if (session.has_table()) {
      print_statements(found);
      std::ranges::for_each(found.curves, print_curves);
      print_output("\n");
    }
  }
  if (session.has_table()) {
    print_output(
        "{} reproduce; of the others the reason is told\n"
        "{} of these test no model: to {} a machine's figures were fitted, and {} are parameters fitted again to the "
        "curve that they draw\n",
        strong(fmt::format("{} of {} printed figures", agreeing, printed)), fitted + refit, fitted, refit);
  }
  results.write(facts);
  if (unexplained > 0) {
    throw Error(fmt::format("{} figures do not reproduce and have no reason", unexplained));
  }
}

}  // namespace

Body declare_reproduce(CLI::App& app) {
  auto name = std::make_shared<std::string>("all");
  std::string names = "all";
  for (const std::string_view each : lab::reproduction_names()) {
    names += fmt::format("|{}", each);
  }
  add_value(app, "name", names, "What to reproduce (all)", [name](const std::string& text) { *name = text; });
  return [name](Session& session) { run_reproduce(session, *name); };
}

}  // namespace penstock::cli
