// A field that every rank can compute anywhere, and its transform by FFTW in one process: what ours is compared with.
#pragma once

#include <fftw3.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "penstock/fft/fft.hpp"

namespace penstock::fft {

/// A number in [-1, 1) that depends on `index` alone (SplitMix64's finaliser).
inline double noise(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

/// The values of a random field at every point of a box, in the order of `distribution`; rounded to Real.
template <class Real>
std::vector<std::complex<Real>> make_field(const Extents& size, const Distribution& distribution, Type type,
                                           std::uint64_t seed) {
  const Box& box = distribution.box;
  std::vector<std::complex<Real>> field(static_cast<std::size_t>(box.count()));
  for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
    for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
      for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
        const auto index = static_cast<std::uint64_t>((z * size[1] + y) * size[0] + x) * 2 + seed * 0x100000001U;
        field[static_cast<std::size_t>(distribution.position(x, y, z))] = {
            static_cast<Real>(noise(index)), type == Type::r2c ? Real{0} : static_cast<Real>(noise(index + 1))};
      }
    }
  }
  return field;
}

/// The whole field's transform in double precision, [z][y][x] with all nx coefficients.
template <class Real>
std::vector<std::complex<double>> transform_with_fftw(const Extents& size, Type type, std::uint64_t seed, int sign) {
  const Distribution whole{{{0, 0, 0}, size}, {2, 1, 0}};
  const auto field = make_field<Real>(size, whole, type, seed);
  std::vector<std::complex<double>> spectrum(field.begin(), field.end());
  auto* data = reinterpret_cast<fftw_complex*>(spectrum.data());
  fftw_plan plan = fftw_plan_dft_3d(static_cast<int>(size[2]), static_cast<int>(size[1]), static_cast<int>(size[0]),
                                    data, data, sign, FFTW_ESTIMATE);
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return spectrum;
}

/// Sums of squares that make up a relative error.
struct ErrorSums {
  double difference = 0;
  double reference = 0;
  double relative() const { return reference > 0 ? std::sqrt(difference / reference) : std::sqrt(difference); }
};

/// Compares a rank's part of a field with the whole reference.
template <class Real>
ErrorSums compare(const Extents& size, const Distribution& distribution, const std::complex<Real>* part,
                  const std::vector<std::complex<double>>& reference, double factor) {
  ErrorSums sums;
  const Box& box = distribution.box;
  for (std::int64_t z = box.lower[2]; z < box.lower[2] + box.extent[2]; ++z) {
    for (std::int64_t y = box.lower[1]; y < box.lower[1] + box.extent[1]; ++y) {
      for (std::int64_t x = box.lower[0]; x < box.lower[0] + box.extent[0]; ++x) {
        const auto expected = reference[static_cast<std::size_t>((z * size[1] + y) * size[0] + x)] * factor;
        const std::complex<double> found(part[distribution.position(x, y, z)]);
        sums.difference += std::norm(found - expected);
        sums.reference += std::norm(expected);
      }
    }
  }
  return sums;
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

/// Runs forward and then backward with `options` on fields of noise; collective. Returns the larger of the forward
/// error against FFTW and the error of what comes back, and checks that the input was left alone.
template <class Real>
double worst_error(const gas::Team& team, const Options& options, Scaling scaling = Scaling::none,
                   bool is_in_place = false) {
  using Complex = std::complex<Real>;
  Plan<Real> plan(team, options);
  const auto fields = static_cast<std::size_t>(options.batch);
  const auto in_count = static_cast<std::size_t>(plan.input().box.count());
  const bool is_real = options.type == Type::r2c;
  const double points = static_cast<double>(options.size[0]) * static_cast<double>(options.size[1]) *
                        static_cast<double>(options.size[2]);
  const double factor = scaling == Scaling::none        ? 1
                        : scaling == Scaling::symmetric ? 1 / std::sqrt(points)
                                                        : 1 / points;
  const Scaling scaling_back = scaling == Scaling::none   ? Scaling::full
                               : scaling == Scaling::full ? Scaling::none
                                                          : scaling;

  const auto stride = static_cast<std::size_t>(plan.output_stride());
  const auto real_stride = static_cast<std::size_t>(plan.input_stride());  // of real numbers, for real input
  std::vector<std::vector<Complex>> in;
  for (std::size_t i = 0; i < fields; ++i) {
    in.push_back(make_field<Real>(options.size, plan.input(), options.type, i));
  }
  std::vector<Complex> memory(stride * fields + 1, Complex(-7, 7));
  std::vector<Complex> other(is_in_place ? 0 : memory.size(), Complex(-7, 7));
  const std::span<Complex> spectrum = std::span(memory).first(stride * fields);
  const std::span<Complex> space(is_in_place ? memory.data() : other.data(), stride * fields);
  const std::span<Real> real_space(reinterpret_cast<Real*>(space.data()), is_real ? real_stride * fields : 0);
  const auto value = [&](std::size_t field, std::size_t i) {
    return is_real ? Complex(real_space[field * real_stride + i], 0) : space[field * stride + i];
  };
  double worst = 0;
  for (int round = 0; round < 2; ++round) {  // the second run meets buffers that were used
    for (std::size_t field = 0; field < fields; ++field) {
      for (std::size_t i = 0; i < in_count; ++i) {
        if (is_real) {
          real_space[field * real_stride + i] = in[field][i].real();
        } else {
          space[field * stride + i] = in[field][i];
        }
      }
    }
    if (is_real) {
      plan.forward(std::span<const Real>(real_space), spectrum, scaling);
    } else {
      plan.forward(std::span<const Complex>(space), spectrum, scaling);
    }
    for (std::size_t field = 0; field < fields; ++field) {
      const auto reference = transform_with_fftw<Real>(options.size, options.type, field, FFTW_FORWARD);
      const auto sums = compare(options.size, plan.output(), spectrum.data() + field * stride, reference, factor);
      worst = std::max(worst, relative_error(team, sums));
      for (std::size_t i = 0; i < in_count && !is_in_place; ++i) {
        worst = value(field, i) == in[field][i] ? worst : 1e9;
      }
    }
    if (is_real) {
      plan.backward(std::span<const Complex>(spectrum), real_space, scaling_back);
    } else {
      plan.backward(std::span<const Complex>(spectrum), space, scaling_back);
    }
    ErrorSums back;
    for (std::size_t field = 0; field < fields; ++field) {
      for (std::size_t i = 0; i < in_count; ++i) {
        back.difference += std::norm(std::complex<double>(value(field, i)) - std::complex<double>(in[field][i]));
        back.reference += std::norm(std::complex<double>(in[field][i]));
      }
    }
    worst = std::max(worst, relative_error(team, back));
  }
  if (memory.back() != Complex(-7, 7)) {
    return 1e9;  // something was written behind the end
  }
  return worst;
}

}  // namespace penstock::fft
