// What the subcommands of `penstock model` share: a model evaluated for a machine and a few numbers, each of which can
// be set, swept and solved for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "penstock/cli/core/subcommand.hpp"
#include "penstock/cli/model/sweep.hpp"
#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"

namespace penstock::cli {

enum class Unit { number, seconds, bytes, bytes_per_s, flops_per_s, text };

/// A result of a model at one point; without a value where there is none, as the rate of what takes no time.
struct Quantity {
  std::string key;  ///< in JSON, with its unit
  std::string name;
  Unit unit = Unit::number;
  std::optional<double> value = 0;
  std::string text = {};    ///< for Unit::text
  bool is_in_table = true;  ///< a column of a swept table, not only of a single point's list
  bool operator==(const Quantity&) const = default;
};

/// No rate where there is no time.
inline std::optional<double> rate_of(double amount, double time_s) {
  return time_s > 0 ? std::optional(amount / time_s) : std::nullopt;
}

/// All results at one point.
using Quantities = std::vector<Quantity>;

/// The numbers that a model has read, and of them those that must be whole.
struct Reads {
  std::set<std::string> numbers;
  std::set<std::string> whole;
};

/// What a model is evaluated for. Copies share what has been read.
struct Case {
  machine::Machine machine;
  std::map<std::string, double> numbers;
  std::shared_ptr<Reads> reads = std::make_shared<Reads>();

  double number(const std::string& key) const;
  /// Throws Error where it is not whole.
  std::int64_t integer(const std::string& key) const;
};

/// A model as a subcommand offers it. `numbers` are the problem's and their defaults; all else that can be set is the
/// machine's.
struct Study {
  std::string name;
  std::map<std::string, double> numbers;
  std::function<Quantities(const Case&)> evaluate;
  std::vector<std::string> plotted;  ///< keys of the figures that a plot draws
  std::string default_sweep = {};    ///< where none is asked for; empty: one point
  bool has_machine = true;           ///< false for laws that know none: neither bounds nor gains, nothing to solve for
};

/// What is asked of a study.
struct StudyOptions {
  std::string machine = "default";
  std::vector<machine::Override> changes;
  std::optional<Sweep> sweep;
  std::string solve_key;
  std::optional<double> solve_time_s;
  std::string plot_path;
};

/// Declares --set, --sweep, --plot, and for a study that has a machine --machine, --solve and --time.
std::shared_ptr<StudyOptions> declare_study(CLI::App& app, bool has_machine);

/// Declares an option that sets one of the study's numbers: a whole number of at least `lowest`.
void add_number(CLI::App& app, const std::string& option, const std::string& help, const std::shared_ptr<Study>& study,
                const std::string& key, std::int64_t lowest);

/// "nodes" or "cores", which are numbered first.
model::RankOrder parse_rank_order(std::string_view option, std::string_view text);

/// Collective: evaluates all points, prints them as a table, writes the JSON and draws the plot that are asked for.
void run_study(Session& session, const Study& study, const StudyOptions& options);

// The steps of run_study.

/// A point of a sweep; of no sweep, the only one.
struct Evaluated {
  Case at;
  double swept = 0;
  Quantities quantities;
  std::vector<model::Gain> gains = {};  ///< what twice of each resource makes of "time_s", the greatest first
};

Case make_case(const Study& study, const StudyOptions& options);
/// `base` with `key`, a number of the problem or a key of the machine, at `value`.
Evaluated evaluate_with(const Study& study, const Case& base, const std::string& key, double value);
/// A number with the fewest digits that read back as the same, and none behind a point for a whole one.
std::string digits_of(double value);
/// Throws Error, with the keys that would be accepted, where no result at `points`, all evaluated, depends on a key
/// that
/// --set, --sweep or --solve names. A number of the problem counts where the model reads it; a number of the machine
/// where other values of it change a result.
void refuse_unread(const Study& study, const StudyOptions& options, const std::vector<Evaluated>& points);
std::vector<Evaluated> evaluate(const Study& study, const StudyOptions& options, const std::optional<Sweep>& sweep);
/// The value of options.solve_key at which "time_s" is the time asked for; of whole numbers the nearest one with which
/// it takes no more, of nodes the fewest that the machine has. Throws Error, with the time that comes nearest, where
/// there is none.
Evaluated solve(const Study& study, const StudyOptions& options);
void print_points(const std::vector<Evaluated>& points, const std::string& swept_key);
std::string points_to_json(const Study& study, const std::vector<Evaluated>& points, const std::string& swept_key);
void draw_points(const Study& study, const std::vector<Evaluated>& points, const Sweep& sweep, const std::string& path);

}  // namespace penstock::cli
