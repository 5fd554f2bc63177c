// One rank's part of the heat equation that the benchmark solves: its plan, its two fields, and the steps. Private to
// the module.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/lab/nas/nas.hpp"

namespace penstock::lab::nas {

/// Members are collective over the team. `team`, `problem` and `options` must outlive it.
class HeatEquation {
 public:
  using Complex = std::complex<double>;

  HeatEquation(const gas::Team& team, const Problem& problem, const fft::Options& options)
      : team_(team), problem_(problem), options_(options) {}

  /// Makes the plan, and at the first call takes memory for the fields.
  void make_plan();

  /// Frees the plan, so that there is memory for another one.
  void drop_plan() { plan_.reset(); }

  /// Makes the tables anew and fills the initial field.
  void set_up();

  void forward() { plan_->forward(std::span<const Complex>(space_), spectrum_); }
  void backward() { plan_->backward(std::span<const Complex>(spectrum_), space_); }

  /// Evolves the spectrum by one time step.
  void evolve();

  /// The benchmark's sum over 1024 points, the ranks' parts added in order of rank; the same on every rank.
  Complex checksum() const;

  const fft::Decision& decision() const { return plan_->decision(); }
  std::uint64_t memory_bytes() const {
    return plan_->memory().total_bytes() + space_memory_.size() + spectrum_memory_.size();
  }

 private:
  void allocate();
  void make_factors();
  void locate_checksum_points();
  void fill_initial_field();

  const gas::Team& team_;
  const Problem& problem_;
  const fft::Options& options_;
  std::optional<fft::Plan<double>> plan_;
  std::optional<ThreadPool> pool_;
  Memory space_memory_;
  Memory spectrum_memory_;
  std::span<Complex> space_;                    // whole rows in x, [z][y][x]
  std::span<Complex> spectrum_;                 // as the plan leaves it
  std::array<std::vector<double>, 3> factors_;  // by direction, of this rank's modes
  std::vector<double> row_factors_;             // of the contiguous direction, each twice
  std::vector<std::int64_t> checksum_positions_;
};

}  // namespace penstock::lab::nas
