#include "penstock/transform/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/transform/roots.hpp"

namespace penstock::transform {
namespace {

using Points = std::vector<std::complex<long double>>;

std::complex<long double> root(std::int64_t k, std::int64_t n) {
  const Root<long double> value = root_of_unity<long double>(k, n);
  return {value.re, value.im};
}

std::int64_t smallest_prime_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) {
      return p;
    }
  }
  return n;
}

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t p = smallest_prime_factor(n);
  for (; n > 1; n /= p) {
    p = smallest_prime_factor(n);
  }
  return p;
}

/// The transform of every stride-th point of x from `first` on. `roots` are those of x's own length.
Points transformed(const Points& x, const Points& roots, std::size_t first, std::size_t stride) {
  const std::size_t n = x.size() / stride;
  if (n == 1) {
    return {x[first]};
  }
  const auto p = static_cast<std::size_t>(smallest_prime_factor(static_cast<std::int64_t>(n)));
  const std::size_t m = n / p;
  Points y(n);
  for (std::size_t j = 0; j < p; ++j) {
    const Points part = transformed(x, roots, first + j * stride, stride * p);
    for (std::size_t q = 0; q < n; ++q) {
      y[q] += part[q % m] * roots[j * q % n * stride];
    }
  }
  return y;
}

/// The transform of what a convolution is made with, in long double.
Points transformed(const Points& x) {
  Points roots;
  for (std::size_t k = 0; k < x.size(); ++k) {
    roots.push_back(root(static_cast<std::int64_t>(k), static_cast<std::int64_t>(x.size())));
  }
  return transformed(x, roots, 0, 1);
}

std::int64_t power(std::int64_t base, std::int64_t exponent, std::int64_t modulus) {
  std::int64_t result = 1;
  for (; exponent > 0; exponent /= 2, base = base * base % modulus) {
    if (exponent % 2 != 0) {
      result = result * base % modulus;
    }
  }
  return result;
}

/// The smallest generator of the numbers 1 to p - 1 under multiplication modulo p, a prime.
std::int64_t primitive_root(std::int64_t p) {
  const auto generates = [&](std::int64_t g) {
    for (std::int64_t rest = p - 1; rest > 1;) {
      const std::int64_t q = smallest_prime_factor(rest);
      if (power(g, (p - 1) / q, p) == 1) {
        return false;
      }
      while (rest % q == 0) {
        rest /= q;
      }
    }
    return true;
  };
  std::int64_t g = 1;
  while (!generates(g)) {
    ++g;
  }
  return g;
}

/// Additions and multiplications of a butterfly, as `transformed` in butterflies.hpp does them.
constexpr double operations(int radix) {
  switch (radix) {
    case 1:
      return 0;
    case 2:
      return 4;
    case 4:
      return 16;
    case 6:
      return 2 * 14 + 3 * 4 + 2 * 4;
    case 8:
      return 4 * 4 + 2 * 16 + 2 * 4;
    case 9:
      return 6 * 14 + 4 * 4;
    case 10:
      return 5 * 4 + 2 * 36 + 4 * 4;
    case 12:
      return 3 * 16 + 4 * 14 + 6 * 4;
    case 15:
      return 5 * 14 + 3 * 36 + 8 * 4;
    case 16:
      return 8 * 16 + 8 * 4;
    default: {
      const double half = (radix - 1) / 2;
      return half * (4 * half + 10);
    }
  }
}

/// How a length is transformed.
struct Way {
  enum class Kind : std::uint8_t {
    passes,     ///< by radices alone
    split,      ///< into `part` transforms of the rest and transforms of `part`
    rader,      ///< a prime, as a convolution of one point less
    bluestein,  ///< as a convolution of `part` points
  };
  Kind kind = Kind::passes;
  double cost = std::numeric_limits<double>::infinity();
  std::int64_t part = 0;  ///< of passes: the radix of one of them
};

template <class Real>
class Maker {
 public:
  Maker(const PassTable<Real>& table, std::int64_t row_bytes) : table_(table), row_bytes_(row_bytes) {}

  /// Row passes over the longest vectors that the length is a multiple of often enough.
  RowProgram<Real> make_rows(std::int64_t length) {
    RowProgram<Real> program;
    for (const RowTable<Real>& table : table_.rows) {
      const std::int64_t lanes = table.lanes;
      if (lanes > 0 && length % lanes == 0 && length / lanes >= lanes && largest_prime_factor(length) <= 13) {
        add_row_steps(program, length, table);
        break;
      }
    }
    return program;
  }

  Program<Real> make(std::int64_t length, Ends ends) {
    program_.length = length;
    if (ends != Ends::callers) {
      program_.pairs_row = take_rows(length);
    }
    const Rows pairs = own(program_.pairs_row, length);
    emit(length, ends == Ends::out_of_pairs ? pairs : all(RowList::Owner::source, 0, length),
         ends == Ends::into_pairs ? pairs : all(RowList::Owner::destination, 0, length), {});
    if (way(length).kind == Way::Kind::passes) {  // all points of the caller in their order need no list
      program_.steps.front().from = ends == Ends::out_of_pairs ? program_.steps.front().from : Step<Real>::none;
      program_.steps.back().to = ends == Ends::into_pairs ? program_.steps.back().to : Step<Real>::none;
    }
    program_.own_rows = most_own_rows_;
    program_.text = describe(length);
    return std::move(program_);
  }

 private:
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
  static Rows own(std::int64_t begin, std::int64_t count) { return all(RowList::Owner::program, begin, count); }

  std::string describe(std::int64_t n) {
    const Way of = way(n);
    switch (of.kind) {
      case Way::Kind::split:
        return fmt::format("({}) x ({})", describe(of.part), describe(n / of.part));
      case Way::Kind::rader:
        return fmt::format("{} by Rader: {}", n, describe(n - 1));
      case Way::Kind::bluestein:
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

  double pass_cost(int radix) const {
    // Ten vectors besides the legs: roots, sums. What does not fit is stored and loaded again, the more often the more
    // legs there are: this ranks the radices as they were measured with 16 and with 32 vectors (EPYC 9004, November
    // 2026).
    const int numbers = 2 * radix;
    const double spilt = std::max(0, numbers + 10 - table_.vector_registers);
    return operations(radix) + 4.0 * (radix - 1) + 3 * numbers + spilt * radix;
  }

  double cost(std::int64_t n) { return way(n).cost; }

  /// The cheapest way, remembered.
  Way way(std::int64_t n) {
    if (const auto known = ways_.find(n); known != ways_.end()) {
      return known->second;
    }
    Way best;
    const auto offer = [&](Way::Kind kind, double cost, std::int64_t part) {
      if (cost < best.cost) {
        best = {kind, cost, part};
      }
    };
    if (n == 1) {
      offer(Way::Kind::passes, 0, 1);
    }
    const std::int64_t prime = largest_prime_factor(n);
    const auto count = static_cast<double>(n);
    if (prime <= 13) {
      for (const auto& radix : table_.radices) {
        if (radix.radix > 1 && n % radix.radix == 0) {
          offer(Way::Kind::passes, count / radix.radix * pass_cost(radix.radix) + radix.radix * cost(n / radix.radix),
                radix.radix);
        }
      }
    } else {
      if (prime < n) {
        const std::int64_t rest = n / prime;
        offer(Way::Kind::split, static_cast<double>(rest) * cost(prime) + static_cast<double>(prime) * cost(rest),
              prime);
      } else if (largest_prime_factor(n - 1) <= 97) {
        constexpr double steps = 16;  // per point of the convolution's products and of the first one
        offer(Way::Kind::rader, 2 * cost(n - 1) + steps * count, n);
      }
      constexpr double steps = 24;  // per point of the chirps, the products and what is zero
      const std::int64_t padded = padded_length(n);
      offer(Way::Kind::bluestein, 2 * cost(padded) + steps * static_cast<double>(padded), padded);
    }
    ways_[n] = best;
    return best;
  }

  /// A good length of 2 n - 1 points or more.
  std::int64_t padded_length(std::int64_t n) {
    std::int64_t best = 0;
    for (std::int64_t m = 2 * n - 1; best == 0 || m < 2 * n + n / 4; ++m) {
      if (largest_prime_factor(m) <= 13 && (best == 0 || cost(m) < cost(best))) {
        best = m;
      }
    }
    return best;
  }

  std::vector<int> factors(std::int64_t n) {
    std::vector<int> found;
    for (; n > 1; n /= found.back()) {
      found.push_back(static_cast<int>(way(n).part));
    }
    // The largest first: a tenth faster than the other way round, as the last pass writes fewer streams.
    std::ranges::sort(found, std::greater());
    return found;
  }

  std::vector<int> radices(std::int64_t n) {
    std::vector<int> found = factors(n);
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
    switch (way(n).kind) {
      case Way::Kind::passes:
        emit_passes(n, from, to, factors);
        break;
      case Way::Kind::split:
        emit_split(n, way(n).part, from, to, factors);
        break;
      case Way::Kind::rader:
        emit_rader(n, from, to, factors);
        break;
      case Way::Kind::bluestein:
        emit_bluestein(n, way(n).part, from, to, factors);
        break;
    }
  }

  void emit_passes(std::int64_t n, const Rows& from, const Rows& to, const Points& factors) {
    std::vector<Step<Real>> steps = steps_of(radices(n));
    steps.front().from = add(from);
    steps.back().to = add(to);
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
      using Kind = typename Step<Real>::Kind;
      const bool is_last = i + 1 == count;
      Step<Real> step{.passes = &passes_of(radix), .kind = i == 0 ? Kind::first : is_last ? Kind::last : Kind::middle};
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

  void add_row_steps(RowProgram<Real>& program, std::int64_t length, const RowTable<Real>& table) {
    const std::int64_t lanes = table.lanes;
    const std::int64_t vectors = length / lanes;
    const std::vector<int> radices = factors(vectors);
    std::vector<Real> roots;
    std::int64_t block = length;  // points of a sub-transform before a pass
    for (std::size_t i = 0; i < radices.size(); ++i) {
      const std::int64_t radix = radices[i];
      const auto& passes = *std::ranges::find(table.radices, radix, &RowPasses<Real>::radix);
      RowStep<Real> step{.pass = i == 0 ? passes.first : passes.middle,
                         .pass_backward = i == 0 ? passes.first_backward : passes.middle,
                         .block_count = length / block,
                         .inner_pairs = block / radix / lanes,
                         .roots = roots.size()};
      for (std::int64_t vector = 0; vector < step.inner_pairs; ++vector) {
        for (std::int64_t q = 1; q < radix; ++q) {
          for (const bool is_imaginary : {false, true}) {
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
              const std::int64_t point = vector * lanes + table.point_of_lane[lane];
              const std::complex<long double> value = root(point * q % block, block);
              roots.push_back(static_cast<Real>(is_imaginary ? value.imag() : value.real()));
            }
          }
        }
      }
      program.steps.push_back(step);
      block /= radix;
    }
    program.steps.push_back({.pass = table.last, .pass_backward = table.last_backward, .block_count = vectors});
    for (std::int64_t o = 0; o < vectors; ++o) {  // the digits of an output, the first pass's fastest
      std::int64_t place = 0;
      std::int64_t rest = o;
      for (const int radix : radices) {
        place = place * radix + rest % radix;
        rest /= radix;
      }
      program.blocks.push_back(static_cast<std::int32_t>(place));
    }
    program.roots.resize((roots.size() + Line<Real>::count - 1) / Line<Real>::count);
    if (!roots.empty()) {
      std::memcpy(program.roots.data(), roots.data(), roots.size() * sizeof(Real));
    }
    program.text = fmt::format("rows of {} x {}", fmt::join(radices, " x "), lanes);
  }

  const PassTable<Real>& table_;
  std::int64_t row_bytes_;
  Program<Real> program_;
  std::map<std::int64_t, Way> ways_;
  std::map<std::vector<int>, std::vector<Step<Real>>> known_steps_;
  std::int64_t own_rows_ = 1;  // the first may have to be zero
  std::int64_t most_own_rows_ = 1;
};

}  // namespace

template <class Real>
Program<Real> make_program(std::int64_t length, Ends ends, const PassTable<Real>& table, std::int64_t row_bytes) {
  return Maker<Real>(table, row_bytes).make(length, ends);
}

template <class Real>
RowProgram<Real> make_row_program(std::int64_t length, const PassTable<Real>& table) {
  return Maker<Real>(table, 1).make_rows(length);
}

template RowProgram<float> make_row_program<float>(std::int64_t, const PassTable<float>&);
template RowProgram<double> make_row_program<double>(std::int64_t, const PassTable<double>&);
template Program<float> make_program<float>(std::int64_t, Ends, const PassTable<float>&, std::int64_t);
template Program<double> make_program<double>(std::int64_t, Ends, const PassTable<double>&, std::int64_t);

}  // namespace penstock::transform
