#include "penstock/fftw/plan.hpp"

#include <atomic>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
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
  PlanOf(const gas::Team& team, const Request& request) : request_(request), is_alone_(team.size() == 1), ways_(1) {
    ways_.front().plan.emplace(team, request.options(team.size()));
  }

  void run(const Request& request, void* in, void* out) override {
    Way& way = take_way();
    const std::lock_guard lock(way.mutex, std::adopt_lock);
    if (!way.plan) {
      way.plan.emplace(gas::world_alone(), request_.options(1));
    }
    auto* from = static_cast<std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    for (std::int64_t i = 0; i < request.repetitions; ++i) {
      transform(*way.plan, request, from, to);
      from += request.in_distance * request.in_bytes();
      to += request.out_distance * request.out_bytes();
    }
  }

 private:
  /// A plan that runs one transform at a time; made by who first has it.
  struct Way {
    std::mutex mutex;
    std::optional<fft::Plan<Real>> plan;
  };

  /// A way that nobody uses, locked; alone another one, where all are in use.
  Way& take_way() {
    std::unique_lock lock(mutex_);
    for (Way& way : ways_) {
      if (way.mutex.try_lock()) {
        return way;
      }
    }
    if (!is_alone_) {
      lock.unlock();
      ways_.front().mutex.lock();
      return ways_.front();
    }
    Way& another = ways_.emplace_back();
    another.mutex.lock();
    return another;
  }

  template <class Number>
  static std::span<Number> numbers(const fft::Distribution& part, std::byte* array) {
    return {reinterpret_cast<Number*>(array), static_cast<std::size_t>(part.elements())};
  }

  template <class In, class Out>
  static void transform_as(fft::Plan<Real>& plan, const Request& request, std::byte* from, std::byte* to) {
    const fft::Distribution& in_part = request.is_backward ? plan.output() : plan.input();
    const fft::Distribution& out_part = request.is_backward ? plan.input() : plan.output();
    const std::span<const In> in = numbers<In>(in_part, from);
    const std::span<Out> out = numbers<Out>(out_part, to);
    if constexpr (std::is_same_v<In, Out>) {
      request.is_backward ? plan.backward(in, out) : plan.forward(in, out);
    } else if constexpr (std::is_same_v<In, Real>) {
      plan.forward(in, out);
    } else {
      plan.backward(in, out);
    }
  }

  static void transform(fft::Plan<Real>& plan, const Request& request, std::byte* from, std::byte* to) {
    using Complex = std::complex<Real>;
    switch (request.type) {
      case fft::Type::c2c:
        return transform_as<Complex, Complex>(plan, request, from, to);
      case fft::Type::r2r:
        return transform_as<Real, Real>(plan, request, from, to);
      case fft::Type::r2c:
        return request.is_backward ? transform_as<Complex, Real>(plan, request, from, to)
                                   : transform_as<Real, Complex>(plan, request, from, to);
    }
  }

  Request request_;
  bool is_alone_;
  std::mutex mutex_;     // of the list
  std::list<Way> ways_;  // over ranks there is one
};

/// The plans that the program holds.
struct Held {
  std::shared_mutex mutex;
  std::unordered_map<const void*, std::unique_ptr<ServedPlan>> plans;
  std::atomic<std::size_t> count{0};  // of plans, to be asked without the lock

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
    if (plan == nullptr) {
      throw Error("MPI has ended, and with it the plan");
    }
    const double begin_s = mode() == Mode::stats ? seconds() : 0;
    plan->run(request, from, to);
    if (mode() == Mode::stats) {
      count_run(request.function, seconds() - begin_s, request.operations());
    }
  } catch (const std::exception& error) {
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
  held.count.store(held.plans.size(), std::memory_order_release);
  return pointer;
}

ServedPlan* find(const void* plan) noexcept {
  Held& held = Held::get();
  if (held.count.load(std::memory_order_acquire) == 0) {
    return nullptr;
  }
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
  held.count.store(held.plans.size(), std::memory_order_release);
  return true;
}

void end_plans_over_ranks() noexcept {
  Held& held = Held::get();
  const std::unique_lock lock(held.mutex);
  for (auto& [pointer, plan] : held.plans) {
    if (plan->is_over_ranks) {
      plan->plan.reset();
    }
  }
}

}  // namespace penstock::fftw
