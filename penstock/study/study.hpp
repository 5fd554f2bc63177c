// Models as users ask for them: a model is evaluated for a machine and a few numbers, each of which can be set, swept
// and solved for, by options that are texts: what `penstock model` and the C interface share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/machine/machine.hpp"
#include "penstock/model/model.hpp"
#include "penstock/study/sweep.hpp"

namespace penstock::study {

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

/// A model as users meet it. `numbers` are the problem's and their defaults; all else that can be set is the
/// machine's.
struct Study {
  std::string name;
  std::map<std::string, double> numbers;
  std::function<Quantities(const Case&)> evaluate;
  std::vector<std::string> plotted;  ///< keys of the figures that a plot draws
  /// Keys of the times that add up to "time_s"; of the first of them "hidden_s" passes behind others.
  std::vector<std::string> parts = {};
  std::string default_sweep = {};  ///< where none is asked for; empty: one point
  bool has_machine = true;         ///< false for laws that know none: neither bounds nor gains, nothing to solve for
};

/// What is asked of a study.
struct StudyOptions {
  std::string machine = "default";
  std::vector<machine::Override> changes;
  std::optional<Sweep> sweep;
  std::string solve_key;
  std::optional<double> solve_time_s;
  bool has_gains = true;  ///< whether each point says what twice of each resource gains
};

/// An option of a study, whose text goes to `take`, which may throw. `help` ends with what is taken where the option is
/// not given, in parentheses.
struct Option {
  std::string name;        ///< "--nodes"
  std::string value_name;  ///< that stands for the text in the help; empty: the option is a flag and has no text
  std::string help;
  std::function<void(const std::string&)> take;
  bool is_repeated = false;            ///< may be given many times
  std::vector<std::string> keys = {};  ///< of the study's numbers that the option sets
};

/// An answer that is no list of points, as JSON and as lines for a terminal.
struct OtherAnswer {
  std::string schema;  ///< the file of schemas/ that describes the JSON, without ".json"
  std::string json;
  std::string text;
};

/// A study, and the options that fill it and what is asked of it.
struct OptionedStudy {
  std::shared_ptr<Study> study;
  std::shared_ptr<StudyOptions> asked;
  std::vector<Option> options;
  /// Nothing where the options ask for points. Throws Error as `answer` does.
  std::function<std::optional<OtherAnswer>()> other = [] { return std::nullopt; };

  void add_value(std::string name, std::string value_name, std::string help,
                 std::function<void(const std::string&)> take, std::vector<std::string> keys = {});
  void add_flag(std::string name, std::string help, std::function<void()> take);
  /// An option that sets one of the study's numbers: a whole number of at least `lowest`.
  void add_number(const std::string& name, const std::string& help, const std::string& key, std::int64_t lowest);
  /// --size, the points of a field: the study's numbers nx, ny and nz.
  void add_size();
};

/// A study with --set and --sweep and, where it has a machine, --machine, --solve and --time.
OptionedStudy with_options(Study study);

/// The models, each with its own options.
OptionedStudy fft_study();
OptionedStudy gemm_study();
OptionedStudy pingpong_study();
OptionedStudy plan_study();
OptionedStudy project_study();
OptionedStudy scaling_study();
OptionedStudy topology_study();

/// "nodes" or "cores", which are numbered first.
model::RankOrder parse_rank_order(std::string_view option, std::string_view text);

/// A point of a sweep; of no sweep, the only one.
struct Evaluated {
  Case at;
  double swept = 0;
  Quantities quantities;
  std::vector<model::Gain> gains = {};  ///< what twice of each resource makes of "time_s", the greatest first
};

/// All points that are asked for, at least one.
struct Answer {
  std::vector<Evaluated> points;
  std::optional<Sweep> sweep;
  std::string key = {};  ///< that was swept or solved for; empty: neither
};

/// Evaluates all points. Throws Error for what cannot be asked, and where no result depends on a key that is named.
Answer answer(const Study& study, const StudyOptions& options);

/// As `penstock model` writes it by --json, with a newline at the end.
std::string to_json(const Study& study, const Answer& answer);

/// The names of the models, which are the subcommands of `penstock model`.
std::vector<std::string_view> model_names();

/// The model of this name, asked by the arguments that `penstock model` takes behind the name: "--nodes", "64". Throws
/// Error where there is no such model or option.
OptionedStudy study_of(std::string_view model, std::span<const std::string> arguments);

/// The JSON that `penstock model` writes for these. Throws Error as study_of and `answer` do.
std::string json_of(std::string_view model, std::span<const std::string> arguments);

// For studies that answer more than `answer` does.

/// The machine and the numbers without a sweep.
Case make_case(const Study& study, const StudyOptions& options);
/// A number with the fewest digits that read back as the same, and none behind a point for a whole one.
std::string digits_of(double value);
/// Throws Error, with the keys that would be accepted, where no result at `points`, all evaluated, depends on a key
/// that --set, --sweep or --solve names. A number of the problem counts where the model reads it; a number of the
/// machine where other values of it change a result.
void refuse_unread(const Study& study, const StudyOptions& options, const std::vector<Evaluated>& points);

}  // namespace penstock::study
