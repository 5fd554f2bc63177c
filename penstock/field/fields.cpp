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
    : team_(&team), options_((require_memory(team, options), options)), plan_(std::in_place, team, options_) {
  const std::size_t field_bytes = plan_->memory().field_bytes;
  team.together([&] { host_memory_ = Memory(field_bytes * static_cast<std::size_t>(options.batch)); });
  memory_ = {host_memory_.data(), host_memory_.size()};
}

template <class Real>
Fields<Real>::Fields(const gas::Team& team, const fft::Options& options, const OnDevice& on_device)
    : team_(&team),
      options_(options),
      device_plan_(std::in_place, team, on_device.device, options,
                   on_device.are_resident ? fft::FieldsOn::device : fft::FieldsOn::host) {
  const auto bytes = static_cast<std::uint64_t>(stride_bytes() * options.batch);
  const auto [nx, ny, nz] = options.size;
  team.require_memory(fmt::format("a transform of {}x{}x{}", nx, ny, nz), bytes, 0);
  team.together([&] {
    pinned_memory_ = on_device.device->allocate_host(bytes);
    memory_ = pinned_memory_->bytes();
    std::ranges::fill(memory_, std::byte{});
    if (on_device.are_resident) {
      device_memory_ = on_device.device->allocate(bytes);
      stream_ = on_device.device->make_stream();
    }
  });
}

template <class Real>
Fields<Real>::~Fields() = default;
template <class Real>
Fields<Real>::Fields(Fields&&) noexcept = default;
template <class Real>
Fields<Real>& Fields<Real>::operator=(Fields&&) noexcept = default;

/// From one field to the next.
template <class Real>
std::int64_t Fields<Real>::stride_bytes() const noexcept {
  const std::int64_t points = plan_ ? plan_->input_stride() : device_plan_->input_stride();
  return points * static_cast<std::int64_t>(sizeof(Real)) * (options_.type == fft::Type::c2c ? 2 : 1);
}

template <class Real>
void Fields<Real>::bring_to_host() {
  if (is_on_device_) {
    stream_->copy_to_host(memory_.data(), device_memory_->location(), {.row_bytes = memory_.size()});
    stream_->finish();
    is_on_device_ = false;
  }
}

template <class Real>
void Fields<Real>::bring_to_device() {
  if (!is_on_device_) {
    stream_->copy_to_device(device_memory_->location(), memory_.data(), {.row_bytes = memory_.size()});
    stream_->finish();
    is_on_device_ = true;
  }
}

template <class Real>
std::span<Real> Fields<Real>::numbers(int index) {
  bring_to_host();
  const std::int64_t components = options_.type == fft::Type::c2c ? 2 : 1;
  return {reinterpret_cast<Real*>(memory_.data() + index * stride_bytes()),
          static_cast<std::size_t>(input().elements() * components)};
}

template <class Real>
std::span<Real> Fields<Real>::spectrum_numbers(int index) {
  bring_to_host();
  const std::int64_t components = options_.type == fft::Type::r2r ? 1 : 2;
  return {reinterpret_cast<Real*>(memory_.data() + index * stride_bytes()),
          static_cast<std::size_t>(output().elements() * components)};
}

template <class Real>
std::span<std::complex<Real>> Fields<Real>::spectrum(int index) {
  const std::span<Real> all = spectrum_numbers(index);
  return {reinterpret_cast<Complex*>(all.data()), all.size() / 2};
}

template <class Real>
void Fields<Real>::fill(const Source& source) {
  team_->together([&] {
    for (int i = 0; i < options_.batch; ++i) {
      source.fill(input().box, i, numbers(i));
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
  if (device_memory_ != nullptr) {
    bring_to_device();
    const device::Location fields = device_memory_->location();
    return is_forward ? device_plan_->forward(fields, fields, scaling)
                      : device_plan_->backward(fields, fields, scaling);
  }
  const std::span<Complex> modes(reinterpret_cast<Complex*>(memory_.data()), memory_.size() / sizeof(Complex));
  const std::span<Real> reals(reinterpret_cast<Real*>(memory_.data()), memory_.size() / sizeof(Real));
  const auto run = [&](auto& plan) {
    const std::span<const Complex> const_modes(modes);
    if (options_.type == fft::Type::c2c) {
      is_forward ? plan.forward(const_modes, modes, scaling) : plan.backward(const_modes, modes, scaling);
    } else if (is_forward) {
      plan.forward(std::span<const Real>(reals), modes, scaling);
    } else {
      plan.backward(const_modes, reals, scaling);
    }
  };
  if (device_plan_) {
    run(*device_plan_);
  } else if (options_.type == fft::Type::r2r) {
    const std::span<const Real> const_reals(reals);
    is_forward ? plan_->forward(const_reals, reals, scaling) : plan_->backward(const_reals, reals, scaling);
  } else {
    run(*plan_);
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
  const fft::Breakdown& last = fields.last_breakdown();
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
