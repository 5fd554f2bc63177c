#include "penstock/transform/variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/numbers.hpp"
#include "penstock/transform/run.hpp"

namespace penstock::transform {
namespace {

const char* name_of(Kind kind) {
  constexpr std::array names{
      "forward", "backward", "real_to_complex", "complex_to_real", "redft00", "redft10", "redft01", "redft11",
      "rodft00", "rodft10",  "rodft01",         "rodft11",         "r2hc",    "hc2r",    "dht"};
  return names[static_cast<std::size_t>(kind)];
}

const char* name_of(Spacing spacing) {
  constexpr std::array names{"adjacent", "contiguous", "apart"};
  return names[static_cast<std::size_t>(spacing)];
}

template <class Real>
std::string problem_of(const Shape& shape, InstructionSet set) {
  return fmt::format("{} {} {} {} {} {} {}", name_of(shape.kind), shape.length, name_of(shape.source),
                     name_of(shape.destination), shape.pencils, sizeof(Real) == 8 ? "double" : "single",
                     penstock::name_of(set));
}

constexpr const char* rows_word = "rows";
constexpr const char* passes_word = "passes";

/// Memory for the pencils of one side of a shape, and where they lie in it.
class Side {
 public:
  Side(Spacing spacing, std::int64_t points, std::int64_t pencils, std::int64_t number_bytes)
      : memory_(static_cast<std::size_t>((points * pencils + pencils * spare) * number_bytes)) {
    const std::int64_t row = spacing == Spacing::adjacent ? pencils : 1;
    for (std::int64_t k = 0; k < points; ++k) {
      offsets_.push_back(k * row * number_bytes);
    }
    pencil_stride_ = number_bytes * (spacing == Spacing::adjacent     ? 1
                                     : spacing == Spacing::contiguous ? points
                                                                      : points + spare);
  }
  Pencils<std::byte> pencils() const { return {memory_.data(), offsets_.data(), pencil_stride_}; }

 private:
  static constexpr std::int64_t spare = 8;
  Memory memory_;
  std::vector<std::int64_t> offsets_;
  std::int64_t pencil_stride_ = 0;
};

}  // namespace

Variants& Variants::known() {
  static Variants variants;
  return variants;
}

std::optional<Variant> Variants::find(const std::string& problem) const {
  const std::scoped_lock lock(mutex_);
  const auto found = by_problem_.find(problem);
  return found == by_problem_.end() ? std::nullopt : std::optional(found->second);
}

void Variants::keep(const std::string& problem, const Variant& variant) {
  const std::scoped_lock lock(mutex_);
  by_problem_.insert_or_assign(problem, variant);
}

bool Variants::read(const std::string& text) {
  std::map<std::string, Variant> read;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos || colon == 0) {
      return false;
    }
    std::istringstream words(line.substr(colon + 2));
    std::string way;
    words >> way;
    Variant variant{.radices = {}, .is_by_rows = way == rows_word};
    if (!variant.is_by_rows && way != passes_word) {
      return false;
    }
    constexpr int max_radix = 1024;
    constexpr std::int64_t max_points = std::int64_t{1} << 40;
    for (std::string word; words >> word;) {
      int radix = 0;
      const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), radix);
      if (failure != std::errc() || end != word.data() + word.size() || radix < 1 || radix > max_radix) {
        return false;
      }
      variant.radices.push_back(radix);
      if (product(variant.radices) > max_points) {
        return false;
      }
    }
    read.insert_or_assign(line.substr(0, colon), variant);
  }
  const std::scoped_lock lock(mutex_);
  for (const auto& [problem, variant] : read) {
    by_problem_.insert_or_assign(problem, variant);
  }
  return true;
}

std::string Variants::text() const {
  const std::scoped_lock lock(mutex_);
  std::string text;
  for (const auto& [problem, variant] : by_problem_) {
    text += fmt::format("{}: {}{}{}\n", problem, variant.is_by_rows ? rows_word : passes_word,
                        variant.radices.empty() ? "" : " ", fmt::join(variant.radices, " "));
  }
  return text;
}

/// Times variants of a shape on pencils in cache.
template <class Real>
class Contest {
 public:
  Contest(const Shape& shape, InstructionSet set) : shape_(shape), set_(set) {}

  Variant winner() {
    constexpr std::size_t most = 8;
    enter({});
    const bool is_by_rows = !entrants_.front().transform.plan_->rows.steps.empty();
    for (const bool by_rows : {true, false}) {
      if (by_rows && !is_by_rows) {
        continue;
      }
      const Transform<Real> model(shape_, set_, Variant{.radices = {}, .is_by_rows = by_rows});
      const std::int64_t length = by_rows ? model.plan_->rows.passes_length : model.plan_->program.passes_length;
      Algorithms algorithms =
          algorithms_with(passes_of<Real>(set_), by_rows ? Vectors::along_pencil : Vectors::across_pencils);
      for (std::vector<int>& radices : algorithms.candidates(length, most)) {
        enter({.radices = std::move(radices), .is_by_rows = by_rows});
      }
    }
    return fastest();
  }

 private:
  struct Entrant {
    Variant variant;
    Transform<Real> transform;
    double time_s = std::numeric_limits<double>::infinity();
  };

  void enter(const Variant& variant) { entrants_.push_back({variant, Transform<Real>(shape_, set_, variant)}); }

  Variant fastest() {
    const Transform<Real>& any = entrants_.front().transform;
    const Side source(shape_.source, any.source_points(), shape_.pencils, any.source_number_bytes());
    const Side destination(shape_.destination, any.destination_points(), shape_.pencils,
                           any.destination_number_bytes());
    std::size_t scratch_bytes = 0;
    for (const Entrant& entrant : entrants_) {
      scratch_bytes = std::max(scratch_bytes, entrant.transform.scratch_bytes());
    }
    const Memory scratch(scratch_bytes);
    const Pencils<std::byte> from = source.pencils();
    const auto run = [&](const Entrant& entrant) {
      entrant.transform.run({from.base, from.offsets, from.pencil_stride}, destination.pencils(), shape_.pencils,
                            {scratch.data(), scratch.size()});
    };
    constexpr int rounds = 5;
    constexpr double min_s = 1e-4;
    run(entrants_.front());
    const double begin_s = seconds();
    run(entrants_.front());
    const double once_s = std::max(seconds() - begin_s, 1e-8);
    const int repetitions = static_cast<int>(std::clamp(min_s / once_s, 1.0, 1e4));
    for (int round = 0; round < rounds; ++round) {
      for (Entrant& entrant : entrants_) {
        run(entrant);
        const double round_begin_s = seconds();
        for (int i = 0; i < repetitions; ++i) {
          run(entrant);
        }
        entrant.time_s = std::min(entrant.time_s, seconds() - round_begin_s);
      }
    }
    // What the costs say stays where others gain less than clocks can tell apart.
    constexpr double min_gain = 0.02;
    const auto best = std::ranges::min_element(entrants_, {}, &Entrant::time_s);
    return best->time_s < (1 - min_gain) * entrants_.front().time_s ? best->variant : entrants_.front().variant;
  }

  Shape shape_;
  InstructionSet set_;
  std::vector<Entrant> entrants_;
};

template <class Real>
Variant fastest_variant(const Shape& shape, InstructionSet set) {
  const std::string problem = problem_of<Real>(shape, set);
  const std::optional<Variant> known = Variants::known().find(problem);
  const Algorithms algorithms = algorithms_with(passes_of<Real>(set), Vectors::across_pencils);
  if (known && std::ranges::all_of(known->radices, [&](int radix) { return algorithms.has_radix(radix); })) {
    return *known;
  }
  const Variant found = Contest<Real>(shape, set).winner();
  Variants::known().keep(problem, found);
  return found;
}

template Variant fastest_variant<float>(const Shape&, InstructionSet);
template Variant fastest_variant<double>(const Shape&, InstructionSet);

bool import_learned(const std::string& text) {
  return Variants::known().read(text);
}

std::string export_learned() {
  return Variants::known().text();
}

}  // namespace penstock::transform
