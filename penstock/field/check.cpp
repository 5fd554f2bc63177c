// Checks of transforms: beside FFTW in one process, beside plane waves whose spectrum is known, and there and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "penstock/base/base.hpp"
#include "penstock/field/field.hpp"
#include "penstock/field/reference.hpp"
#include "penstock/field/walk.hpp"

namespace penstock::field {
namespace {

/// Sums of squares that make up a relative error.
struct ErrorSums {
  double difference = 0;
  double reference = 0;
  double relative() const { return reference > 0 ? std::sqrt(difference / reference) : std::sqrt(difference); }
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

/// Brings the parts of all ranks to rank 0 piece by piece, over any transport.
class Collector {
 public:
  explicit Collector(const gas::Team& team)
      : team_(team), segment_(team, team.rank() == 0 && team.size() > 1 ? piece_bytes : 0, 1) {}

  /// Collective: rank 0 gets each rank's `mine` in pieces through take(rank, bytes before the piece, piece).
  template <class Take>
  void collect(std::span<const std::byte> mine, Take take) {
    const auto sizes = team_.all_gather(mine.size());
    if (team_.rank() == 0) {
      take(0, 0, mine);
      for (int rank = 1; rank < team_.size(); ++rank) {
        const std::size_t bytes = sizes[static_cast<std::size_t>(rank)];
        for (std::size_t offset = 0; offset < bytes; offset += piece_bytes) {
          segment_.notify(rank, 0);
          segment_.wait(0, ++arrived_);
          take(rank, offset, segment_.local().first(std::min(piece_bytes, bytes - offset)));
        }
      }
    } else {
      for (std::size_t offset = 0; offset < mine.size(); offset += piece_bytes) {
        segment_.wait(0, ++arrived_);  // rank 0 has room
        segment_.put_signal(gas::Pointer<>{0, 0}, mine.subspan(offset, std::min(piece_bytes, mine.size() - offset)), 0);
      }
    }
    team_.barrier();  // which does not serve puts: all have arrived
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{4} << 20;
  const gas::Team& team_;
  gas::Segment segment_;
  std::uint64_t arrived_ = 0;
};

template <class Real>
double error_beside_fftw(const gas::Team& team, Fields<Real>& fields, const Source& source, fft::Scaling scaling) {
  const fft::Options& options = fields.options();
  std::optional<ReferenceSpectrum> reference;
  team.together([&] {
    if (team.rank() == 0) {
      reference.emplace(options);
    }
  });
  fields.fill(source);
  fields.forward(scaling);
  Collector collector(team);
  const auto parts = team.all_gather(fields.plan().output());
  const double scale = fft::factor_of(scaling, options);
  const std::size_t components = options.type == fft::Type::r2r ? 1 : 2;
  double worst = 0;
  for (int i = 0; i < options.batch; ++i) {
    team.together([&] {
      if (reference) {
        reference->transform<Real>(source, i);
      }
    });
    ErrorSums sums;
    collector.collect(std::as_bytes(std::span<const Real>(fields.spectrum_numbers(i))),
                      [&](int rank, std::size_t offset, std::span<const std::byte> bytes) {
                        const auto* found = reinterpret_cast<const Real*>(bytes.data());
                        const std::size_t mode_bytes = components * sizeof *found;
                        const std::size_t first = offset / mode_bytes;
                        for_each_point(parts[static_cast<std::size_t>(rank)], static_cast<std::int64_t>(first),
                                       static_cast<std::int64_t>(bytes.size() / mode_bytes),
                                       [&](std::size_t position, const Extents& mode) {
                                         const auto expected = reference->at(mode) * scale;
                                         const Real* number = found + (position - first) * components;
                                         const std::complex<double> value(number[0], components == 2 ? number[1] : 0);
                                         sums.difference += std::norm(value - expected);
                                         sums.reference += std::norm(expected);
                                       });
                      });
    worst = std::max(worst, relative_error(team, sums));
  }
  return worst;
}

/// A few waves that cross all directions, with wavenumbers near 0, in between, and at the highest.
std::vector<Wave> waves_for(const Extents& size) {
  const auto [nx, ny, nz] = size;
  return {{{1 % nx, 2 % ny, 3 % nz}, {1.0, 0.5}},
          {{nx / 2, ny / 3, nz / 5}, {-0.25, 2.0}},
          {{nx - 1, ny / 2, 0}, {0.75, -1.5}},
          {{nx / 3, ny - 1, nz / 2}, {-2.0, -0.125}}};
}

template <class Real>
double error_beside_waves(const gas::Team& team, Fields<Real>& fields, fft::Scaling scaling) {
  const fft::Options& options = fields.options();
  const std::vector<Wave> waves = waves_for(options.size);
  fields.fill(*make_waves(options.size, options.type, waves));
  fields.forward(scaling);
  const Distribution& part = fields.plan().output();
  const double scale =
      fft::factor_of(scaling, options) / fft::factor_of(fft::Scaling::full, options);  // N for a spectrum not scaled
  // A complex wave is one mode; the real part of one is half of it and half of its mirror image.
  std::vector<Wave> modes;
  for (const Wave& wave : waves) {
    if (options.type == fft::Type::c2c) {
      modes.push_back({wave.wavenumber, wave.amplitude * scale});
    } else {
      Wave mirror{{}, std::conj(wave.amplitude) * scale / 2.0};
      for (std::size_t d = 0; d < 3; ++d) {
        mirror.wavenumber[d] = (options.size[d] - wave.wavenumber[d]) % options.size[d];
      }
      modes.push_back({wave.wavenumber, wave.amplitude * scale / 2.0});
      modes.push_back(mirror);
    }
  }
  double worst = 0;
  for (int i = 0; i < options.batch; ++i) {
    const auto spectrum = fields.spectrum(i);
    ErrorSums sums;
    for_each_point(part, [&](std::size_t position, const Extents& mode) {
      std::complex<double> expected;
      for (const Wave& wave : modes) {
        if (wave.wavenumber == mode) {
          expected += wave.amplitude;
        }
      }
      sums.difference += std::norm(std::complex<double>(spectrum[position]) - expected);
      sums.reference += std::norm(expected);
    });
    worst = std::max(worst, relative_error(team, sums));
  }
  return worst;
}

/// Compares the fields in real space with `source`, a plane at a time.
template <class Real>
double error_beside_source(const gas::Team& team, Fields<Real>& fields, const Source& source) {
  const fft::Box& box = fields.plan().input().box;
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

/// Collective: whether the reference fits on rank 0's node beside what this run has there.
template <class Real>
bool has_room(const gas::Team& team, Fields<Real>& fields, std::uint64_t budget_bytes) {
  const std::uint64_t taken =
      (fields.memory().size() + fields.plan().memory().total_bytes()) * static_cast<std::uint64_t>(team.size());
  const std::uint64_t room =
      budget_bytes == 0 ? available_memory_bytes() : budget_bytes - std::min(budget_bytes, taken);
  const bool has = ReferenceSpectrum::bytes(fields.options()) <= room / 10 * 9;
  return team.all_gather(has ? 1 : 0).front() == 1;
}

std::string wants_more(const fft::Options& options) {
  return fmt::format("the reference by FFTW wants {} more on the node of rank 0 than there is",
                     format_bytes(ReferenceSpectrum::bytes(options)));
}

/// Whether a plane wave becomes a single mode.
bool suits_waves(const fft::Options& options) {
  return options.type != fft::Type::r2r && options.along == std::array{true, true, true};
}

}  // namespace

template <class Real>
double tolerance(const Extents& size) noexcept {
  const double points = static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  return (sizeof(Real) == 8 ? 1e-15 : 6e-7) * std::max(1.0, std::log2(points));
}

template <class Real>
Check check(const gas::Team& team, Fields<Real>& fields, const Source& source, fft::Scaling scaling,
            Reference reference, std::uint64_t budget_bytes) {
  team.agree_on("check",
                fmt::format("reference {}, scaling {}", static_cast<int>(reference), static_cast<int>(scaling)));
  Check check{.reference = reference};
  if (reference != Reference::waves) {
    const bool has = has_room(team, fields, budget_bytes);
    if (!has && reference == Reference::fftw) {
      throw Error(fmt::format("{}: check with plane waves", wants_more(fields.options())));
    }
    check.reference = has ? Reference::fftw : Reference::waves;
  }
  if (check.reference == Reference::waves && !suits_waves(fields.options())) {
    throw Error(fmt::format("{}: plane waves check the types c2c and r2c along all directions only",
                            reference == Reference::waves ? "there is no check of this transform by plane waves"
                                                          : wants_more(fields.options())));
  }
  if (check.reference == Reference::fftw) {
    check.relative_error = error_beside_fftw(team, fields, source, scaling);
  } else {
    check.relative_error = error_beside_waves(team, fields, scaling);
    fields.fill(source);
    fields.forward(scaling);
  }
  fields.backward(inverse(scaling));
  check.relative_error = std::max(check.relative_error, error_beside_source(team, fields, source));
  return check;
}

template double tolerance<float>(const Extents&) noexcept;
template double tolerance<double>(const Extents&) noexcept;
template Check check<float>(const gas::Team&, Fields<float>&, const Source&, fft::Scaling, Reference, std::uint64_t);
template Check check<double>(const gas::Team&, Fields<double>&, const Source&, fft::Scaling, Reference, std::uint64_t);

}  // namespace penstock::field
