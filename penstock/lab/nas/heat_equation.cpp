#include "penstock/lab/nas/heat_equation.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace penstock::lab::nas {
namespace {

/// The part of `count` items that falls to `thread` of `threads`: from first to second.
std::pair<std::int64_t, std::int64_t> share(std::int64_t count, int thread, int threads) {
  return {count * thread / threads, count * (thread + 1) / threads};
}

/// What multiplies the Fourier modes 0 ... n-1 of one direction in one step: exp(-4 alpha pi^2 k^2), where the upper
/// half of the modes are the negative wavenumbers k.
std::vector<double> decay(std::int64_t n) {
  constexpr double alpha = 1e-6;
  std::vector<double> factors;
  for (std::int64_t mode = 0; mode < n; ++mode) {
    const auto k = static_cast<double>(mode < n / 2 ? mode : mode - n);
    factors.push_back(std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * k * k));
  }
  return factors;
}

/// Multiplies each number by `factor` and by the number in the same place of `factors`.
void scale(double* numbers, const double* factors, std::size_t count, double factor) {
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] *= factor * factors[i];
  }
}

}  // namespace

void HeatEquation::make_plan() {
  plan_.emplace(team_, options_);
  allocate();
}

void HeatEquation::set_up() {
  make_factors();
  locate_checksum_points();
  fill_initial_field();
}

// Bound by memory: 32 bytes of traffic and four multiplications per mode. The factors of a row, each there twice, for
// the real and the imaginary part, stay in the first-level cache; those of the other directions are one number per row.
void HeatEquation::evolve() {
  const fft::Distribution& modes = plan_->output();
  const fft::Box& box = modes.box;
  const auto slow = static_cast<std::size_t>(modes.order[0]);
  const auto middle = static_cast<std::size_t>(modes.order[1]);
  const std::int64_t rows_per_plane = box.extent[middle];
  const std::int64_t rows = box.extent[slow] * rows_per_plane;
  const std::size_t length = row_factors_.size();
  auto* numbers = reinterpret_cast<double*>(spectrum_.data());
  pool_->run([&](int thread) {
    const auto [first, last] = share(rows, thread, pool_->size());
    for (std::int64_t row = first; row < last; ++row) {
      const double factor = factors_[slow][static_cast<std::size_t>(row / rows_per_plane)] *
                            factors_[middle][static_cast<std::size_t>(row % rows_per_plane)];
      scale(numbers + static_cast<std::size_t>(row) * length, row_factors_.data(), length, factor);
    }
  });
}

HeatEquation::Complex HeatEquation::checksum() const {
  Complex mine = 0;
  for (const std::int64_t position : checksum_positions_) {
    mine += space_[static_cast<std::size_t>(position)];
  }
  const std::vector<Complex> all = team_.all_gather(mine);
  const auto [nx, ny, nz] = problem_.size;
  return std::accumulate(all.begin(), all.end(), Complex(0)) / static_cast<double>(nx * ny * nz);
}

void HeatEquation::allocate() {
  if (pool_) {
    return;
  }
  team_.together([&] {
    pool_.emplace(options_.threads);
    space_memory_ = Memory(static_cast<std::size_t>(plan_->input().box.count()) * sizeof(Complex));
    spectrum_memory_ = Memory(static_cast<std::size_t>(plan_->output().box.count()) * sizeof(Complex));
  });
  const auto view = [](const Memory& memory) {
    return std::span(reinterpret_cast<Complex*>(memory.data()), memory.size() / sizeof(Complex));
  };
  space_ = view(space_memory_);
  spectrum_ = view(spectrum_memory_);
}

void HeatEquation::make_factors() {
  const fft::Distribution& modes = plan_->output();
  const fft::Box& box = modes.box;
  for (std::size_t direction = 0; direction < 3; ++direction) {
    const std::vector<double> all = decay(problem_.size[direction]);
    const auto first = all.begin() + box.lower[direction];
    factors_[direction].assign(first, first + box.extent[direction]);
  }
  row_factors_.clear();
  for (const double factor : factors_[static_cast<std::size_t>(modes.order[2])]) {
    row_factors_.insert(row_factors_.end(), {factor, factor});
  }
}

void HeatEquation::locate_checksum_points() {
  const auto [nx, ny, nz] = problem_.size;
  const fft::Box& box = plan_->input().box;
  checksum_positions_.clear();
  for (std::int64_t j = 1; j <= 1024; ++j) {
    const fft::Extents point = {j % nx, 3 * j % ny, 5 * j % nz};
    bool is_mine = true;
    for (std::size_t direction = 0; direction < 3; ++direction) {
      const std::int64_t offset = point[direction] - box.lower[direction];
      is_mine = is_mine && offset >= 0 && offset < box.extent[direction];
    }
    if (is_mine) {
      checksum_positions_.push_back(plan_->input().position(point[0], point[1], point[2]));
    }
  }
}

// Two random numbers per point, counted through the array of the whole field, so that the field is the same on any
// number of ranks: each row looks up where it begins.
void HeatEquation::fill_initial_field() {
  const std::int64_t ny = problem_.size[1];
  const fft::Box& box = plan_->input().box;
  const std::int64_t row_numbers = 2 * box.extent[0];
  auto* numbers = reinterpret_cast<double*>(space_.data());
  pool_->run([&](int thread) {
    const auto [first, last] = share(box.extent[1] * box.extent[2], thread, pool_->size());
    for (std::int64_t row = first; row < last; ++row) {
      const std::int64_t y = box.lower[1] + row % box.extent[1];
      const std::int64_t z = box.lower[2] + row / box.extent[1];
      fill_random(static_cast<std::uint64_t>((z * ny + y) * row_numbers),
                  {numbers + row * row_numbers, static_cast<std::size_t>(row_numbers)});
    }
  });
}

}  // namespace penstock::lab::nas
