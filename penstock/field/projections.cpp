#include "penstock/field/projections.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace penstock::field {
namespace {

using Number = std::complex<long double>;

/// exp(2 pi i t).
Number turned(long double t) {
  const long double angle = 2 * std::numbers::pi_v<long double> * (t - std::round(t));
  return {std::cos(angle), std::sin(angle)};
}

/// The sum of exp(2 pi i t k) over k from 0 to count - 1: Dirichlet's kernel.
Number geometric_sum(long double t, std::int64_t count) {
  t -= std::round(t);
  const long double half = std::numbers::pi_v<long double> * t;
  const auto terms = static_cast<long double>(count);
  const long double size = std::sin(half) == 0 ? terms : std::sin(terms * half) / std::sin(half);
  return size * Number(std::cos((terms - 1) * half), std::sin((terms - 1) * half));
}

/// A sine or cosine transform (kinds.hpp) as X_k = sum over j of c_j cos or sin(2 pi (j + point) (k + mode) / period),
/// where c_j is 2 but at points that are their own mirror image, at which it is 1.
struct RealTransform {
  long double point;
  long double mode;
  int points_more;  ///< period: 2 (points + these)
  bool is_first_single;
  bool is_last_single;
  bool is_sine;
};

RealTransform real_transform(fft::RealKind kind) {
  switch (kind) {
    case fft::RealKind::redft00:
      return {0, 0, -1, true, true, false};
    case fft::RealKind::redft10:
      return {0.5L, 0, 0, false, false, false};
    case fft::RealKind::redft01:
      return {0, 0.5L, 0, true, false, false};
    case fft::RealKind::redft11:
      return {0.5L, 0.5L, 0, false, false, false};
    case fft::RealKind::rodft00:
      return {1, 1, 1, false, false, true};
    case fft::RealKind::rodft10:
      return {0.5L, 1, 0, false, false, true};
    case fft::RealKind::rodft01:
      return {1, 0.5L, 0, false, true, true};
    case fft::RealKind::rodft11:
      return {0.5L, 0.5L, 0, false, false, true};
    default:
      return {};
  }
}

/// The sum over wavenumbers k from `first` on of z^k cos(2 pi k step), or by sines, with z = exp(2 pi i turn).
Number sum_of_waves(bool is_sine, std::int64_t first, std::int64_t count, long double turn, long double step) {
  const auto from = static_cast<long double>(first);
  const Number up = turned(from * (turn + step)) * geometric_sum(turn + step, count);
  const Number down = turned(from * (turn - step)) * geometric_sum(turn - step, count);
  return (is_sine ? Number(0, -1) * (up - down) : up + down) * 0.5L;
}

/// The same for half-complex numbers and Hartley's. Imaginary parts are sums by sines, of the wavenumbers above n / 2.
Number weight_of_wave(fft::RealKind kind, std::int64_t j, std::int64_t points, long double turn) {
  const long double step = static_cast<long double>(j) / static_cast<long double>(points);
  const std::int64_t real = points / 2 + 1;
  switch (kind) {
    case fft::RealKind::r2hc:
      return sum_of_waves(false, 0, real, turn, step) + sum_of_waves(true, real, points - real, turn, step);
    case fft::RealKind::hc2r:
      return sum_of_waves(j >= real, 0, points, turn, step) * (j == 0 || 2 * j == points ? 1.0L : 2.0L);
    default:
      return sum_of_waves(false, 0, points, turn, step) + sum_of_waves(true, 0, points, turn, step);
  }
}

/// The sum over modes k of z^k times what point `j` of `points` adds to mode k, with z = exp(2 pi i turn).
Number weight_of_point(fft::RealKind kind, std::int64_t j, std::int64_t points, long double turn) {
  if (kind >= fft::RealKind::r2hc) {
    return weight_of_wave(kind, j, points, turn);
  }
  const RealTransform& transform = real_transform(kind);
  const long double period = 2 * static_cast<long double>(points + transform.points_more);
  const long double step = (static_cast<long double>(j) + transform.point) / period;
  const Number up = turned(step * transform.mode) * geometric_sum(turn + step, points);
  const Number down = turned(-step * transform.mode) * geometric_sum(turn - step, points);
  const bool is_single = (transform.is_first_single && j == 0) || (transform.is_last_single && j == points - 1);
  return (transform.is_sine ? Number(0, -1) * (up - down) : up + down) * (is_single ? 0.5L : 1.0L);
}

template <class Weight>
Weights list(std::int64_t count, Weight weight) {
  Weights all;
  for (std::int64_t i = 0; i < count; ++i) {
    const Number each = weight(i);
    all.real.push_back(each.real());
    all.imaginary.push_back(each.imag());
  }
  return all;
}

/// Sums row by row along the part's innermost direction.
template <class Real>
Number project(const Distribution& part, const Real* numbers, int components, const std::array<Weights, 3>& weights) {
  const auto [slow, middle, fast] = part.order;
  const auto lower = [&](int d) { return static_cast<std::size_t>(part.box.lower[static_cast<std::size_t>(d)]); };
  const auto extent = [&](int d) { return static_cast<std::size_t>(part.box.extent[static_cast<std::size_t>(d)]); };
  const auto at = [&](int d, std::size_t i) {
    const Weights& of = weights[static_cast<std::size_t>(d)];
    return Number(of.real[lower(d) + i], of.imaginary[lower(d) + i]);
  };
  const Weights& along = weights[static_cast<std::size_t>(fast)];
  const Extents strides = part.strides();
  const auto stride = [&](int d) { return strides[static_cast<std::size_t>(d)] * components; };
  Number sum;
  for (std::size_t i = 0; i < extent(slow); ++i) {
    Number of_plane;
    for (std::size_t j = 0; j < extent(middle); ++j) {
      const Real* number =
          numbers + static_cast<std::int64_t>(i) * stride(slow) + static_cast<std::int64_t>(j) * stride(middle);
      long double real = 0;
      long double imaginary = 0;
      for (std::size_t k = 0; k < extent(fast); ++k) {
        const long double weight_real = along.real[lower(fast) + k];
        const long double weight_imaginary = along.imaginary[lower(fast) + k];
        const auto a = static_cast<long double>(number[0]);
        const auto b = components == 2 ? static_cast<long double>(number[1]) : 0.0L;
        number += components;
        real += weight_real * a - weight_imaginary * b;
        imaginary += weight_real * b + weight_imaginary * a;
      }
      of_plane += at(middle, j) * Number(real, imaginary);
    }
    sum += at(slow, i) * of_plane;
  }
  return sum;
}

template <class Real>
Projections all_of(const std::array<std::array<Weights, 3>, projections>& weights, const Distribution& part,
                   const Real* numbers, int components) {
  Projections sums;
  std::ranges::transform(weights, sums.begin(),
                         [&](const std::array<Weights, 3>& each) { return project(part, numbers, components, each); });
  return sums;
}

}  // namespace

Projector::Projector(const fft::Options& options)
    : field_components_(options.type == fft::Type::c2c ? 2 : 1),
      spectrum_components_(options.type == fft::Type::r2r ? 1 : 2) {
  const Extents modes = fft::spectrum_points(options);
  std::mt19937_64 random(20260101);  // the same on every rank and in every run
  for (std::size_t p = 0; p < projections; ++p) {
    for (std::size_t d = 0; d < 3; ++d) {
      const long double turn = static_cast<long double>(random()) * 0x1p-64L;
      const std::int64_t n = options.size[d];
      modes_[p][d] = list(modes[d], [&](std::int64_t k) { return turned(turn * static_cast<long double>(k)); });
      points_[p][d] = !options.along[d] ? modes_[p][d] : list(n, [&](std::int64_t j) {
        const auto kind = fft::real_kind(options, static_cast<int>(d));
        return kind ? weight_of_point(*kind, j, n, turn)
                    : geometric_sum(turn - static_cast<long double>(j) / static_cast<long double>(n), modes[d]);
      });
    }
  }
}

template <class Real>
Projections Projector::of_field(const Distribution& part, std::span<const Real> numbers) const {
  return all_of(points_, part, numbers.data(), field_components_);
}

template <class Real>
Projections Projector::of_spectrum(const Distribution& part, std::span<const Real> numbers) const {
  return all_of(modes_, part, numbers.data(), spectrum_components_);
}

template Projections Projector::of_field<float>(const Distribution&, std::span<const float>) const;
template Projections Projector::of_field<double>(const Distribution&, std::span<const double>) const;
template Projections Projector::of_spectrum<float>(const Distribution&, std::span<const float>) const;
template Projections Projector::of_spectrum<double>(const Distribution&, std::span<const double>) const;

}  // namespace penstock::field
