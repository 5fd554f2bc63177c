// A field that every rank can compute anywhere, and its transform by the definition: what ours is compared with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "penstock/fft/fft.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/gas/gas.hpp"
#include "tests/definition.hpp"

namespace penstock::fft {

/// Options of a plan that nothing is measured for.
inline Options estimated(const Extents& size) {
  Options options;
  options.size = size;
  options.effort = Effort::estimate;
  return options;
}

/// A number in [-1, 1) that depends on `index` alone (SplitMix64's finaliser).
inline double noise(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

/// Calls `visit(position, number)` for each point of a part; `number` is the point's in the whole field, [z][y][x].
template <class Visit>
void for_each_point(const Extents& size, const Distribution& part, const Visit& visit) {
  const Box& box = part.box;
  for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
    for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
      for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
        visit(static_cast<std::size_t>(part.position(x, y, z)),
              static_cast<std::size_t>((z * size[1] + y) * size[0] + x));
      }
    }
  }
}

/// The values of a random field at every point of a part, as they lie in its array; rounded to Real.
template <class Real>
std::vector<std::complex<Real>> make_field(const Extents& size, const Distribution& distribution, Type type,
                                           std::uint64_t seed) {
  std::vector<std::complex<Real>> field(static_cast<std::size_t>(distribution.elements()), Real{0.25});
  for_each_point(size, distribution, [&](std::size_t position, std::size_t number) {
    const std::uint64_t index = number * 2 + seed * 0x100000001U;
    field[position] = {static_cast<Real>(noise(index)), type == Type::c2c ? static_cast<Real>(noise(index + 1)) : 0};
  });
  return field;
}

/// What a rank compares with.
using Reference = std::shared_ptr<const std::vector<std::complex<double>>>;

/// The whole field's transform along the options' directions by its definition, in long double, [z][y][x] with all
/// coefficients. Ranks that are threads share it.
template <class Real>
Reference transform_by_definition(const Options& options, std::uint64_t seed) {
  using Key = std::tuple<Extents, Type, std::array<std::optional<RealKind>, 3>, std::array<bool, 3>, std::uint64_t,
                         std::size_t>;
  static std::mutex mutex;
  static std::map<Key, Reference> known;
  constexpr std::size_t max_known = 64;
  const std::scoped_lock lock(mutex);
  if (known.size() > max_known) {
    known.clear();
  }
  Reference& spectrum = known[{options.size, options.type, options.kinds, options.along, seed, sizeof(Real)}];
  if (spectrum == nullptr) {
    std::array<std::optional<transform::Kind>, 3> kinds;
    for (std::size_t d = 0; d < 3; ++d) {
      if (options.along[d]) {
        const auto kind = real_kind(options, static_cast<int>(d));
        kinds[d] = kind ? static_cast<transform::Kind>(row_kind_of(*kind)) : transform::Kind::forward;
      }
    }
    const auto field = make_field<Real>(options.size, {{{0, 0, 0}, options.size}, {2, 1, 0}}, options.type, seed);
    spectrum = std::make_shared<std::vector<std::complex<double>>>(
        transform::by_definition(options.size, kinds, {field.begin(), field.end()}));
  }
  return spectrum;
}

/// The modes along a direction, where they are fewer than its points; else 0.
inline std::int64_t modes_along(const Options& options, std::size_t d) {
  return options.along[d] && options.modes[d] != options.size[d] ? options.modes[d] : 0;
}

/// Calls `visit(number, stride, k)` for all points of an array [z][y][x]: `k` is the index along direction d, from
/// which the next one's number is `stride` away.
template <class Visit>
void for_each_index(const Extents& size, std::size_t d, const Visit& visit) {
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < d; ++i) {
    stride *= size[i];
  }
  for (std::int64_t number = 0; number < size[0] * size[1] * size[2]; ++number) {
    visit(number, stride, number / stride % size[d]);
  }
}

/// A whole spectrum [z][y][x] without what is beyond the modes.
inline std::vector<std::complex<double>> limited(const Options& options, std::vector<std::complex<double>> spectrum) {
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t m = modes_along(options, d);
    const std::int64_t n = options.size[d];
    const bool is_real = real_kind(options, static_cast<int>(d)).has_value();
    const std::vector<std::complex<double>> whole = spectrum;
    for_each_index(options.size, d, [&](std::int64_t number, std::int64_t stride, std::int64_t k) {
      const std::int64_t wavenumber = is_real || 2 * k <= n ? k : n - k;
      auto& coefficient = spectrum[static_cast<std::size_t>(number)];
      if (m == 0) {
        return;
      }
      if (is_real ? wavenumber >= m : 2 * wavenumber > m) {
        coefficient = 0;
      } else if (!is_real && 2 * wavenumber == m) {
        const auto opposite = static_cast<std::size_t>(number + (n - 2 * k) * stride);
        coefficient = (whole[static_cast<std::size_t>(number)] + whole[opposite]) / 2.0;
      }
    });
  }
  return spectrum;
}

/// The points of the kept modes as if none were halved.
inline Extents kept_points(const Options& options) {
  Extents points = options.size;
  for (std::size_t d = 0; d < 3; ++d) {
    points[d] = modes_along(options, d) > 0 ? modes_along(options, d) : points[d];
  }
  return points;
}

/// Of a limited spectrum the modes that are kept.
inline std::vector<std::complex<double>> kept(const Options& options, std::vector<std::complex<double>> spectrum) {
  Extents size = options.size;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t m = modes_along(options, d);
    if (m == 0) {
      continue;
    }
    Extents fewer = size;
    fewer[d] = m;
    const bool is_real = real_kind(options, static_cast<int>(d)).has_value();
    std::vector<std::complex<double>> modes(static_cast<std::size_t>(fewer[0] * fewer[1] * fewer[2]));
    for_each_index(fewer, d, [&](std::int64_t number, std::int64_t stride, std::int64_t k) {
      const std::int64_t index = is_real || 2 * k <= m ? k : size[d] - (m - k);
      const std::int64_t from = number / (stride * m) * stride * size[d] + index * stride + number % stride;
      const double factor = !is_real && 2 * k == m ? 2 : 1;
      modes[static_cast<std::size_t>(number)] = factor * spectrum[static_cast<std::size_t>(from)];
    });
    spectrum = std::move(modes);
    size = fewer;
  }
  return spectrum;
}

/// Sums of squares that make up a relative error.
struct ErrorSums {
  double difference = 0;
  double reference = 0;
  double relative() const { return reference > 0 ? std::sqrt(difference / reference) : std::sqrt(difference); }
};

/// Compares a rank's part of a field, `components` numbers a point, with the whole reference.
template <class Real>
ErrorSums compare(const Extents& size, const Distribution& distribution, const Real* part, std::int64_t components,
                  const std::vector<std::complex<double>>& reference, double factor) {
  ErrorSums sums;
  for_each_point(size, distribution, [&](std::size_t position, std::size_t number) {
    const std::complex<double> expected = reference[number] * factor;
    const Real* at = part + static_cast<std::int64_t>(position) * components;
    const std::complex<double> found(at[0], components == 2 ? at[1] : 0);
    sums.difference += std::norm(found - expected);
    sums.reference += std::norm(expected);
  });
  return sums;
}

template <class Real>
ErrorSums compare(const Extents& size, const Distribution& distribution, const std::complex<Real>* part,
                  const std::vector<std::complex<double>>& reference, double factor) {
  return compare(size, distribution, reinterpret_cast<const Real*>(part), 2, reference, factor);
}

/// The error allowed for a transform of this size (issue: 1e-15 log2 N in double, 6e-7 log2 N in single).
template <class Real>
double tolerance(const Extents& size) {
  const double points = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  return (sizeof(Real) == 8 ? 1e-15 : 6e-7) * std::max(1.0, std::log2(points));
}

/// Adds up every rank's sums; collective.
inline double relative_error(const gas::Team& team, const ErrorSums& mine) {
  ErrorSums all;
  for (const ErrorSums& sums : team.all_gather(mine)) {
    all.difference += sums.difference;
    all.reference += sums.reference;
  }
  return all.relative();
}

/// The forward or backward transform of a plan on arrays of whichever type it takes.
template <class Real>
void run(Plan<Real>& plan, Type type, bool is_forward, std::span<std::complex<Real>> in,
         std::span<std::complex<Real>> out, Scaling scaling) {
  using Complex = std::complex<Real>;
  const std::span<const Real> real_in(reinterpret_cast<const Real*>(in.data()), 2 * in.size());
  const std::span<Real> real_out(reinterpret_cast<Real*>(out.data()), 2 * out.size());
  const std::span<const Complex> complex_in(in);
  if (type == Type::c2c) {
    is_forward ? plan.forward(complex_in, out, scaling) : plan.backward(complex_in, out, scaling);
  } else if (type == Type::r2r) {
    is_forward ? plan.forward(real_in, real_out, scaling) : plan.backward(real_in, real_out, scaling);
  } else if (is_forward) {
    plan.forward(real_in, out, scaling);
  } else {
    plan.backward(complex_in, real_out, scaling);
  }
}

/// A collocation by a function that changes nothing.
template <class Real>
void collocate_nothing(Plan<Real>& plan, Type type, std::span<std::complex<Real>> in,
                       std::span<std::complex<Real>> out) {
  using Complex = std::complex<Real>;
  const auto nothing = [](std::int64_t, std::int64_t, auto) {};
  const std::span<const Complex> from(in);
  if (type == Type::c2c) {
    plan.collocate(from, out, PointFunction<Complex>(nothing));
  } else if (type == Type::r2c) {
    plan.collocate(from, out, PointFunction<Real>(nothing));
  } else {
    plan.collocate(std::span<const Real>(reinterpret_cast<const Real*>(in.data()), 2 * in.size()),
                   std::span(reinterpret_cast<Real*>(out.data()), 2 * out.size()), PointFunction<Real>(nothing));
  }
}

/// The product of the periods that a round trip multiplies by, as kinds.hpp gives them.
inline double period_of(const Options& options) {
  double period = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto kind = real_kind(options, static_cast<int>(d));
    const auto n = static_cast<double>(options.size[d]);
    const double of_r2r = kind == RealKind::redft00   ? 2 * (n - 1)
                          : kind == RealKind::rodft00 ? 2 * (n + 1)
                          : kind >= RealKind::r2hc    ? n
                                                      : 2 * n;
    period *= !options.along[d] ? 1 : kind ? of_r2r : n;
  }
  return period;
}

/// The field whose whole spectrum this is, by the definition.
inline std::vector<std::complex<double>> transform_back_by_definition(
    const Options& options, const std::vector<std::complex<double>>& spectrum) {
  std::array<std::optional<transform::Kind>, 3> kinds;
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.along[d]) {
      const auto kind = real_kind(options, static_cast<int>(d));
      kinds[d] = static_cast<transform::Kind>(traits_of(kind ? row_kind_of(*kind) : RowKind::forward).inverse);
    }
  }
  std::vector<std::complex<double>> field = transform::by_definition(options.size, kinds, spectrum);
  for (std::complex<double>& value : field) {
    value /= period_of(options);
  }
  return field;
}

/// Where the numbers of a plan's fields lie in one of its arrays.
template <class Real>
struct Array {
  std::size_t field;       ///< numbers from a field to the next
  std::size_t components;  ///< numbers of an element
  std::vector<bool> is_padding;

  Array(const Options& options, const Distribution& part, std::int64_t stride, std::size_t numbers)
      : field(static_cast<std::size_t>(stride) * numbers), components(numbers) {
    const auto fields = static_cast<std::size_t>(options.batch);
    const auto of_part = static_cast<std::size_t>(part.elements()) * numbers;
    is_padding.resize(options.is_interleaved ? of_part : field * fields, true);
    for (std::size_t i = 0; i < fields; ++i) {
      for_each_point(options.size, part, [&](std::size_t position, std::size_t) {
        std::fill_n(is_padding.begin() + static_cast<std::ptrdiff_t>(at(i, position)), numbers, false);
      });
    }
  }
  /// The first number of an element.
  std::size_t at(std::size_t number, std::size_t position) const { return number * field + position * components; }
  std::size_t size() const { return is_padding.size(); }
};

/// One of a plan's own arrays, of complex or real numbers, as complex ones, filled with the number of padding.
template <class Real>
std::span<std::complex<Real>> own_array(Plan<Real>& plan, bool is_complex, bool is_input) {
  using Complex = std::complex<Real>;
  std::span<Real> numbers;
  if (is_complex) {
    const auto array = is_input ? plan.template input_array<Complex>() : plan.template output_array<Complex>();
    numbers = {reinterpret_cast<Real*>(array.data()), 2 * array.size()};
  } else {
    numbers = is_input ? plan.template input_array<Real>() : plan.template output_array<Real>();
  }
  std::ranges::fill(numbers, Real{7});
  return {reinterpret_cast<Complex*>(numbers.data()), numbers.size() / 2};
}

/// Runs forward and then backward with `options` on fields of noise; collective. Returns the larger of the forward
/// error against the definition and the error of what comes back, and checks that the input and padding were left
/// alone.
template <class Real>
double worst_error(const gas::Team& team, const Options& options, Scaling scaling = Scaling::none,
                   bool is_in_place = false) {
  using Complex = std::complex<Real>;
  Plan<Real> plan(team, options);
  const auto fields = static_cast<std::size_t>(options.batch);
  const Array<Real> space_array(options, plan.input(), plan.input_stride(), options.type == Type::c2c ? 2 : 1);
  const Array<Real> spectrum_array(options, plan.output(), plan.output_stride(), options.type == Type::r2r ? 1 : 2);
  const double period = period_of(options);
  const double factor = scaling == Scaling::none        ? 1
                        : scaling == Scaling::symmetric ? 1 / std::sqrt(period)
                                                        : 1 / period;
  const Scaling scaling_back = scaling == Scaling::none   ? Scaling::full
                               : scaling == Scaling::full ? Scaling::none
                                                          : scaling;

  // What comes back is the field without what is beyond the modes.
  std::vector<std::vector<std::complex<double>>> back, kept_spectra;
  const bool is_pruned = kept_points(options) != options.size;
  for (std::size_t i = 0; i < fields; ++i) {
    const std::vector<std::complex<double>> spectrum = limited(options, *transform_by_definition<Real>(options, i));
    back.push_back(is_pruned ? transform_back_by_definition(options, spectrum) : std::vector<std::complex<double>>{});
    kept_spectra.push_back(kept(options, spectrum));
  }
  if (!options.is_interleaved && space_array.field != spectrum_array.field) {
    return 1e9;
  }
  std::vector<std::vector<Complex>> in;
  for (std::size_t i = 0; i < fields; ++i) {
    in.push_back(make_field<Real>(options.size, plan.input(), options.type, i));
  }
  const std::size_t numbers_of_all = (std::max(space_array.size(), spectrum_array.size()) + 1) / 2 * 2;
  std::vector<Complex> memory(numbers_of_all / 2 + 1, Complex(-7, 7));
  std::vector<Complex> other(is_in_place ? 0 : memory.size(), Complex(-7, 7));
  std::span<Complex> spectrum = std::span(memory).first(numbers_of_all / 2);
  std::span<Complex> space(is_in_place ? memory.data() : other.data(), spectrum.size());
  if (options.has_arrays) {
    space = own_array(plan, options.type == Type::c2c, true);
    spectrum = own_array(plan, options.type != Type::r2r, false);
  }
  auto* const numbers = reinterpret_cast<Real*>(space.data());
  auto* const spectrum_numbers = reinterpret_cast<Real*>(spectrum.data());
  const auto is_untouched = [](const Array<Real>& array, std::span<Complex> memory_of) {
    const auto* const of = reinterpret_cast<const Real*>(memory_of.data());
    for (std::size_t i = 0; i < std::min(array.is_padding.size(), 2 * memory_of.size()); ++i) {
      if (array.is_padding[i] && std::abs(of[i]) != 7) {
        return false;
      }
    }
    return true;
  };
  double worst = 0;
  for (int round = 0; round < 2; ++round) {  // the second run meets buffers that were used
    const auto difference_to_input = [&](bool is_back) {
      ErrorSums sums;
      for (std::size_t field = 0; field < fields; ++field) {
        for_each_point(options.size, plan.input(), [&](std::size_t position, std::size_t point) {
          const std::complex<double> expected =
              is_back && is_pruned ? back[field][point] : std::complex<double>(in[field][position]);
          const Real* const number = numbers + space_array.at(field, position);
          const Complex value(number[0], space_array.components == 2 ? number[1] : Real{0});
          sums.difference += std::norm(std::complex<double>(value) - expected);
          sums.reference += std::norm(std::complex<double>(in[field][position]));
        });
      }
      return sums;
    };
    for (std::size_t field = 0; field < fields; ++field) {
      for_each_point(options.size, plan.input(), [&](std::size_t position, std::size_t) {
        Real* const number = numbers + space_array.at(field, position);
        number[0] = in[field][position].real();
        if (space_array.components == 2) {
          number[1] = in[field][position].imag();
        }
      });
    }
    run(plan, options.type, true, space, spectrum, scaling);
    for (std::size_t field = 0; field < fields; ++field) {
      const auto sums = compare(kept_points(options), plan.output(), spectrum_numbers + spectrum_array.at(field, 0),
                                static_cast<std::int64_t>(spectrum_array.components), kept_spectra[field], factor);
      worst = std::max(worst, relative_error(team, sums));
    }
    if (!is_in_place && (difference_to_input(false).difference != 0 || !is_untouched(spectrum_array, spectrum))) {
      worst = 1e9;
    }
    if (options.collocates) {
      // Of a function that changes nothing the result is what was given.
      std::vector<Complex> other_spectrum(is_in_place ? 0 : spectrum.size(), Complex(-7, 7));
      const std::span<Complex> again = is_in_place ? spectrum : std::span(other_spectrum);
      collocate_nothing(plan, options.type, spectrum, again);
      for (std::size_t field = 0; field < fields; ++field) {
        const Real* const numbers_of_field = reinterpret_cast<Real*>(again.data()) + spectrum_array.at(field, 0);
        const auto sums = compare(kept_points(options), plan.output(), numbers_of_field,
                                  static_cast<std::int64_t>(spectrum_array.components), kept_spectra[field], factor);
        worst = std::max(worst, relative_error(team, sums));
      }
    }
    run(plan, options.type, false, spectrum, space, scaling_back);
    worst = std::max(worst, relative_error(team, difference_to_input(true)));
    if (!is_in_place && !is_untouched(space_array, space)) {
      worst = 1e9;
    }
  }
  if (memory.back() != Complex(-7, 7)) {
    return 1e9;  // something was written behind the end
  }
  return worst;
}

/// Expects that making a plan throws an Error with `part` in its message on this rank.
inline void expect_refusal(const gas::Team& team, const Options& options, const std::string& part) {
  try {
    const Plan<double> plan(team, options);
    ADD_FAILURE() << "no refusal that says " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace penstock::fft
