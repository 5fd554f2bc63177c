#include "penstock/field/reference.hpp"

#include <fftw3.h>

#include <vector>

#include "penstock/base/base.hpp"

namespace penstock::field {

std::uint64_t ReferenceSpectrum::bytes(const Extents& size, fft::Type type) {
  const std::int64_t modes_x = type == fft::Type::r2c ? size[0] / 2 + 1 : size[0];
  return static_cast<std::uint64_t>(modes_x * size[1] * size[2]) * sizeof(std::complex<double>);
}

ReferenceSpectrum::ReferenceSpectrum(const Extents& size, fft::Type type)
    : size_(size),
      type_(type),
      modes_x_(type == fft::Type::r2c ? size[0] / 2 + 1 : size[0]),
      memory_(bytes(size, type)) {}

template <class Real>
void ReferenceSpectrum::transform(const Source& source, int index) {
  const auto nx = static_cast<int>(size_[0]);
  const auto ny = static_cast<int>(size_[1]);
  const auto nz = static_cast<int>(size_[2]);
  auto* data = reinterpret_cast<fftw_complex*>(memory_.data());
  auto* numbers = reinterpret_cast<double*>(memory_.data());
  // Other plans may be made at the same time. With one thread: setting more for the first time would make FFTW forget
  // the tables of the plans there are.
  fftw_make_planner_thread_safe();
  fftw_plan plan = type_ == fft::Type::r2c ? fftw_plan_dft_r2c_3d(nz, ny, nx, numbers, data, FFTW_ESTIMATE)
                                           : fftw_plan_dft_3d(nz, ny, nx, data, data, FFTW_FORWARD, FFTW_ESTIMATE);
  if (plan == nullptr) {
    throw Error("FFTW has no plan for the reference");
  }
  // In place, so that rows of real points are as long as the rows of modes that they become.
  const auto row_numbers = static_cast<std::size_t>(type_ == fft::Type::r2c ? nx : 2 * nx);
  const auto row_pitch = static_cast<std::size_t>(2 * modes_x_);
  std::vector<Real> plane(row_numbers * static_cast<std::size_t>(ny));
  for (std::int64_t z = 0; z < nz; ++z) {
    source.fill({{0, 0, z}, {size_[0], size_[1], 1}}, index, std::span<Real>(plane));
    for (std::size_t y = 0; y < static_cast<std::size_t>(ny); ++y) {
      double* row = numbers + (static_cast<std::size_t>(z * ny) + y) * row_pitch;
      for (std::size_t i = 0; i < row_numbers; ++i) {
        row[i] = static_cast<double>(plane[y * row_numbers + i]);
      }
    }
  }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
}

template void ReferenceSpectrum::transform<float>(const Source&, int);
template void ReferenceSpectrum::transform<double>(const Source&, int);

}  // namespace penstock::field
