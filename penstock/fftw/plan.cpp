#include "penstock/fftw/plan.hpp"

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fftw/communicators.hpp"
#include "penstock/fftw/settings.hpp"
#include "penstock/fftw/tallies.hpp"

namespace penstock::fftw {
namespace {

template <class Real>
class PlanOf final : public SharedPlan {
 public:
  PlanOf(const gas::Team& team, const Request& request) : plan_(team, request.options(team.size())) {}

  void run(const Request& request, void* in, void* out) override {
    const std::lock_guard lock(mutex_);
    auto* from = static_cast<std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    for (std::int64_t i = 0; i < request.repetitions; ++i) {
      transform(request, from, to);
      from += request.in_distance * request.in_bytes();
      to += request.out_distance * request.out_bytes();
    }
  }

 private:
  template <class Number>
  static std::span<Number> numbers(const fft::Distribution& part, std::byte* array) {
    return {reinterpret_cast<Number*>(array), static_cast<std::size_t>(part.elements())};
  }

  template <class In, class Out>
  void transform_as(const Request& request, std::byte* from, std::byte* to) {
    const fft::Distribution& in_part = request.is_backward ? plan_.output() : plan_.input();
    const fft::Distribution& out_part = request.is_backward ? plan_.input() : plan_.output();
    const std::span<const In> in = numbers<In>(in_part, from);
    const std::span<Out> out = numbers<Out>(out_part, to);
    if constexpr (std::is_same_v<In, Out>) {
      request.is_backward ? plan_.backward(in, out) : plan_.forward(in, out);
    } else if constexpr (std::is_same_v<In, Real>) {
      plan_.forward(in, out);
    } else {
      plan_.backward(in, out);
    }
  }

  void transform(const Request& request, std::byte* from, std::byte* to) {
    using Complex = std::complex<Real>;
    switch (request.type) {
      case fft::Type::c2c:
        return transform_as<Complex, Complex>(request, from, to);
      case fft::Type::r2r:
        return transform_as<Real, Real>(request, from, to);
      case fft::Type::r2c:
        return request.is_backward ? transform_as<Complex, Real>(request, from, to)
                                   : transform_as<Real, Complex>(request, from, to);
    }
  }

  std::mutex mutex_;
  fft::Plan<Real> plan_;
};

/// The plans that the program holds.
struct Held {
  std::shared_mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<ServedPlan>> plans;

  static Held& get() {
    static Held& held = *std::make_unique<Held>().release();  // programs call until the very end of the process
    return held;
  }
};

}  // namespace

std::shared_ptr<SharedPlan> make_plan(const gas::Team& team, const Request& request) {
  if (request.real_bytes == sizeof(float)) {
    return std::make_shared<PlanOf<float>>(team, request);
  }
  return std::make_shared<PlanOf<double>>(team, request);
}

void ServedPlan::run(void* from, void* to) const noexcept {
  try {
    const double begin_s = mode() == Mode::stats ? seconds() : 0;
    plan->run(request, from, to);
    if (mode() == Mode::stats) {
      count_run(request.function, seconds() - begin_s, request.operations());
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "penstock: %s: %s\n", request.function.c_str(), error.what());
    std::fflush(stderr);
    end_all_ranks();
  }
}

void* hand_out(std::unique_ptr<ServedPlan> plan) {
  void* const pointer = plan.get();
  Held& held = Held::get();
  const std::unique_lock lock(held.mutex);
  held.plans.emplace(pointer, std::move(plan));
  return pointer;
}

ServedPlan* find(const void* plan) noexcept {
  Held& held = Held::get();
  const std::shared_lock lock(held.mutex);
  const auto found = held.plans.find(plan);
  return found == held.plans.end() ? nullptr : found->second.get();
}

bool take_back(const void* plan) noexcept {
  Held& held = Held::get();
  std::unique_ptr<ServedPlan> taken;  // destroyed without the lock
  const std::unique_lock lock(held.mutex);
  const auto found = held.plans.find(plan);
  if (found == held.plans.end()) {
    return false;
  }
  taken = std::move(found->second);
  held.plans.erase(found);
  return true;
}

}  // namespace penstock::fftw
