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
    most_own_rows_ = std::max(most_own_rows_, own_rows_);
    return own_rows_ - count;
  }

  /// Appends the transform of rows `from` to rows `to`. `factors`, none or one of each row, are on what it gives.
  void emit(std::int64_t n, const Rows& from, const Rows& to, const Points& factors) {
    switch (algorithms_.cheapest(n).kind) {
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

  void emit_passes(std::int64_t n, const Rows& from, const Rows& to, const Points& factors) {
    program_.passes_length = std::max(program_.passes_length, n);
    std::vector<Step<Real>> steps = steps_of(radices(n));
    steps.front().from = is_all_of_caller(from) ? Step<Real>::none : add(from);
    steps.back().to = is_all_of_caller(to) ? Step<Real>::none : add(to);
    if (!factors.empty()) {
      steps.back().factors = add_roots(factors);
    }
    program_.steps.insert(program_.steps.end(), steps.begin(), steps.end());
  }

  /// From one row to another, times a factor for each.
  void emit_copy(const Rows& from, const Rows& to, const Points& factors) {
    std::vector<Step<Real>> steps = steps_of({1, 1});
    for (std::size_t i = 0; i < factors.size(); ++i) {
      steps.front().from = add({from.owner, {from.numbers[i]}});
      steps.back().to = add({to.owner, {to.numbers[i]}});
      steps.back().factors = add_roots({factors[i]});
      program_.steps.insert(program_.steps.end(), steps.begin(), steps.end());
    }
  }

  // n = part * rest: point j + rest q, output k + part l.
  void emit_split(std::int64_t n, std::int64_t part, const Rows& from, const Rows& to, const Points& factors) {
    const std::int64_t rest = n / part;
    const std::int64_t begin = take_rows(n);
    for (std::int64_t j = 0; j < rest; ++j) {
      Rows in{from.owner, {}};
      Rows out{RowList::Owner::program, {}};
      Points turns;
      for (std::int64_t k = 0; k < part; ++k) {
        in.numbers.push_back(from[j + rest * k]);
        out.numbers.push_back(static_cast<std::int32_t>(begin + k * rest + j));
        turns.push_back(root(j * k % n, n));
      }
      emit(part, in, out, j == 0 ? Points() : turns);
    }
    for (std::int64_t k = 0; k < part; ++k) {
      Rows out{to.owner, {}};
      Points of_these;
      for (std::int64_t l = 0; l < rest; ++l) {
        out.numbers.push_back(to[k + part * l]);
        if (!factors.empty()) {
          of_these.push_back(factors[static_cast<std::size_t>(k + part * l)]);
        }
      }
      emit(rest, own(begin + k * rest, rest), out, of_these);
    }
    own_rows_ -= n;
  }

  // Rader 1968: with a generator g, point g^r is a_r and output g^-q less point 0 is the circular convolution of a with
  // b_s = exp(-2 pi i g^-s / p). The backward transform is the forward one, its outputs read the other way round.
  void emit_rader(std::int64_t p, const Rows& from, const Rows& to, const Points& factors) {
    const std::int64_t n = p - 1;
    const std::int64_t g = primitive_root(p);
    Rows in{from.owner, {}};
    Rows out{to.owner, {}};
    Points b(static_cast<std::size_t>(n));
    Points of_out;
    std::int64_t element = 1;
    for (std::int64_t r = 0; r < n; ++r) {
      in.numbers.push_back(from[element]);
      out.numbers.push_back(to[element]);
      if (!factors.empty()) {
        of_out.push_back(factors[static_cast<std::size_t>(element)]);
      }
      b[static_cast<std::size_t>((n - r) % n)] = root(element, p);
      element = element * g % p;
    }
    b = transformed(b);
    for (std::complex<long double>& value : b) {
      value /= static_cast<long double>(n);
    }
    b[0] = 1;  // below

    const std::int64_t begin = take_rows(n);
    const Rows rows = own(begin, n);
    emit(n, in, rows, b);
    // Row 0 holds the sum of all points but the first. It becomes what adds the first to every output.
    Step<Real> first{.kind = Step<Real>::Kind::rader,
                     .from = add({from.owner, {from[0]}}),
                     .to = add({to.owner, {to[0]}}),
                     .sum_row = begin,
                     .sum_factor = static_cast<Real>(-1.0L / static_cast<long double>(n))};
    if (!factors.empty()) {
      first.factors = add_roots({factors[0]});
    }
    program_.steps.push_back(first);
    emit(n, rows, out, of_out);
    own_rows_ -= n;
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
    const std::int64_t begin = take_rows(2 * m);
    const Rows spectrum = own(begin + m, m);
    Rows in = own(begin, m);
    std::fill(in.numbers.begin() + n, in.numbers.end(), 0);
    Rows out = own(begin, m);  // of the backward transform: read the other way round
    std::reverse(out.numbers.begin() + 1, out.numbers.end());
    Points of_out = chirp;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      of_out[k] *= factors[k];
    }
    emit_copy(from, own(begin, n), chirp);
    emit(m, in, spectrum, b);
    emit(m, spectrum, out, {});
    emit_copy(own(begin, n), to, of_out);
    own_rows_ -= 2 * m;
  }

  static Rows part_of(const Rows& rows, std::int64_t begin, std::int64_t count) {
    const auto first = rows.numbers.begin() + begin;
    return {rows.owner, {first, first + count}};
  }

  /// The passes of these radices, without their rows; remembered, as are the lists that they use.
  const std::vector<Step<Real>>& steps_of(const std::vector<int>& radices) {
    std::vector<Step<Real>>& steps = known_steps_[radices];
    if (!steps.empty()) {
      return steps;
    }
    const std::size_t count = radices.size();
    // Digit i of a point, of the radix of pass i, the first one slowest, lies strides[i] rows from digit to digit.
    // Where that is whole pages, rows would share a set of the cache: a row more keeps them apart.
    std::vector<std::int64_t> strides(count);
    std::int64_t rows = 1;
    for (std::size_t i = count; i-- > 0;) {
      constexpr std::int64_t page_bytes = 4096;
      strides[i] = rows > 1 && rows * row_bytes_ % page_bytes == 0 ? rows + 1 : rows;
      rows = strides[i] * radices[i];
    }
    program_.work_rows = std::max(program_.work_rows, rows);

    std::int64_t length = 1;
    for (const int radix : radices) {
      length *= radix;
    }
    std::int64_t block = length;  // points of a sub-transform before pass i
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t radix = radices[i];
      using StepKind = typename Step<Real>::Kind;
      const bool is_last = i + 1 == count;
      Step<Real> step{.passes = &passes_of(radix),
                      .kind = i == 0    ? StepKind::first
                              : is_last ? StepKind::last
                                        : StepKind::middle};
      step.leg_rows = strides[i];
      step.block_count = length / block;
      step.inner_count = block / radix;
      step.blocks = program_.places.size();
      for (std::int64_t b = 0; b < step.block_count; ++b) {
        // The last pass goes through its blocks in the order of outputs, whose first digit is fastest.
        std::int64_t place = 0;
        std::int64_t rest = b;
        std::int64_t size = step.block_count;
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
        std::int64_t place = 0;
        std::int64_t rest = j;
        std::int64_t size = step.inner_count;
        for (std::size_t d = i + 1; d < count; ++d) {
          size /= radices[d];
          place += rest / size * strides[d];
          rest %= size;
        }
        program_.places.push_back(static_cast<std::int32_t>(place));
        for (std::int64_t q = 1; q < radix; ++q) {
          roots.push_back(root(j * q % block, block));
        }
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
  std::map<std::vector<int>, std::vector<Step<Real>>> known_steps_;
  std::int64_t own_rows_ = 1;  // the first may have to be zero
  std::int64_t most_own_rows_ = 1;
};

}  // namespace penstock::transform
