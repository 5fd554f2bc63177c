// The programs of all kinds.
#include "penstock/transform/program.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/base/error.hpp"
#include "penstock/transform/maker.hpp"

namespace penstock::transform {
namespace {

template <class Real>
class KindMaker : private Maker<Real> {
  using Base = Maker<Real>;
  using Base::add, Base::add_roots, Base::algorithms_, Base::all, Base::describe, Base::emit, Base::max_own_rows_;
  using Base::own, Base::own_rows_, Base::part_of, Base::program_, Base::take_rows;
  using typename Base::Rows;

 public:
  using Base::Base;

  Program<Real> make(Kind kind, std::int64_t length) {
    program_.length = length;
    program_.text = describe(length);
    const Rows source = all(RowList::Owner::source, 0, length);
    const Rows destination = all(RowList::Owner::destination, 0, length);
    if (kind >= Kind::redft00) {
      emit_real(kind, length, source, destination);
    } else {
      const bool begins_with_pairs = kind == Kind::complex_to_real;
      const bool ends_with_pairs = kind == Kind::real_to_complex;
      if (begins_with_pairs || ends_with_pairs) {
        program_.pairs_row = take_rows(length);
      }
      const Rows pairs = own(program_.pairs_row, length);
      emit(length, begins_with_pairs ? pairs : source, ends_with_pairs ? pairs : destination, {});
    }
    program_.own_rows = max_own_rows_;
    return std::move(program_);
  }

 private:
  /// Two complex factors, and which rows they are on.
  struct Sum {
    std::int64_t a;
    std::int64_t b;
    std::complex<long double> p;
    std::complex<long double> q;
  };

  /// Row i of `to` becomes p a + q b of `from`, of sum i.
  void emit_sums(const Rows& from, const Rows& to, const std::vector<Sum>& sums) {
    Rows both{from.owner, {}};
    Points factors;
    for (const Sum& sum : sums) {
      both.numbers.push_back(from[sum.a]);
      factors.push_back(sum.p);
      factors.push_back(sum.q);
    }
    for (const Sum& sum : sums) {
      both.numbers.push_back(from[sum.b]);
    }
    Step<Real> step{.kind = Step<Real>::Kind::combine, .from = add(both), .to = add(to)};
    step.inner_count = std::ssize(sums);
    step.factors = add_roots(factors);
    program_.steps.push_back(step);
  }

  // Makhoul 1980 (DOI 10.1109/TASSP.1980.1163351) for types II and III, by the transform of n points in another order;
  // type IV by two of n / 2; type I by that of its continuation. All are linear in complex points, so that they hold
  // for two real pencils as one. So are real and imaginary parts. Sines are cosines of points in the opposite order or
  // of alternating sign.
  void emit_real(Kind kind, std::int64_t n, const Rows& from, const Rows& to) {
    switch (kind) {
      case Kind::redft00:
        emit_even(n, from, to);
        break;
      case Kind::rodft00:
        emit_odd(n, from, to);
        break;
      case Kind::redft10:
      case Kind::rodft10:
        emit_second(kind == Kind::rodft10, n, from, to);
        break;
      case Kind::redft01:
      case Kind::rodft01:
        emit_third(kind == Kind::rodft01, n, from, to);
        break;
      case Kind::redft11:
      case Kind::rodft11:
        emit_fourth(kind == Kind::rodft11, n, from, to);
        break;
      case Kind::r2hc:
      case Kind::dht:
        emit_parts(kind == Kind::dht, n, from, to);
        break;
      case Kind::hc2r:
        emit_of_parts(n, from, to);
        break;
      case Kind::forward:
      case Kind::backward:
      case Kind::real_to_complex:
      case Kind::complex_to_real:
        PENSTOCK_ASSERT(false);
    }
  }

  static std::complex<long double> sign(std::int64_t k, bool alternates) {
    return alternates && k % 2 != 0 ? -1.0L : 1.0L;
  }

  /// Outputs k and N - k are the same, and stored to the same row.
  void emit_even(std::int64_t n, const Rows& from, const Rows& to) {
    Rows in{from.owner, {}};
    Rows out{to.owner, {}};
    for (std::int64_t j = 0; j < 2 * (n - 1); ++j) {
      in.numbers.push_back(from[j < n ? j : 2 * (n - 1) - j]);
      out.numbers.push_back(to[j < n ? j : 2 * (n - 1) - j]);
    }
    emit(2 * (n - 1), in, out, {});
  }

  void emit_odd(std::int64_t n, const Rows& from, const Rows& to) {
    const std::int64_t period = 2 * (n + 1);
    const Rows rows = own(take_rows(2 * period), 2 * period);
    std::vector<Sum> in;
    std::vector<Sum> out;
    for (std::int64_t j = 0; j < period; ++j) {
      const bool is_zero = j % (n + 1) == 0;
      const std::int64_t point = is_zero ? 0 : j <= n ? j - 1 : period - j - 1;
      in.push_back({point, point, is_zero ? 0.0L : j <= n ? 1.0L : -1.0L, 0});
    }
    for (std::int64_t k = 0; k < n; ++k) {
      out.push_back({k + 1, k + 1, {0, 1}, 0});
    }
    emit_sums(from, part_of(rows, 0, period), in);
    emit(period, part_of(rows, 0, period), part_of(rows, period, period), {});
    emit_sums(part_of(rows, period, period), to, out);
    own_rows_ -= 2 * period;
  }

  /// Points in the order of types II and III: the even ones, then the odd ones from the last.
  static std::int64_t in_order(std::int64_t j, std::int64_t n) { return 2 * j < n ? 2 * j : 2 * (n - j) - 1; }

  void emit_second(bool is_sine, std::int64_t n, const Rows& from, const Rows& to) {
    const Rows rows = own(take_rows(2 * n), 2 * n);
    Rows in{from.owner, {}};
    std::vector<Sum> signs;
    std::vector<Sum> out;
    Rows out_rows{to.owner, {}};
    for (std::int64_t k = 0; k < n; ++k) {
      in.numbers.push_back(from[in_order(k, n)]);
      signs.push_back({in_order(k, n), in_order(k, n), sign(in_order(k, n), true), 0});
      out.push_back({k, (n - k) % n, root(k, 4 * n), std::conj(root(k, 4 * n))});
      out_rows.numbers.push_back(to[is_sine ? n - 1 - k : k]);
    }
    const Rows spectrum = part_of(rows, 0, n);
    if (is_sine) {
      in = part_of(rows, n, n);
      emit_sums(from, in, signs);
    }
    emit(n, in, spectrum, {});
    emit_sums(spectrum, out_rows, out);
    own_rows_ -= 2 * n;
  }

  void emit_third(bool is_sine, std::int64_t n, const Rows& from, const Rows& to) {
    const Rows rows = own(take_rows(n), n);
    std::vector<Sum> in;
    Rows out{to.owner, {}};
    Points signs;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::complex<long double> turn = std::conj(root(k, 4 * n));
      const std::int64_t other = (n - k) % n;  // of the first none
      in.push_back({is_sine ? n - 1 - k : k, is_sine ? n - 1 - other : other, turn,
                    k == 0 ? 0 : turn * std::complex<long double>(0, -1)});
      const std::int64_t point = in_order((n - k) % n, n);  // backward
      out.numbers.push_back(to[point]);
      signs.push_back(sign(point, is_sine));
    }
    emit_sums(from, rows, in);
    emit(n, rows, out, is_sine ? signs : Points());
    own_rows_ -= n;
  }

  void emit_fourth(bool is_sine, std::int64_t n, const Rows& from, const Rows& to) {
    const bool is_even = n % 2 == 0;
    const std::int64_t m = is_even ? n / 2 : 2 * n;
    const std::complex<long double> i(0, 1);
    const Rows rows = own(take_rows(4 * m), 4 * m);
    const auto point = [&](std::int64_t j) { return is_sine ? n - 1 - j : j; };
    std::vector<Sum> in[2];  // for the forward transform and for the backward one, its conjugate
    std::vector<Sum> out;
    Rows out_rows{to.owner, {}};
    for (std::int64_t j = 0; j < m; ++j) {
      if (is_even) {
        const std::complex<long double> turn = root(4 * j + 1, 8 * n);
        const std::int64_t a = point(2 * j);
        const std::int64_t b = point(n - 1 - 2 * j);
        in[0].push_back({a, b, turn, i * turn});
        in[1].push_back({a, b, std::conj(turn), -i * std::conj(turn)});
        const std::complex<long double> back = root(j, 2 * n);
        const std::complex<long double> odd_sign = sign(n - 1 - 2 * j, is_sine);
        out.push_back({j, m + j, back, std::conj(back)});
        out_rows.numbers.push_back(to[2 * j]);
        out.push_back({j, m + j, odd_sign * i * back, odd_sign * -i * std::conj(back)});
        out_rows.numbers.push_back(to[n - 1 - 2 * j]);
      } else {
        const std::int64_t a = point(std::min(j, n - 1));
        const std::complex<long double> turn = j < n ? root(j, 4 * n) : 0;
        in[0].push_back({a, a, turn, 0});
        in[1].push_back({a, a, std::conj(turn), 0});
        if (j < n) {
          const std::complex<long double> back = root(2 * j + 1, 8 * n) * sign(j, is_sine);
          out.push_back({j, m + j, back, std::conj(back)});
          out_rows.numbers.push_back(to[j]);
        }
      }
    }
    Rows backward = part_of(rows, 3 * m, m);
    std::reverse(backward.numbers.begin() + 1, backward.numbers.end());
    emit_sums(from, part_of(rows, 0, m), in[0]);
    emit_sums(from, part_of(rows, m, m), in[1]);
    emit(m, part_of(rows, 0, m), part_of(rows, 2 * m, m), {});
    emit(m, part_of(rows, m, m), backward, {});
    emit_sums(part_of(rows, 2 * m, 2 * m), out_rows, out);
    own_rows_ -= 4 * m;
  }

  /// Real and imaginary parts of points k and n - k of the spectrum are sums of both, and so is what they add up to.
  void emit_parts(bool is_added_up, std::int64_t n, const Rows& from, const Rows& to) {
    const std::complex<long double> half_i(0, 0.5L);
    const Rows spectrum = own(take_rows(n), n);
    std::vector<Sum> out;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t other = (n - k) % n;
      if (is_added_up) {
        out.push_back({k, other, 0.5L + half_i, 0.5L - half_i});
      } else if (2 * k <= n) {
        out.push_back({k, other, 0.5L, 0.5L});
      } else {
        out.push_back({other, k, -half_i, half_i});
      }
    }
    emit(n, from, spectrum, {});
    emit_sums(spectrum, to, out);
    own_rows_ -= n;
  }

  void emit_of_parts(std::int64_t n, const Rows& from, const Rows& to) {
    const std::complex<long double> i(0, 1);
    const Rows spectrum = own(take_rows(n), n);
    std::vector<Sum> in;
    Rows out{to.owner, {}};
    for (std::int64_t k = 0; k < n; ++k) {
      const bool is_real = k == 0 || 2 * k == n;
      const std::int64_t other = (n - k) % n;
      in.push_back({std::min(k, other), std::max(k, other), 1, is_real ? 0 : 2 * k < n ? i : -i});
      out.numbers.push_back(to[other]);  // backward
    }
    emit_sums(from, spectrum, in);
    emit(n, spectrum, out, {});
    own_rows_ -= n;
  }
};

}  // namespace

template <class Real>
Program<Real> make_program(Kind kind, std::int64_t length, const PassTable<Real>& table, std::int64_t row_bytes,
                           const Variant& variant) {
  return KindMaker<Real>(table, row_bytes, variant.radices).make(kind, length);
}

template Program<float> make_program<float>(Kind, std::int64_t, const PassTable<float>&, std::int64_t, const Variant&);
template Program<double> make_program<double>(Kind, std::int64_t, const PassTable<double>&, std::int64_t,
                                              const Variant&);

}  // namespace penstock::transform
