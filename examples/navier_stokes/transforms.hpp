// Velocity and its kin as fields of three components, and their transforms between space and spectrum.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <penstock/base/memory.hpp>
#include <penstock/fft/fft.hpp>
#include <penstock/gas/gas.hpp>
#include <span>
#include <vector>

namespace navier_stokes {

using Complex = std::complex<double>;

/// This rank's part of three components, in space or as spectra: one block of memory for both. Movable, not copyable.
class VectorField {
 public:
  /// `stride_bytes` from one component to the next, of which `points` real numbers or `modes` complex ones are used.
  VectorField(std::size_t stride_bytes, std::size_t points, std::size_t modes)
      : memory_(3 * stride_bytes), stride_bytes_(stride_bytes), points_(points), modes_(modes) {}

  std::span<double> space(int component) const { return {reinterpret_cast<double*>(begin(component)), points_}; }
  std::span<Complex> spectrum(int component) const { return {reinterpret_cast<Complex*>(begin(component)), modes_}; }
  /// A component and those after it, with what lies between them, as a plan takes a batch.
  std::span<double> spaces_from(int component) const { return rest<double>(component); }
  std::span<Complex> spectra_from(int component) const { return rest<Complex>(component); }

 private:
  template <class Element>
  std::span<Element> rest(int component) const {
    const std::size_t bytes = memory_.size() - static_cast<std::size_t>(component) * stride_bytes_;
    return {reinterpret_cast<Element*>(begin(component)), bytes / sizeof(Element)};
  }
  std::byte* begin(int component) const { return memory_.data() + static_cast<std::size_t>(component) * stride_bytes_; }
  penstock::Memory memory_;
  std::size_t stride_bytes_;
  std::size_t points_;
  std::size_t modes_;
};

/// Transforms of vector fields of n^3 points and the modes that they keep (modes.hpp) over the ranks of a team, and the
/// time that they took. Its members are collective.
///
/// Where peers share memory, a plan transforms the components one after the other, and its exchange memory stays in
/// cache. Through a network they are transformed at the same time, by a plan each, so that one computes while another
/// is on the wire (docs/decisions/distributed-transforms.md).
class Transforms {
 public:
  Transforms(const penstock::gas::Team& team, std::int64_t n, int threads, penstock::fft::Effort effort);

  /// The points and the wavenumbers of this rank. Local.
  const penstock::fft::Distribution& points() const { return plans_.front().input(); }
  const penstock::fft::Distribution& modes() const { return plans_.front().output(); }
  /// The bytes of a field on this rank, and a field of zeros. Local; throws penstock::Error where there is no memory.
  std::size_t field_bytes() const;
  VectorField make_field() const;

  /// The velocity at the points from its spectrum.
  void to_space(const VectorField& spectrum, VectorField& space);
  /// The spectrum from the values at the points, in place; mode 0 is the mean.
  void to_spectrum(VectorField& field);

  /// Seconds in the two calls above since the making, and where they went. Local.
  const penstock::fft::Breakdown& spent() const { return spent_; }
  /// How many components are transformed at the same time: 1 or 3. Local.
  int in_flight() const { return static_cast<int>(plans_.size()); }

 private:
  template <class Start>
  void run(const Start& start);

  std::vector<penstock::fft::Plan<double>> plans_;  // one of a batch of three, or three
  penstock::fft::Breakdown spent_{};
};

}  // namespace navier_stokes
