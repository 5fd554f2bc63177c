// Fields and their plan in one object, and the times of their transforms.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/field/field.hpp"

namespace penstock::field {
namespace {

template <class Real>
Memory take_memory(const gas::Team& team, const fft::Plan<Real>& plan, int batch) {
  const std::size_t field_bytes = plan.memory().field_bytes;
  Memory memory;
  team.together([&] { memory = Memory(field_bytes * static_cast<std::size_t>(batch)); });
  return memory;
}

/// The fields and one exchange's copy of each rank: what can be told before anything is computed that grows with the
/// size. 0 where the sizes are no sizes, which the plan itself refuses.
template <class Real>
std::uint64_t min_bytes(const gas::Team& team, const fft::Options& options) {
  const auto [nx, ny, nz] = options.size;
  const double element_bytes = sizeof(Real) * (options.type == fft::Type::c2c ? 2 : 1);
  const double least = static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz) * element_bytes *
                       (options.batch + 1) / team.size();
  return least > 0 && least < 0x1p62 ? static_cast<std::uint64_t>(least) : 0;
}

}  // namespace

template <class Real>
std::uint64_t Fields<Real>::needed_bytes(const gas::Team& team, const fft::Options& options) {
  const std::uint64_t least = min_bytes<Real>(team, options);
  const bool is_beyond = options.memory_budget_bytes > 0 && least > options.memory_budget_bytes;
  if (team.largest(is_beyond ? 1 : 0) != 0) {
    return least;
  }
  const fft::MemoryNeed need = fft::memory_need<Real>(team, options);
  return need.total_bytes() + need.field_bytes * static_cast<std::uint64_t>(options.batch);
}

template <class Real>
void Fields<Real>::require_memory(const gas::Team& team, const fft::Options& options) {
  const auto [nx, ny, nz] = options.size;
  const std::string what = fmt::format("a transform of {}x{}x{}", nx, ny, nz);
  team.require_memory(what, min_bytes<Real>(team, options), options.memory_budget_bytes);
  team.require_memory(what, needed_bytes(team, options), options.memory_budget_bytes);
}

template <class Real>
Fields<Real>::Fields(const gas::Team& team, const fft::Options& options)
    : team_(&team),
      options_((require_memory(team, options), options)),
      plan_(team, options_),
      memory_(take_memory(team, plan_, options.batch)) {}

template <class Real>
std::span<Real> Fields<Real>::numbers(int index) noexcept {
  const std::int64_t components = options_.type == fft::Type::c2c ? 2 : 1;
  return {reinterpret_cast<Real*>(memory_.data()) + index * plan_.input_stride() * components,
          static_cast<std::size_t>(plan_.input().elements() * components)};
}

template <class Real>
std::span<Real> Fields<Real>::spectrum_numbers(int index) noexcept {
  const std::int64_t components = options_.type == fft::Type::r2r ? 1 : 2;
  return {reinterpret_cast<Real*>(memory_.data()) + index * plan_.output_stride() * components,
          static_cast<std::size_t>(plan_.output().elements() * components)};
}

template <class Real>
std::span<std::complex<Real>> Fields<Real>::spectrum(int index) noexcept {
  const std::span<Real> all = spectrum_numbers(index);
  return {reinterpret_cast<Complex*>(all.data()), all.size() / 2};
}

template <class Real>
void Fields<Real>::fill(const Source& source) {
  team_->together([&] {
    for (int i = 0; i < options_.batch; ++i) {
      source.fill(plan_.input().box, i, numbers(i));
    }
  });
}

template <class Real>
void Fields<Real>::forward(fft::Scaling scaling) {
  transform(true, scaling);
}

template <class Real>
void Fields<Real>::backward(fft::Scaling scaling) {
  transform(false, scaling);
}

template <class Real>
void Fields<Real>::transform(bool is_forward, fft::Scaling scaling) {
  const std::span<Complex> modes(reinterpret_cast<Complex*>(memory_.data()), memory_.size() / sizeof(Complex));
  const std::span<Real> reals(reinterpret_cast<Real*>(memory_.data()), memory_.size() / sizeof(Real));
  const auto run = [&](auto from, auto to) {
    is_forward ? plan_.forward(from, to, scaling) : plan_.backward(from, to, scaling);
  };
  switch (options_.type) {
    case fft::Type::c2c:
      return run(std::span<const Complex>(modes), modes);
    case fft::Type::r2r:
      return run(std::span<const Real>(reals), reals);
    case fft::Type::r2c:
      return is_forward ? plan_.forward(std::span<const Real>(reals), modes, scaling)
                        : plan_.backward(std::span<const Complex>(modes), reals, scaling);
  }
}

fft::Scaling inverse(fft::Scaling scaling) noexcept {
  switch (scaling) {
    case fft::Scaling::none:
      return fft::Scaling::full;
    case fft::Scaling::full:
      return fft::Scaling::none;
    default:
      return scaling;
  }
}

double Times::min_s() const {
  return *std::min_element(all_s.begin(), all_s.end());
}

int Times::best_repetition() const {
  return 1 + static_cast<int>(std::min_element(all_s.begin(), all_s.end()) - all_s.begin());
}

double Times::median_s() const {
  std::vector<double> sorted = all_s;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

namespace {

/// Collective: runs `transform` once and adds its time to `times`.
template <class Transform>
void time_once(const gas::Team& team, const fft::Breakdown& last, Times& times, std::string_view name,
               Transform transform) {
  struct Measured {
    double total_s;
    fft::Breakdown breakdown;
  };
  team.barrier();
  std::optional<trace::Step> step(std::in_place, name, static_cast<int>(times.all_s.size()) + 1);
  const double begin_s = seconds();
  transform();
  const Measured mine{seconds() - begin_s, last};
  step.reset();
  const std::vector<Measured> all = team.all_gather(mine);
  const double slowest_s = std::ranges::max(all, {}, &Measured::total_s).total_s;
  if (times.all_s.empty() || slowest_s < times.min_s()) {
    times.best = {};
    times.best_of_ranks.clear();
    for (const Measured& each : all) {
      times.best.add(each.breakdown, 1.0 / team.size());
      times.best_of_ranks.push_back(each.breakdown);
    }
  }
  times.all_s.push_back(slowest_s);
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
RoundTrips time_round_trips(const gas::Team& team, Fields<Real>& fields, fft::Scaling scaling, int repetitions,
                            const std::function<void(int)>& tell) {
  const auto tell_of = [&](int trip) {
    if (tell) {
      tell(trip);
    }
  };
  {
    const trace::Pause pause;
    team.agree_on("round trips", fmt::format("{} with scaling {}", repetitions, static_cast<int>(scaling)));
    tell_of(0);
    team.barrier();
    fields.forward(scaling);
    team.barrier();
    fields.backward(inverse(scaling));
  }
  RoundTrips trips;
  const fft::Breakdown& last = fields.plan().last_breakdown();
  for (int i = 0; i < repetitions; ++i) {
    tell_of(i + 1);
    time_once(team, last, trips.forward, "forward", [&] { fields.forward(scaling); });
    time_once(team, last, trips.backward, "backward", [&] { fields.backward(inverse(scaling)); });
  }
  return trips;
}
#pragma GCC visibility pop

template class Fields<float>;
template class Fields<double>;
template RoundTrips time_round_trips<float>(const gas::Team&, Fields<float>&, fft::Scaling, int,
                                            const std::function<void(int)>&);
template RoundTrips time_round_trips<double>(const gas::Team&, Fields<double>&, fft::Scaling, int,
                                             const std::function<void(int)>&);

}  // namespace penstock::field
