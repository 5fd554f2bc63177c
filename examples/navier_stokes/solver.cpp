#include "solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace navier_stokes {
namespace {

using penstock::gas::Team;

/// A complex vector: one mode of a field.
using Mode = std::array<Complex, 3>;

Mode mode_of(const VectorField& field, std::size_t at) {
  return {field.spectrum(0)[at], field.spectrum(1)[at], field.spectrum(2)[at]};
}

void set_mode(const VectorField& field, std::size_t at, const Mode& mode) {
  for (int c = 0; c < 3; ++c) {
    field.spectrum(c)[at] = mode[static_cast<std::size_t>(c)];
  }
}

Mode sum_of(const Mode& a, double factor, const Mode& b) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]};
}

Complex times_i(Complex a) {
  return {-a.imag(), a.real()};
}

/// The part of a mode that is free of divergence: the pressure takes the rest.
Mode without_divergence(const Mode& mode, const Vector& k, double k2) {
  if (k2 == 0) {
    return mode;
  }
  const Complex share = (k[0] * mode[0] + k[1] * mode[1] + k[2] * mode[2]) / k2;
  return {mode[0] - k[0] * share, mode[1] - k[1] * share, mode[2] - k[2] * share};
}

/// Calls `visit(place, k, k2)` for each mode of a row.
template <class Visit>
void for_each_mode(const Modes& modes, const Modes::Row& row, const Visit& visit) {
  const double across2 = row.kx * row.kx + row.ky * row.ky;
  for (std::size_t z = 0; z < modes.kz().size(); ++z) {
    const double kz = modes.kz()[z];
    visit(row.begin + z, Vector{row.kx, row.ky, kz}, across2 + kz * kz);
  }
}

/// Calls `visit(place, point)` for each point of a part of the cube.
template <class Visit>
void for_each_point(const penstock::fft::Distribution& part, std::int64_t n, const Visit& visit) {
  const double h = 2 * std::numbers::pi / static_cast<double>(n);
  const auto& [lower, extent] = part.box;
  for (std::int64_t z = lower[2]; z < lower[2] + extent[2]; ++z) {
    for (std::int64_t y = lower[1]; y < lower[1] + extent[1]; ++y) {
      for (std::int64_t x = lower[0]; x < lower[0] + extent[0]; ++x) {
        visit(static_cast<std::size_t>(part.position(x, y, z)),
              Vector{h * static_cast<double>(x), h * static_cast<double>(y), h * static_cast<double>(z)});
      }
    }
  }
}

}  // namespace

Solver::Fields Solver::make_fields(const Team& team, const Transforms& transforms) {
  team.require_memory("the velocity and its stages", 5 * transforms.field_bytes(), 0);
  std::optional<Fields> fields;
  team.together([&] {
    fields.emplace(Fields{.velocity = transforms.make_field(),
                          .stage = transforms.make_field(),
                          .end = transforms.make_field(),
                          .at_points = transforms.make_field(),
                          .product = transforms.make_field()});
  });
  return std::move(*fields);
}

Solver::Solver(const Team& team, const Parameters& parameters, int threads, penstock::fft::Effort effort)
    : team_(team),
      n_(parameters.n),
      nu_(1 / parameters.reynolds),
      dt_(parameters.dt),
      transforms_(team, n_, threads, effort),
      modes_(n_, transforms_.modes()),
      pool_(threads),
      fields_(make_fields(team, transforms_)),
      of_rows_(modes_.rows().size()) {}

template <class Work>
void Solver::for_each(std::size_t items, const Work& work) {
  const auto threads = static_cast<std::size_t>(pool_.size());
  pool_.run([&](int index) {
    const auto thread = static_cast<std::size_t>(index);
    for (std::size_t item = items * thread / threads; item < items * (thread + 1) / threads; ++item) {
      work(item);
    }
  });
}

Sample Solver::begin(const std::function<Vector(const Vector&)>& velocity) {
  for_each_point(transforms_.points(), n_, [&](std::size_t at, const Vector& point) {
    const Vector value = velocity(point);
    for (int c = 0; c < 3; ++c) {
      fields_.product.space(c)[at] = value[static_cast<std::size_t>(c)];
    }
  });
  transforms_.to_spectrum(fields_.product);
  const auto& rows = modes_.rows();
  for_each(rows.size(), [&](std::size_t i) {
    for_each_mode(modes_, rows[i], [&](std::size_t at, const Vector& k, double k2) {
      set_mode(fields_.velocity, at, without_divergence(mode_of(fields_.product, at), k, k2));
    });
    of_rows_[i] = energies_of(fields_.velocity, rows[i]);
  });
  begin_again();
  const Energies mine = sum_of_rows();
  std::array<double, 2> sums{mine.energy, mine.enstrophy};
  penstock::gas::all_reduce<double>(team_, sums, std::span(sums), penstock::gas::Sum{});
  return {.energy = sums[0], .enstrophy = sums[1], .dissipated = 0};
}

void Solver::begin_again() {
  std::ranges::copy(fields_.velocity.spectra_from(0), fields_.stage.spectra_from(0).begin());
}

Sample Solver::step(const Sample& now) {
  // The enstrophies of stages 1 to 3, then both energies of the step's end.
  std::array<double, 5> sums{};
  for (std::size_t stage = 0; stage < 4; ++stage) {
    find_curl();
    find_product();
    const Energies next = advance(stage);
    sums[stage] = next.enstrophy;
    sums[4] = next.energy;
  }
  penstock::gas::all_reduce<double>(team_, sums, std::span(sums), penstock::gas::Sum{});
  const double mean = (now.enstrophy + 2 * sums[0] + 2 * sums[1] + sums[2]) / 6;
  return {.energy = sums[4], .enstrophy = sums[3], .dissipated = now.dissipated + dt_ * 2 * nu_ * mean};
}

void Solver::find_curl() {
  const auto& rows = modes_.rows();
  for_each(rows.size(), [&](std::size_t i) {
    for_each_mode(modes_, rows[i], [&](std::size_t at, const Vector& k, double) {
      const Mode u = mode_of(fields_.stage, at);
      set_mode(
          fields_.product, at,
          {times_i(k[1] * u[2] - k[2] * u[1]), times_i(k[2] * u[0] - k[0] * u[2]), times_i(k[0] * u[1] - k[1] * u[0])});
    });
  });
}

void Solver::find_product() {
  transforms_.to_space(fields_.stage, fields_.at_points);
  transforms_.to_space(fields_.product, fields_.product);
  const std::array u{fields_.at_points.space(0), fields_.at_points.space(1), fields_.at_points.space(2)};
  const std::array curl{fields_.product.space(0), fields_.product.space(1), fields_.product.space(2)};
  for_each(u[0].size(), [&](std::size_t i) {
    const Vector w{curl[0][i], curl[1][i], curl[2][i]};
    curl[0][i] = u[1][i] * w[2] - u[2][i] * w[1];
    curl[1][i] = u[2][i] * w[0] - u[0][i] * w[2];
    curl[2][i] = u[0][i] * w[1] - u[1][i] * w[0];
  });
  transforms_.to_spectrum(fields_.product);
}

/// Ends a stage: adds its share to the step's end and says where the next one looks, which after the last is that end.
Solver::Energies Solver::advance(std::size_t stage) {
  static constexpr std::array weights{1. / 6, 1. / 3, 1. / 3, 1. / 6};
  static constexpr std::array lengths{1. / 2, 1. / 2, 1.};
  const bool is_first = stage == 0;
  const bool is_last = stage == 3;
  const double weight = dt_ * weights[stage];
  const double length = is_last ? 0 : dt_ * lengths[stage];
  const auto& rows = modes_.rows();
  for_each(rows.size(), [&](std::size_t i) {
    for_each_mode(modes_, rows[i], [&](std::size_t at, const Vector& k, double k2) {
      const Mode rate =
          sum_of(without_divergence(mode_of(fields_.product, at), k, k2), -nu_ * k2, mode_of(fields_.stage, at));
      const Mode begin = mode_of(fields_.velocity, at);
      const Mode end = sum_of(is_first ? begin : mode_of(fields_.end, at), weight, rate);
      if (is_last) {
        set_mode(fields_.velocity, at, end);
        set_mode(fields_.stage, at, end);
      } else {
        set_mode(fields_.end, at, end);
        set_mode(fields_.stage, at, sum_of(begin, length, rate));
      }
    });
    of_rows_[i] = energies_of(fields_.stage, rows[i]);
  });
  return sum_of_rows();
}

Solver::Energies Solver::energies_of(const VectorField& field, const Modes::Row& row) const {
  Energies sum;
  for_each_mode(modes_, row, [&](std::size_t at, const Vector&, double k2) {
    const Mode u = mode_of(field, at);
    const double energy = std::norm(u[0]) + std::norm(u[1]) + std::norm(u[2]);
    sum.energy += energy;
    sum.enstrophy += k2 * energy;
  });
  return {row.weight / 2 * sum.energy, row.weight / 2 * sum.enstrophy};
}

/// Row by row, whichever thread has found them: the same bits on any number of threads.
Solver::Energies Solver::sum_of_rows() const {
  Energies sum;
  for (const Energies& row : of_rows_) {
    sum.energy += row.energy;
    sum.enstrophy += row.enstrophy;
  }
  return sum;
}

double Solver::largest_difference(const std::function<Vector(const Vector&)>& velocity) {
  transforms_.to_space(fields_.velocity, fields_.at_points);
  double largest = 0;
  for_each_point(transforms_.points(), n_, [&](std::size_t at, const Vector& point) {
    const Vector value = velocity(point);
    for (int c = 0; c < 3; ++c) {
      largest = std::max(largest, std::abs(fields_.at_points.space(c)[at] - value[static_cast<std::size_t>(c)]));
    }
  });
  penstock::gas::all_reduce<double>(team_, std::span(&largest, 1), std::span(&largest, 1), penstock::gas::Maximum{});
  return largest;
}

}  // namespace navier_stokes
