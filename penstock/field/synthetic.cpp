// Fields that can be computed anywhere: noise and plane waves.
#include <cmath>
#include <numbers>
#include <utility>

#include "penstock/field/field.hpp"
#include "penstock/field/walk.hpp"

namespace penstock::field {
namespace {

/// A number in [-1, 1) that depends on `index` alone (SplitMix64's finaliser; Steele, Lea, Flood 2014).
double noise(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

class Noise final : public Source {
 public:
  Noise(const Extents& size, fft::Type type) : size_(size), type_(type) {}
  void fill(const fft::Box& box, int index, std::span<float> numbers) const override { fill_as(box, index, numbers); }
  void fill(const fft::Box& box, int index, std::span<double> numbers) const override { fill_as(box, index, numbers); }

 private:
  template <class Real>
  void fill_as(const fft::Box& box, int index, std::span<Real> numbers) const {
    const std::size_t components = type_ == fft::Type::c2c ? 2 : 1;
    const std::uint64_t seed = static_cast<std::uint64_t>(index) * 0x100000001U;  // fields shifted far apart
    for_each_point({box, {2, 1, 0}}, [&](std::size_t position, const Extents& p) {
      const auto point = static_cast<std::uint64_t>((p[2] * size_[1] + p[1]) * size_[0] + p[0]);
      for (std::size_t c = 0; c < components; ++c) {
        numbers[position * components + c] = static_cast<Real>(noise(2 * point + c + seed));
      }
    });
  }
  Extents size_;
  fft::Type type_;
};

class Waves final : public Source {
 public:
  Waves(const Extents& size, fft::Type type, std::vector<Wave> waves) : type_(type), waves_(std::move(waves)) {
    for (const Wave& wave : waves_) {
      auto& phases = phases_.emplace_back();
      for (std::size_t d = 0; d < 3; ++d) {
        const auto n = static_cast<double>(size[d]);
        for (std::int64_t i = 0; i < size[d]; ++i) {
          // The product of two numbers below n <= 2^31 fits.
          const auto turn = static_cast<double>(wave.wavenumber[d] % size[d] * i % size[d]) / n;
          phases[d].push_back(std::polar(1.0, 2 * std::numbers::pi * turn));
        }
      }
    }
  }
  void fill(const fft::Box& box, int, std::span<float> numbers) const override { fill_as(box, numbers); }
  void fill(const fft::Box& box, int, std::span<double> numbers) const override { fill_as(box, numbers); }

 private:
  template <class Real>
  void fill_as(const fft::Box& box, std::span<Real> numbers) const {
    for_each_point({box, {2, 1, 0}}, [&](std::size_t position, const Extents& p) {
      std::complex<double> value;
      for (std::size_t w = 0; w < waves_.size(); ++w) {
        const auto& [x, y, z] = phases_[w];
        value += waves_[w].amplitude * x[static_cast<std::size_t>(p[0])] * y[static_cast<std::size_t>(p[1])] *
                 z[static_cast<std::size_t>(p[2])];
      }
      if (type_ == fft::Type::c2c) {
        numbers[2 * position] = static_cast<Real>(value.real());
        numbers[2 * position + 1] = static_cast<Real>(value.imag());
      } else {
        numbers[position] = static_cast<Real>(value.real());
      }
    });
  }
  fft::Type type_;
  std::vector<Wave> waves_;
  std::vector<std::array<std::vector<std::complex<double>>, 3>> phases_;  // by wave, direction, index
};

}  // namespace

std::unique_ptr<Source> make_noise(const Extents& size, fft::Type type) {
  return std::make_unique<Noise>(size, type);
}

std::unique_ptr<Source> make_waves(const Extents& size, fft::Type type, std::vector<Wave> waves) {
  return std::make_unique<Waves>(size, type, std::move(waves));
}

}  // namespace penstock::field
