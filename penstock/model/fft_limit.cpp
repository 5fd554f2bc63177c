// What a 3-D FFT costs at least.
#include "penstock/model/fft_limit.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::model {
namespace {

double points_of(const Fft& fft) noexcept {
  return static_cast<double>(fft.size[0]) * static_cast<double>(fft.size[1]) * static_cast<double>(fft.size[2]);
}

/// The bytes of all fields; a real field's spectrum is as large as the field, but for a plane.
double field_bytes(const Fft& fft) noexcept {
  return points_of(fft) * static_cast<double>(fft.real_bytes * (fft.is_real ? 1 : 2) * fft.fields);
}

}  // namespace

std::array<std::int64_t, 3> transformed_lengths(const Fft& fft) noexcept {
  auto lengths = fft.size;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    lengths[d] = fft.along[d] ? lengths[d] : 1;
  }
  return lengths;
}

namespace {

/// Of all fields, where the transforms along the directions that are counted have so many points together.
double flops_of(const Fft& fft, double transformed) noexcept {
  return 5 * points_of(fft) * std::log2(transformed) * (fft.is_real ? 0.5 : 1) * static_cast<double>(fft.fields);
}

}  // namespace

double fft_flops(const Fft& fft) noexcept {
  const auto [x, y, z] = transformed_lengths(fft);
  return flops_of(fft, static_cast<double>(x) * static_cast<double>(y) * static_cast<double>(z));
}

double fft_memory_bytes(const Fft& fft, std::int64_t cache_bytes) noexcept {
  const double bytes = field_bytes(fft);
  if (2 * bytes <= static_cast<double>(cache_bytes)) {
    return 0;
  }
  const auto lengths = transformed_lengths(fft);
  const auto directions = std::count_if(lengths.begin(), lengths.end(), [](std::int64_t n) { return n > 1; });
  const double passes = directions == 3 ? 2 : 1;
  return passes * 2 * bytes;
}

namespace {

double seconds_for(double amount, double rate) noexcept {
  return amount > 0 && rate > 0 ? amount / rate : 0;
}

}  // namespace

double FftLimit::limit_s() const noexcept {
  return std::max(memory_s, arithmetic_s);
}

FftLimit fft_limit(const Fft& fft, const Resources& resources) noexcept {
  return {.memory_s = seconds_for(fft_memory_bytes(fft, resources.cache_bytes), resources.memory_bandwidth_bytes_per_s),
          .arithmetic_s = seconds_for(fft_flops(fft), resources.fft_rate_flops)};
}

FftLimit fft_stage_limit(const Fft& fft, std::optional<std::size_t> along, double memory_bytes,
                         const Resources& resources) noexcept {
  const bool is_in_cache = fft_memory_bytes(fft, resources.cache_bytes) == 0;
  return {.memory_s = is_in_cache ? 0 : seconds_for(memory_bytes, resources.memory_bandwidth_bytes_per_s),
          .arithmetic_s =
              along ? seconds_for(flops_of(fft, static_cast<double>(fft.size[*along])), resources.fft_rate_flops) : 0};
}

}  // namespace penstock::model
