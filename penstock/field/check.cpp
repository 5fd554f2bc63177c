// The check of a transform: forward by random projections, and there and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "penstock/field/projections.hpp"

namespace penstock::field {
namespace {

/// Sums of squares that make up a relative error. What is not a number is an infinite error.
struct ErrorSums {
  double difference = 0;
  double reference = 0;
  double relative() const {
    const double error = reference > 0 ? std::sqrt(difference / reference) : std::sqrt(difference);
    return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
};

/// Collective.
double relative_error(const gas::Team& team, const ErrorSums& mine) {
  ErrorSums all;
  for (const ErrorSums& sums : team.all_gather(mine)) {
    all.difference += sums.difference;
    all.reference += sums.reference;
  }
  return all.relative();
}

/// Collective: transforms the fields forward; the error of the spectrum, as its projections beside the field's tell it.
template <class Real>
double forward_error(const gas::Team& team, Fields<Real>& fields, fft::Scaling scaling) {
  const fft::Options& options = fields.options();
  std::optional<Projector> projector;
  std::vector<Projections> of_fields;
  team.together([&] {
    projector.emplace(options);
    for (int i = 0; i < options.batch; ++i) {
      of_fields.push_back(projector->of_field<Real>(fields.input(), fields.numbers(i)));
    }
  });
  fields.forward(scaling);
  const auto scale = static_cast<long double>(fft::factor_of(scaling, options));
  double worst = 0;
  for (int i = 0; i < options.batch; ++i) {
    const std::span<const Real> spectrum = fields.spectrum_numbers(i);
    Projections differences = projector->of_spectrum<Real>(fields.output(), spectrum);
    for (std::size_t p = 0; p < projections; ++p) {
      differences[p] -= scale * of_fields[static_cast<std::size_t>(i)][p];
    }
    ErrorSums sums;
    for (const Real number : spectrum) {
      sums.reference += static_cast<double>(number) * static_cast<double>(number);
    }
    Projections all;
    for (const Projections& of_rank : team.all_gather(differences)) {
      for (std::size_t p = 0; p < projections; ++p) {
        all[p] += of_rank[p];
      }
    }
    for (std::size_t p = 0; p < projections && team.rank() == 0; ++p) {
      sums.difference += static_cast<double>(std::norm(all[p])) / projections;
    }
    worst = std::max(worst, relative_error(team, sums));
  }
  return worst;
}

/// Compares the fields in real space with `source`, a plane at a time.
template <class Real>
double error_beside_source(const gas::Team& team, Fields<Real>& fields, const Source& source) {
  const fft::Box& box = fields.input().box;
  double worst = 0;
  for (int i = 0; i < fields.options().batch; ++i) {
    ErrorSums sums;
    team.together([&] {
      const std::span<const Real> found = fields.numbers(i);
      const auto planes = static_cast<std::size_t>(std::max<std::int64_t>(box.extent[2], 1));
      std::vector<Real> expected(found.size() / planes);
      fft::Box plane = box;
      plane.extent[2] = 1;
      for (std::size_t z = 0; z < planes && !expected.empty(); ++z, ++plane.lower[2]) {
        source.fill(plane, i, std::span<Real>(expected));
        for (std::size_t j = 0; j < expected.size(); ++j) {
          const double value = static_cast<double>(expected[j]);
          const double difference = static_cast<double>(found[z * expected.size() + j]) - value;
          sums.difference += difference * difference;
          sums.reference += value * value;
        }
      }
    });
    worst = std::max(worst, relative_error(team, sums));
  }
  return worst;
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
double tolerance(const Extents& size) noexcept {
  const double points = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  return (sizeof(Real) == 8 ? 1e-15 : 6e-7) * std::max(1.0, std::log2(points));
}
#pragma GCC visibility pop

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
double check(const gas::Team& team, Fields<Real>& fields, const Source& source, fft::Scaling scaling) {
  team.agree_on("check", fmt::format("scaling {}", static_cast<int>(scaling)));
  fields.fill(source);
  const double forward = forward_error(team, fields, scaling);
  fields.backward(inverse(scaling));
  return std::max(forward, error_beside_source(team, fields, source));
}
#pragma GCC visibility pop

template double tolerance<float>(const Extents&) noexcept;
template double tolerance<double>(const Extents&) noexcept;
template double check<float>(const gas::Team&, Fields<float>&, const Source&, fft::Scaling);
template double check<double>(const gas::Team&, Fields<double>&, const Source&, fft::Scaling);

}  // namespace penstock::field
