#include "transforms.hpp"

#include <algorithm>
#include <penstock/base/clock.hpp>
#include <vector>

#include "modes.hpp"

namespace navier_stokes {
namespace {

using penstock::fft::Execution;
using penstock::gas::Team;

/// Whether some ranks reach others through a network alone.
bool has_network(const Team& team) {
  return penstock::gas::Placement::count(team.placement().domains) > 1;
}

}  // namespace

Transforms::Transforms(const Team& team, std::int64_t n, int threads, penstock::fft::Effort effort) {
  // The threads of plans that wait would take the processors of the one that works.
  const int plans = threads == 1 && has_network(team) ? 3 : 1;
  const std::int64_t modes = Modes::count_of(n);
  for (int i = 0; i < plans; ++i) {
    plans_.emplace_back(team, penstock::fft::Options{.size = {n, n, n},
                                                     .modes = {modes, modes, modes},
                                                     .type = penstock::fft::Type::r2c,
                                                     .threads = threads,
                                                     .batch = 3 / plans,
                                                     .effort = effort});
  }
}

std::size_t Transforms::field_bytes() const {
  return 3 * static_cast<std::size_t>(plans_.front().input_stride()) * sizeof(double);
}

VectorField Transforms::make_field() const {
  return VectorField(field_bytes() / 3, static_cast<std::size_t>(points().box.count()),
                     static_cast<std::size_t>(modes().box.count()));
}

/// Runs each plan on its part of a field: `start(plan, first component)` begins it.
template <class Start>
void Transforms::run(const Start& start) {
  const double begin_s = penstock::seconds();
  std::vector<Execution> executions;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    executions.push_back(start(plans_[i], static_cast<int>(i)));
  }
  if (executions.size() == 1) {
    executions.front().wait();
  } else {
    wait_all(executions);
  }
  const double before_s = spent_.total_s;
  for (const auto& plan : plans_) {
    spent_.add(plan.last_breakdown());
  }
  spent_.total_s = before_s + penstock::seconds() - begin_s;  // of all at the same time
}

void Transforms::to_space(const VectorField& spectrum, VectorField& space) {
  run([&](penstock::fft::Plan<double>& plan, int component) {
    return plan.start_backward(spectrum.spectra_from(component), space.spaces_from(component));
  });
}

void Transforms::to_spectrum(VectorField& field) {
  run([&](penstock::fft::Plan<double>& plan, int component) {
    return plan.start_forward(field.spaces_from(component), field.spectra_from(component),
                              penstock::fft::Scaling::full);
  });
}

}  // namespace navier_stokes
