// Appends transforms to a program: passes between rows, and the algorithms that are made of them. Private to the
// module.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <iterator>
#include <map>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/transform/numbers.hpp"
#include "penstock/transform/program.hpp"

namespace penstock::transform {

template <class Real>
class Maker {
 public:
  Maker(const PassTable<Real>& table, std::int64_t row_bytes, const std::vector<int>& preferred)
      : table_(table), row_bytes_(row_bytes), algorithms_(algorithms_with(table, Vectors::across_pencils, preferred)) {}

 protected:
  struct Rows {
    RowList::Owner owner;
    std::vector<std::int32_t> numbers;

    std::int32_t operator[](std::int64_t i) const { return numbers[static_cast<std::size_t>(i)]; }
  };

  static Rows all(RowList::Owner owner, std::int64_t begin, std::int64_t count) {
    Rows rows{owner, std::vector<std::int32_t>(static_cast<std::size_t>(count))};
    std::iota(rows.numbers.begin(), rows.numbers.end(), static_cast<std::int32_t>(begin));
    return rows;
  }
  /// All points of the caller in their order, which need no list.
  bool is_all_of_caller(const Rows& rows) const {
    return rows.owner != RowList::Owner::program && std::ssize(rows.numbers) == program_.length &&
           std::ranges::equal(rows.numbers, std::views::iota(0, static_cast<std::int32_t>(program_.length)));
  }
  static Rows own(std::int64_t begin, std::int64_t count) { return all(RowList::Owner::program, begin, count); }

  std::string describe(std::int64_t n) {
    const Algorithm of = algorithms_.cheapest(n);
    switch (of.kind) {
      case Algorithm::Kind::split:
        return fmt::format("({}) x ({})", describe(of.part), describe(n / of.part));
      case Algorithm::Kind::rader:
        return fmt::format("{} by Rader: {}", n, describe(n - 1));
      case Algorithm::Kind::bluestein:
        return fmt::format("{} by Bluestein: {}", n, describe(of.part));
      default:
        return fmt::format("{}", fmt::join(radices(n), " x "));
    }
  }

  const RadixPasses<Real>& passes_of(std::int64_t radix) const {
    const auto* const found = std::ranges::find(table_.radices, radix, &RadixPasses<Real>::radix);
    PENSTOCK_ASSERT(found != std::end(table_.radices));  // radices() takes them from there
    return *found;
  }

  std::vector<int> radices(std::int64_t n) {
    std::vector<int> found = algorithms_.factors(n);
    while (found.size() < 2) {
      found.push_back(1);  // a first pass and a last one
    }
    return found;
  }

  std::size_t add(const Rows& rows) {
    program_.lists.push_back({.owner = rows.owner, .begin = program_.rows.size(), .count = rows.numbers.size()});
    program_.rows.insert(program_.rows.end(), rows.numbers.begin(), rows.numbers.end());
    return program_.lists.size() - 1;
  }

  std::size_t add_roots(const Points& roots) {
    const std::size_t begin = program_.roots.size();
    for (const std::complex<long double>& value : roots) {
      program_.roots.push_back(static_cast<Real>(value.real()));
      program_.roots.push_back(static_cast<Real>(value.imag()));
    }
    return begin;
  }

  std::int64_t take_rows(std::int64_t count) {
    own_rows_ += count;
    max_own_rows_ = std::max(max_own_rows_, own_rows_);
    return own_rows_ - count;
  }

  /// Appends transforms of n points, one after the other, of rows `from` to rows `to`. `factors`, none or one of each
  /// row, are on what they give.
  void emit(std::int64_t n, const Rows& from, const Rows& to, const Points& factors) {
    const Algorithm::Kind kind = algorithms_.cheapest(n).kind;
    // As many at once as stay in a part of a second-level cache, each pass over all of them.
    constexpr std::int64_t cache_bytes = 64 << 10;
    const std::int64_t fit = kind == Algorithm::Kind::bluestein ? 1 : cache_bytes / (n * row_bytes_);
    const std::int64_t at_once = std::max<std::int64_t>(fit, 1) * n;
    for (std::int64_t begin = 0, left = std::ssize(from.numbers); left > 0; begin += at_once, left -= at_once) {
      const std::int64_t count = std::min(at_once, left);
      emit(kind, n, part_of(from, begin, count), part_of(to, begin, count),
           factors.empty() ? Points() : Points(factors.begin() + begin, factors.begin() + begin + count));
    }
  }

  void emit(Algorithm::Kind kind, std::int64_t n, const Rows& from, const Rows& to, const Points& factors) {
    switch (kind) {
      case Algorithm::Kind::passes:
        emit_passes(n, from, to, factors);
        break;
      case Algorithm::Kind::split:
        emit_split(n, algorithms_.cheapest(n).part, from, to, factors);
        break;
      case Algorithm::Kind::rader:
        emit_rader(n, from, to, factors);
        break;
      case Algorithm::Kind::bluestein:
        emit_bluestein(n, algorithms_.cheapest(n).part, from, to, factors);
        break;
    }
  }

  /// `source_factors` are on the rows `from`, none or one of each.
  void emit_passes(std::int64_t n, const Rows& from, const Rows& to, const Points& factors,
                   const Points& source_factors = {}) {
    program_.passes_length = std::max(program_.passes_length, n);
    const std::vector<int> pass_radices = radices(n);
    const std::int64_t count = std::ssize(from.numbers) / n;
    std::vector<Step<Real>> steps = steps_of(pass_radices, count);
    const auto first = [&](const auto& values) { return by_legs(values, count, pass_radices.front()); };
    const auto last = [&](const auto& values) { return by_legs(values, count, pass_radices.back()); };
    steps.front().from = is_all_of_caller(from) ? Step<Real>::none : add({from.owner, first(from.numbers)});
    steps.back().to = is_all_of_caller(to) ? Step<Real>::none : add({to.owner, last(to.numbers)});
    if (!source_factors.empty()) {
      steps.front().factors = add_roots(first(source_factors));
    }
    if (!factors.empty()) {
      steps.back().factors = add_roots(last(factors));
    }
    program_.steps.insert(program_.steps.end(), steps.begin(), steps.end());
  }

  /// Values of the rows of `count` transforms, in the order of the legs of all their butterflies.
  template <class Value>
  static std::vector<Value> by_legs(const std::vector<Value>& values, std::int64_t count, std::int64_t radix) {
    const std::int64_t n = std::ssize(values) / count;
    const std::int64_t butterflies = n / radix;
    std::vector<Value> ordered;
    for (std::int64_t q = 0; q < radix; ++q) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto leg = values.begin() + i * n + q * butterflies;
        ordered.insert(ordered.end(), leg, leg + butterflies);
      }
    }
    return ordered;
  }

  // n = part * rest: point j + rest q, output k + part l.
  void emit_split(std::int64_t n, std::int64_t part, const Rows& from, const Rows& to, const Points& factors) {
    const std::int64_t rest = n / part;
    const std::int64_t count = std::ssize(from.numbers);
    const std::int64_t begin = take_rows(count);
    Rows in{from.owner, {}};
    Rows between{RowList::Owner::program, {}};
    Points turns;
    Rows out{to.owner, {}};
    Points of_out;
    for (std::int64_t i = 0; i < count; i += n) {
      for (std::int64_t j = 0; j < rest; ++j) {
        for (std::int64_t k = 0; k < part; ++k) {
          in.numbers.push_back(from[i + j + rest * k]);
          between.numbers.push_back(static_cast<std::int32_t>(begin + i + k * rest + j));
          turns.push_back(root(j * k % n, n));
        }
      }
      for (std::int64_t k = 0; k < part; ++k) {
        for (std::int64_t l = 0; l < rest; ++l) {
          out.numbers.push_back(to[i + k + part * l]);
          if (!factors.empty()) {
            of_out.push_back(factors[static_cast<std::size_t>(i + k + part * l)]);
          }
        }
      }
    }
    emit(part, in, between, turns);
    emit(rest, own(begin, count), out, of_out);
    own_rows_ -= count;
  }

  // Rader 1968: with a generator g, point g^r is a_r and output g^-q less point 0 is the circular convolution of a with
  // b_s = exp(-2 pi i g^-s / p). The backward transform is the forward one, its outputs read the other way round.
  void emit_rader(std::int64_t p, const Rows& from, const Rows& to, const Points& factors) {
    const std::int64_t n = p - 1;
    const std::int64_t g = primitive_root(p);
    const std::int64_t count = std::ssize(from.numbers) / p;
    Points b(static_cast<std::size_t>(n));
    std::vector<std::int64_t> elements;  // of the group: g^0, g^1, ...
    std::int64_t element = 1;
    for (std::int64_t r = 0; r < n; ++r) {
      elements.push_back(element);
      b[static_cast<std::size_t>((n - r) % n)] = root(element, p);
      element = element * g % p;
    }
    b = transformed(b);
    for (std::complex<long double>& value : b) {
      value /= static_cast<long double>(n);
    }
    b[0] = 1;  // below

    Rows in{from.owner, {}};
    Rows out{to.owner, {}};
    Rows first_in{from.owner, {}};
    Rows first_out{to.owner, {}};
    Points of_spectra;
    Points of_out;
    Points of_first;
    for (std::int64_t i = 0; i < std::ssize(from.numbers); i += p) {
      first_in.numbers.push_back(from[i]);
      first_out.numbers.push_back(to[i]);
      for (const std::int64_t e : elements) {
        in.numbers.push_back(from[i + e]);
        out.numbers.push_back(to[i + e]);
      }
      of_spectra.insert(of_spectra.end(), b.begin(), b.end());
      if (!factors.empty()) {
        const auto these = factors.begin() + i;
        of_first.push_back(these[0]);
        std::ranges::transform(elements, std::back_inserter(of_out), [&](std::int64_t e) { return these[e]; });
      }
    }
    const std::int64_t begin = take_rows(count * n);
    const Rows rows = own(begin, count * n);
    emit(n, in, rows, of_spectra);
    // Row 0 of a spectrum holds the sum of all points but the first. It becomes what adds the first to every output.
    Step<Real> first{.kind = Step<Real>::Kind::rader,
                     .from = add(first_in),
                     .to = add(first_out),
                     .inner_count = count,
                     .leg_rows = n,
                     .sum_row = begin,
                     .sum_factor = static_cast<Real>(-1.0L / static_cast<long double>(n))};
    if (!factors.empty()) {
      first.factors = add_roots(of_first);
    }
    program_.steps.push_back(first);
    emit(n, rows, out, of_out);
    own_rows_ -= count * n;
  }

  // Bluestein 1970: j k = (j^2 + k^2 - (k - j)^2) / 2, a convolution with chirps c_j = exp(-pi i j^2 / n).
  void emit_bluestein(std::int64_t n, std::int64_t m, const Rows& from, const Rows& to, const Points& factors) {
    Points chirp;
    Points b(static_cast<std::size_t>(m));
    for (std::int64_t j = 0; j < n; ++j) {
      chirp.push_back(root(j * j % (2 * n), 2 * n));
      b[static_cast<std::size_t>(j)] = b[static_cast<std::size_t>((m - j) % m)] = std::conj(chirp.back());
    }
    b = transformed(b);
    for (std::complex<long double>& value : b) {
      value /= static_cast<long double>(m);
    }
    program_.has_zero_row = true;
    Rows in = from;
    in.numbers.resize(static_cast<std::size_t>(m), RowList::zero);
    Points of_in = chirp;
    of_in.resize(static_cast<std::size_t>(m));
    Rows out{to.owner, std::vector<std::int32_t>(static_cast<std::size_t>(m), RowList::nowhere)};
    Points of_out(static_cast<std::size_t>(m), 1);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto point = static_cast<std::size_t>((m - k) % m);  // of the backward transform
      out.numbers[point] = to[k];
      of_out[point] = factors.empty() ? chirp[static_cast<std::size_t>(k)]
                                      : chirp[static_cast<std::size_t>(k)] * factors[static_cast<std::size_t>(k)];
    }
    const Rows spectrum = own(take_rows(m), m);
    emit_passes(m, in, spectrum, b, of_in);
    emit_passes(m, spectrum, out, of_out);
    own_rows_ -= m;
  }

  static Rows part_of(const Rows& rows, std::int64_t begin, std::int64_t count) {
    const auto first = rows.numbers.begin() + begin;
    return {rows.owner, {first, first + count}};
  }

  /// The passes of `transforms` transforms of these radices, without their rows; remembered, as are the lists that they
  /// use.
  const std::vector<Step<Real>>& steps_of(const std::vector<int>& radices, std::int64_t transforms) {
    std::vector<Step<Real>>& steps = known_steps_[{radices, transforms}];
    if (!steps.empty()) {
      return steps;
    }
    const std::size_t count = radices.size();
    // Digit i of a point, of the radix of pass i, the first one slowest, lies strides[i] rows from digit to digit.
    // Where that is whole pages, rows would share a set of the cache: a row more keeps them apart.
    std::vector<std::int64_t> strides(count);
    const auto apart = [&](std::int64_t rows) {
      constexpr std::int64_t page_bytes = 4096;
      return rows > 1 && rows * row_bytes_ % page_bytes == 0 ? rows + 1 : rows;
    };
    std::int64_t rows = 1;
    for (std::size_t i = count; i-- > 0;) {
      strides[i] = apart(rows);
      rows = strides[i] * radices[i];
    }
    const std::int64_t transform_rows = transforms > 1 ? apart(rows) : rows;
    program_.work_rows = std::max(program_.work_rows, transforms * transform_rows);

    std::int64_t length = 1;
    for (const int radix : radices) {
      length *= radix;
    }
    std::int64_t block = length;  // points of a sub-transform before pass i
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t radix = radices[i];
      using StepKind = typename Step<Real>::Kind;
      const bool is_first = i == 0;
      const bool is_last = i + 1 == count;
      Step<Real> step{.passes = &passes_of(radix),
                      .kind = is_first  ? StepKind::first
                              : is_last ? StepKind::last
                                        : StepKind::middle};
      step.leg_rows = strides[i];
      // A first pass has the butterflies of all transforms as those of one block.
      const std::int64_t blocks = length / block;
      const std::int64_t inner = block / radix;
      step.block_count = is_first ? 1 : transforms * blocks;
      step.inner_count = is_first ? transforms * inner : inner;
      step.is_of_one = transforms == 1;
      step.blocks = program_.places.size();
      for (std::int64_t b = 0; b < step.block_count; ++b) {
        // The last pass goes through its blocks in the order of outputs, whose first digit is fastest.
        std::int64_t place = b / blocks * transform_rows;
        std::int64_t rest = b % blocks;
        std::int64_t size = blocks;
        for (std::size_t d = 0; d < i; ++d) {
          if (is_last) {
            place += rest % radices[d] * strides[d];
            rest /= radices[d];
          } else {
            size /= radices[d];
            place += rest / size * strides[d];
            rest %= size;
          }
        }
        program_.places.push_back(static_cast<std::int32_t>(place));
      }
      step.inner = program_.places.size();
      Points roots;
      for (std::int64_t j = 0; j < step.inner_count; ++j) {
        std::int64_t place = j / inner * transform_rows;
        std::int64_t rest = j % inner;
        std::int64_t size = inner;
        for (std::int64_t q = 1; q < radix; ++q) {
          roots.push_back(root(rest * q % block, block));
        }
        for (std::size_t d = i + 1; d < count; ++d) {
          size /= radices[d];
          place += rest / size * strides[d];
          rest %= size;
        }
        program_.places.push_back(static_cast<std::int32_t>(place));
      }
      step.roots = add_roots(roots);
      steps.push_back(step);
      block /= radix;
    }
    return steps;
  }

  const PassTable<Real>& table_;
  std::int64_t row_bytes_;
  Algorithms algorithms_;
  Program<Real> program_;
  std::map<std::pair<std::vector<int>, std::int64_t>, std::vector<Step<Real>>> known_steps_;
  std::int64_t own_rows_ = RowList::kept_rows;
  std::int64_t max_own_rows_ = RowList::kept_rows;
};

}  // namespace penstock::transform
