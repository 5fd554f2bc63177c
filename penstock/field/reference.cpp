#include "penstock/field/reference.hpp"

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::field {
namespace {

std::int64_t numbers_per_mode(fft::Type type) {
  return type == fft::Type::r2r ? 1 : 2;
}

/// The directions from the innermost on: the first one transformed, whose rows a real field's modes are longer than by
/// up to two numbers, then the others.
std::array<std::size_t, 3> nesting(const fft::Options& options) {
  const auto first =
      static_cast<std::size_t>(std::find(options.along.begin(), options.along.end(), true) - options.along.begin());
  return {first, first == 0 ? 1U : 0U, first == 2 ? 1U : 2U};
}

fftw_r2r_kind fftw_kind(fft::RealKind kind) {
  constexpr std::array kinds{FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11,
                             FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11};
  return kinds[static_cast<std::size_t>(kind)];
}

}  // namespace

std::uint64_t ReferenceSpectrum::bytes(const fft::Options& options) {
  const Extents points = fft::spectrum_points(options);
  return static_cast<std::uint64_t>(points[0] * points[1] * points[2] * numbers_per_mode(options.type)) *
         sizeof(double);
}

ReferenceSpectrum::ReferenceSpectrum(const fft::Options& options) : options_(options), memory_(bytes(options)) {
  const Extents points = fft::spectrum_points(options);
  const std::array<std::size_t, 3> nest = nesting(options);
  std::int64_t stride = numbers_per_mode(options.type);
  for (const std::size_t d : nest) {
    spectrum_strides_[d] = field_strides_[d] = stride;
    stride *= points[d];
  }
  // In place, so that rows of real points are as long as the rows of modes that they become.
  if (options.type == fft::Type::r2c) {
    field_strides_[nest[0]] = 1;
  }
}

template <class Real>
void ReferenceSpectrum::transform(const Source& source, int index) {
  const std::int64_t unit = numbers_per_mode(options_.type);
  const bool is_real = options_.type != fft::Type::c2c;
  std::vector<fftw_iodim> transformed, repeated;
  std::vector<fftw_r2r_kind> kinds;
  const std::array<std::size_t, 3> nest = nesting(options_);
  for (auto d = nest.rbegin(); d != nest.rend(); ++d) {
    const fftw_iodim dimension{static_cast<int>(options_.size[*d]),
                               static_cast<int>(field_strides_[*d] / (is_real ? 1 : unit)),
                               static_cast<int>(spectrum_strides_[*d] / unit)};
    (options_.along[*d] ? transformed : repeated).push_back(dimension);
    if (options_.along[*d]) {
      kinds.push_back(fftw_kind(options_.kinds[*d]));
    }
  }
  const auto rank = static_cast<int>(transformed.size());
  const auto repeats = static_cast<int>(repeated.size());
  auto* modes = reinterpret_cast<fftw_complex*>(numbers());
  // Other plans may be made at the same time. With one thread: setting more for the first time would make FFTW forget
  // the tables of the plans there are.
  fftw_make_planner_thread_safe();
  require_address_space(std::size_t{32} << 20);  // FFTW aborts where it gets no memory
  fftw_plan plan = nullptr;
  switch (options_.type) {
    case fft::Type::c2c:
      plan = fftw_plan_guru_dft(rank, transformed.data(), repeats, repeated.data(), modes, modes, FFTW_FORWARD,
                                FFTW_ESTIMATE);
      break;
    case fft::Type::r2c:
      plan =
          fftw_plan_guru_dft_r2c(rank, transformed.data(), repeats, repeated.data(), numbers(), modes, FFTW_ESTIMATE);
      break;
    case fft::Type::r2r:
      plan = fftw_plan_guru_r2r(rank, transformed.data(), repeats, repeated.data(), numbers(), numbers(), kinds.data(),
                                FFTW_ESTIMATE);
      break;
  }
  if (plan == nullptr) {
    throw Error("FFTW has no plan for the reference");
  }
  const auto [nx, ny, nz] = options_.size;
  const std::int64_t components = is_real ? 1 : 2;
  std::vector<Real> plane(static_cast<std::size_t>(nx * ny * components));
  for (std::int64_t z = 0; z < nz; ++z) {
    source.fill({{0, 0, z}, {nx, ny, 1}}, index, std::span<Real>(plane));
    auto number = plane.begin();
    for (std::int64_t y = 0; y < ny; ++y) {
      double* row = numbers() + z * field_strides_[2] + y * field_strides_[1];
      for (std::int64_t x = 0; x < nx; ++x) {
        for (std::int64_t c = 0; c < components; ++c) {
          row[x * field_strides_[0] + c] = static_cast<double>(*number++);
        }
      }
    }
  }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

std::complex<double> ReferenceSpectrum::at(const Extents& mode) const noexcept {
  const double* number =
      numbers() + mode[0] * spectrum_strides_[0] + mode[1] * spectrum_strides_[1] + mode[2] * spectrum_strides_[2];
  return {number[0], options_.type == fft::Type::r2r ? 0 : number[1]};
}

template void ReferenceSpectrum::transform<float>(const Source&, int);
template void ReferenceSpectrum::transform<double>(const Source&, int);

}  // namespace penstock::field
