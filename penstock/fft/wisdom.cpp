#include "penstock/fft/wisdom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {
namespace {

// The text: this line, then a line for each problem, its name, tuning and seconds with tabs between, then for each
// library of local transforms its title and what it has learned.
const std::string mark = "# penstock wisdom " PENSTOCK_VERSION "\n";
constexpr std::string_view title_begin = "# of ";

std::string title_of(const LocalLibrary& library) {
  return fmt::format("{}{}\n", title_begin, library.name);
}

/// Problems are named by text of users, too: the names of machines.
std::string key_of(std::string problem) {
  std::ranges::replace_if(
      problem, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return problem;
}

/// Takes the begin of `text`, up to `end`, from it, and `end` as well; all of it where `end` is not there.
std::string_view take_until(std::string_view& text, char end) noexcept {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

/// What a line of a problem tells, or nothing where it is damaged.
std::optional<std::pair<std::string, Candidate>> read_line(std::string_view line) {
  const std::string_view problem = take_until(line, '\t');
  const std::optional<Tuning> tuning = shape::tuning_from(take_until(line, '\t'));
  Candidate best{.tuning = tuning.value_or(Tuning{})};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), best.measured_s);
  const bool is_good = tuning && error == std::errc() && end == line.data() + line.size() && best.measured_s > 0 &&
                       std::isfinite(best.measured_s);
  return is_good ? std::optional(std::pair(std::string(problem), best)) : std::nullopt;
}

}  // namespace

bool Wisdom::read(const std::string& text) {
  if (!text.starts_with(mark) || !text.ends_with('\n')) {
    return false;
  }
  const std::string_view whole(text);
  const std::size_t first_title = std::min(whole.find(fmt::format("\n{}", title_begin)), whole.size() - 1) + 1;
  std::string_view lines = whole.substr(mark.size(), first_title - mark.size());
  std::map<std::string, Candidate> read;
  while (!lines.empty()) {
    const auto known = read_line(take_until(lines, '\n'));
    if (!known) {
      return false;
    }
    read.insert(*known);
  }
  {
    const std::scoped_lock lock(mutex_);
    by_problem_.merge(read);
  }
  bool is_good = true;
  for (const LocalLibrary& library : local_libraries()) {
    const std::string title = title_of(library);
    if (const std::size_t begin = text.find(title); begin != std::string::npos) {
      const std::size_t first = begin + title.size();
      is_good &= library.import_learned(text.substr(first, text.find(title_begin, first) - first));
    }
  }
  return is_good;
}

std::string Wisdom::text() const {
  std::string text = mark;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [problem, best] : by_problem_) {
      text += fmt::format("{}\t{}\t{:.9g}\n", problem, shape::to_text(best.tuning), best.measured_s);
    }
  }
  for (const LocalLibrary& library : local_libraries()) {
    text += title_of(library) + library.export_learned();
  }
  return text;
}

std::optional<Candidate> Wisdom::find(const std::string& problem) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_problem_.find(key_of(problem));
  return found == by_problem_.end() ? std::nullopt : std::optional(found->second);
}

void Wisdom::keep(const std::string& problem, const Candidate& best) {
  const std::scoped_lock lock(mutex_);
  by_problem_.insert_or_assign(key_of(problem), best);
}

}  // namespace penstock::fft
