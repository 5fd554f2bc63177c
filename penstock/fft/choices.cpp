#include "penstock/fft/choices.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

// This line, then one for each problem: its name, ty, tz, grain, late eighths and seconds, with tabs between.
const std::string mark = "# penstock plans " PENSTOCK_VERSION "\n";

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; (end = text.find(at)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_line(std::string_view line, std::string& problem, Candidate& choice) {
  const auto parts = cut(line, '\t');
  if (parts.size() != 6) {
    return false;
  }
  problem = parts[0];
  return read_number(parts[1], choice.grid.ty) && read_number(parts[2], choice.grid.tz) &&
         read_number(parts[3], choice.grain) && read_number(parts[4], choice.late_eighths) &&
         read_number(parts[5], choice.measured_s) && choice.grid.ty > 0 && choice.grid.tz > 0 && choice.grain >= 0 &&
         choice.late_eighths >= 0 && choice.late_eighths < model::exchange_parts && choice.measured_s > 0 &&
         std::isfinite(choice.measured_s);
}

}  // namespace

bool Choices::read(const std::string& text) {
  if (!text.starts_with(mark) || !text.ends_with('\n')) {
    return false;
  }
  std::string_view rest(text);
  rest.remove_prefix(mark.size());
  std::map<std::string, Candidate> read;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string problem;
    Candidate choice;
    if (!read_line(rest.substr(0, end), problem, choice)) {
      return false;
    }
    read[problem] = choice;
    rest.remove_prefix(end + 1);
  }
  const std::scoped_lock lock(mutex_);
  by_problem_.merge(read);
  return true;
}

std::string Choices::text() const {
  const std::scoped_lock lock(mutex_);
  std::string text = mark;
  for (const auto& [problem, choice] : by_problem_) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{:.9g}\n", problem, choice.grid.ty, choice.grid.tz, choice.grain,
                        choice.late_eighths, choice.measured_s);
  }
  return text;
}

std::optional<Candidate> Choices::find(const std::string& problem) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_problem_.find(problem);
  return found == by_problem_.end() ? std::nullopt : std::optional(found->second);
}

void Choices::keep(const std::string& problem, const Candidate& choice) {
  std::string name = problem;
  for (char& c : name) {
    c = c == '\t' || c == '\n' ? ' ' : c;
  }
  const std::scoped_lock lock(mutex_);
  by_problem_.insert_or_assign(std::move(name), choice);
}

}  // namespace penstock::fft
