// Plans: options are settled and checked, memory is counted before it is taken, both directions are made ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/execution.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/fft/pipeline.hpp"
#include "penstock/fft/plan_schedules.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/sequence.hpp"

namespace penstock::fft {
namespace {

/// A call of the user's function for rows of Number.
template <class Number>
RowCall call_of(std::function<void(std::int64_t, std::int64_t, std::span<Number>)> on_row) {
  return [on_row = std::move(on_row)](std::int64_t first, std::int64_t second, std::byte* row, std::size_t elements) {
    on_row(first, second, std::span(reinterpret_cast<Number*>(row), elements));
  };
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) && std::less<>()(b.data(), a.data() + a.size());
}

}  // namespace

#pragma GCC visibility push(default)  // its instances are in the library
template <class Real>
MemoryNeed memory_need(const gas::Team& team, const Options& options) {
  Options by_model = options;
  by_model.planning = Planning::model;
  return team.run_or_revoke([&] { return make_schedules(team, resolve<Real>(team, by_model)).need; });
}
#pragma GCC visibility pop

template <class Real>
struct Plan<Real>::State {
  /// Of the plan's own.
  struct Arrays {
    gas::Segment input;
    gas::Segment output;
  };

  gas::Team team;
  Options options;
  Distribution input;
  Distribution output;
  Decision decision;
  std::int64_t field_bytes;
  std::int64_t space_bytes;  // of an element
  std::int64_t spectrum_bytes;
  MemoryNeed need;
  ThreadPool pool;
  std::vector<Scratch> scratch;
  std::vector<gas::Segment> regions;
  std::unique_ptr<Arrays> arrays;
  Pipeline<Real> forward;
  Pipeline<Real> backward;
  std::optional<Pipeline<Real>> convolution;
  std::optional<Pipeline<Real>> collocation;
  std::unique_ptr<gas::ProgressThread> progress_thread;  // rests but for calls
  Breakdown last{};
  bool is_running = false;

  class Fields;

  /// What the call `pipeline` ends in, of the plan's own arrays; nothing where it may end anywhere.
  std::optional<std::span<std::byte>> result_of(const Pipeline<Real>* pipeline) const {
    if (arrays == nullptr || (pipeline != &forward && pipeline != &backward)) {
      return std::nullopt;
    }
    return (pipeline == &forward ? arrays->output : arrays->input).local();
  }
  template <class Number>
  std::span<Number> array_of(bool is_input) const {
    const std::size_t element_bytes = static_cast<std::size_t>(is_input ? space_bytes : spectrum_bytes);
    if (arrays == nullptr || sizeof(Number) != element_bytes) {
      throw Error(arrays == nullptr ? "the plan has no arrays of its own: set Options::has_arrays"
                                    : "the plan's array has numbers of the other type, real or complex");
    }
    const std::span<std::byte> bytes = (is_input ? arrays->input : arrays->output).local();
    return {reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number)};
  }
  /// Collective.
  static std::unique_ptr<State> make(const gas::Team& user_team, const Options& options);
  template <class In, class Out>
  void check(const Pipeline<Real>* pipeline, Type type, std::span<const In> in, std::span<Out> out) const;
  template <class In, class Out>
  Execution start(Pipeline<Real>* pipeline, Type type, std::span<const In> in, std::span<Out> out, Scaling scaling,
                  RowCall on_row = {});
};

/// The fields of one call under way: one after the other, or interleaved ones together.
template <class Real>
class Plan<Real>::State::Fields final : public Execution::Work {
 public:
  /// `run` is of the first.
  Fields(State& state, Pipeline<Real>& pipeline, Run<Real> run, RowCall on_row)
      : state_(state), pipeline_(pipeline), run_(run), on_row_(std::move(on_row)) {
    run_.on_row = &on_row_;
    state_.last = {};
    pipeline_.begin(run_);
    state_.is_running = true;
    if (state_.progress_thread != nullptr) {
      state_.progress_thread->resume();
    }
  }
  ~Fields() override {
    if (state_.progress_thread != nullptr) {
      state_.progress_thread->rest();
    }
    state_.is_running = false;
  }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  bool step(bool may_wait) override {
    return state_.team.run_or_revoke([&] {
      while (pipeline_.advance(state_.team, state_.pool, state_.scratch, may_wait)) {
        state_.last.add(pipeline_.end());
        if (++done_ == (state_.options.is_interleaved ? 1 : state_.options.batch)) {
          return true;
        }
        run_.in += state_.field_bytes;
        run_.out += state_.field_bytes;
        ++run_.field;
        pipeline_.begin(run_);
      }
      state_.team.poll();  // brings the news of a rank that has failed
      return false;
    });
  }

 private:
  State& state_;
  Pipeline<Real>& pipeline_;
  Run<Real> run_;
  RowCall on_row_;
  int done_ = 0;
};

/// Throws Error where the call cannot be made with these arguments.
template <class Real>
template <class In, class Out>
void Plan<Real>::State::check(const Pipeline<Real>* pipeline, Type type, std::span<const In> in,
                              std::span<Out> out) const {
  if (options.type != type) {
    constexpr std::array<std::string_view, 3> names{"c2c", "r2c", "r2r"};
    throw Error(fmt::format("the plan is of type {}: give it arrays of that type",
                            names[static_cast<std::size_t>(options.type)]));
  }
  if (pipeline == nullptr) {
    throw Error("the plan was not made for this: set Options::convolves to convolve, Options::collocates to collocate");
  }
  if (is_running) {
    throw Error("the plan has a transform under way: wait for it first");
  }
  if (const auto result = result_of(pipeline); result && !result->empty() &&
                                               (static_cast<const void*>(out.data()) != result->data() ||
                                                static_cast<const void*>(in.data()) == result->data())) {
    throw Error(
        "the plan has arrays of its own: forward leaves its result in output_array, backward in input_array, and "
        "neither works in place");
  }
  const auto wanted = [&](bool is_space, std::size_t element_bytes) {
    const auto others = static_cast<std::size_t>(options.is_interleaved ? 0 : options.batch - 1);
    return others * static_cast<std::size_t>(field_bytes) / element_bytes +
           static_cast<std::size_t>((is_space ? input : output).elements());
  };
  const bool is_collocation = collocation && pipeline == &*collocation;
  const std::size_t wanted_in = wanted(pipeline != &backward && !is_collocation, sizeof(In));
  const std::size_t wanted_out = wanted(pipeline != &forward && !is_collocation, sizeof(Out));
  if (in.size() < wanted_in || out.size() < wanted_out) {
    throw Error(fmt::format("arrays of {} and {} elements are too short: this rank's parts have {} and {}", in.size(),
                            out.size(), wanted_in, wanted_out));
  }
  const auto used_in = std::as_bytes(in.first(wanted_in));
  const auto used_out = std::as_bytes(out.first(wanted_out));
  if (used_in.data() != used_out.data() && overlap(used_in, used_out)) {
    throw Error(
        fmt::format("the input begins at {} and has {} bytes, the output at {} and has {}: they overlap; let "
                    "both begin at the same place, or have nothing in common",
                    fmt::ptr(used_in.data()), used_in.size(), fmt::ptr(used_out.data()), used_out.size()));
  }
}

template <class Real>
template <class In, class Out>
Execution Plan<Real>::State::start(Pipeline<Real>* pipeline, Type type, std::span<const In> in, std::span<Out> out,
                                   Scaling scaling, RowCall on_row) {
  const Run<Real> run{.in = reinterpret_cast<const std::byte*>(in.data()),
                      .out = reinterpret_cast<std::byte*>(out.data()),
                      .factor = static_cast<Real>(factor_of(scaling, options))};
  return team.run_or_revoke([&] {
    team.check_revoked();
    check(pipeline, type, in, out);
    return Execution(std::make_unique<Fields>(*this, *pipeline, run, std::move(on_row)));
  });
}

template <class Real>
Plan<Real>::Plan(const gas::Team& team, const Options& options)
    : state_(team.run_or_revoke([&] { return State::make(team, options); })) {}

template <class Real>
std::unique_ptr<typename Plan<Real>::State> Plan<Real>::State::make(const gas::Team& user_team,
                                                                    const Options& options) {
  Problem problem = resolve<Real>(user_team, options);
  user_team.agree((options.threads > 1 || problem.has_progress_thread) && !user_team.allows_threads()
                      ? "several threads per rank need MPI initialised with MPI_THREAD_SERIALIZED or more"
                      : "");
  Schedules schedules = make_schedules(user_team, problem);
  check_memory(user_team, options, schedules.need);

  gas::Team team = user_team.split(0, user_team.rank());
  std::vector<gas::Segment> regions;
  std::unique_ptr<typename State::Arrays> arrays;
  std::optional<ThreadPool> pool;
  std::vector<Scratch> scratch;
  Decision decision;
  std::optional<Pipeline<Real>> forward;
  std::optional<Pipeline<Real>> backward;
  std::optional<Pipeline<Real>> convolution;
  std::optional<Pipeline<Real>> collocation;
  std::unique_ptr<gas::ProgressThread> progress_thread;
  team.run_or_revoke([&] {
    for (const std::uint64_t bytes : schedules.region_bytes) {
      regions.emplace_back(team, bytes, 0);
    }
    if (options.has_arrays) {
      arrays.reset(new typename State::Arrays{
          gas::Segment(team, static_cast<std::size_t>(problem.input_bytes(team.rank())), 0),
          gas::Segment(team, static_cast<std::size_t>(problem.output_bytes(team.rank())), 0)});
    }
    team.together([&] {
      pool.emplace(options.threads);
      decision = decide(problem, schedules);
    });
    const auto make = [&](std::optional<Pipeline<Real>>& pipeline, Schedule& schedule, const gas::Segment* result) {
      pipeline.emplace(team, std::move(schedule), regions, result, problem);
    };
    make(forward, schedules.forward, arrays == nullptr ? nullptr : &arrays->output);
    make(backward, schedules.backward, arrays == nullptr ? nullptr : &arrays->input);
    if (schedules.convolution) {
      make(convolution, *schedules.convolution, nullptr);
    }
    if (schedules.collocation) {
      make(collocation, *schedules.collocation, nullptr);
    }
    team.together([&] {
      ScratchNeed need;
      for (const auto* pipeline : {&forward, &backward, &convolution, &collocation}) {
        if (*pipeline) {
          need.cover((*pipeline)->scratch_need());
        }
      }
      for (int i = 0; i < options.threads; ++i) {
        scratch.emplace_back(need);
      }
      schedules.need.scratch_bytes = static_cast<std::uint64_t>(options.threads) * Scratch::bytes(need);
      if (problem.has_progress_thread) {
        progress_thread = std::make_unique<gas::ProgressThread>(team);
        progress_thread->rest();
      }
    });
  });
  const int rank = team.rank();
  const auto of_user = [&](const std::vector<Distribution>& parts) {
    return from_sequence(parts[static_cast<std::size_t>(rank)], problem.sequence);
  };
  const std::int64_t field_bytes = problem.field_bytes(rank);
  const std::int64_t space_bytes = problem.space_bytes();
  const std::int64_t spectrum_bytes = problem.spectrum_bytes();
  return std::unique_ptr<State>(new State{.team = std::move(team),
                                          .options = std::move(problem.options),
                                          .input = of_user(problem.input),
                                          .output = of_user(problem.output),
                                          .decision = std::move(decision),
                                          .field_bytes = field_bytes,
                                          .space_bytes = space_bytes,
                                          .spectrum_bytes = spectrum_bytes,
                                          .need = schedules.need,
                                          .pool = std::move(*pool),
                                          .scratch = std::move(scratch),
                                          .regions = std::move(regions),
                                          .arrays = std::move(arrays),
                                          .forward = std::move(*forward),
                                          .backward = std::move(*backward),
                                          .convolution = std::move(convolution),
                                          .collocation = std::move(collocation),
                                          .progress_thread = std::move(progress_thread)});
}

template <class Real>
Plan<Real>::~Plan() = default;
template <class Real>
Plan<Real>::Plan(Plan&&) noexcept = default;
template <class Real>
Plan<Real>& Plan<Real>::operator=(Plan&&) noexcept = default;

template <class Real>
const Distribution& Plan<Real>::input() const noexcept {
  return state_->input;
}

template <class Real>
const Distribution& Plan<Real>::output() const noexcept {
  return state_->output;
}

template <class Real>
std::int64_t Plan<Real>::input_stride() const noexcept {
  return state_->options.is_interleaved ? 1 : state_->field_bytes / state_->space_bytes;
}

template <class Real>
std::int64_t Plan<Real>::output_stride() const noexcept {
  return state_->options.is_interleaved ? 1 : state_->field_bytes / state_->spectrum_bytes;
}

template <class Real>
template <class Number>
std::span<Number> Plan<Real>::input_array() const {
  return state_->template array_of<Number>(true);
}

template <class Real>
template <class Number>
std::span<Number> Plan<Real>::output_array() const {
  return state_->template array_of<Number>(false);
}

template <class Real>
const Decision& Plan<Real>::decision() const noexcept {
  return state_->decision;
}

template <class Real>
const MemoryNeed& Plan<Real>::memory() const noexcept {
  return state_->need;
}

template <class Real>
const Breakdown& Plan<Real>::last_breakdown() const noexcept {
  return state_->last;
}

template <class Real>
void Plan<Real>::forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  start_forward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  return state_->start(&state_->forward, Type::c2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling) {
  start_forward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling) {
  return state_->start(&state_->forward, Type::r2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  start_backward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  return state_->start(&state_->backward, Type::c2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling) {
  start_backward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling) {
  return state_->start(&state_->backward, Type::r2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::convolve(std::span<const Complex> in, std::span<Complex> out, const RowFunction<Real>& on_spectrum,
                          Scaling scaling) {
  start_convolve(in, out, on_spectrum, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_convolve(std::span<const Complex> in, std::span<Complex> out, RowFunction<Real> on_spectrum,
                                     Scaling scaling) {
  return state_->start(state_->convolution ? &*state_->convolution : nullptr, Type::c2c, in, out, scaling,
                       call_of(std::move(on_spectrum)));
}

template <class Real>
void Plan<Real>::convolve(std::span<const Real> in, std::span<Real> out, const RowFunction<Real>& on_spectrum,
                          Scaling scaling) {
  start_convolve(in, out, on_spectrum, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_convolve(std::span<const Real> in, std::span<Real> out, RowFunction<Real> on_spectrum,
                                     Scaling scaling) {
  return state_->start(state_->convolution ? &*state_->convolution : nullptr, Type::r2c, in, out, scaling,
                       call_of(std::move(on_spectrum)));
}

template <class Real>
void Plan<Real>::forward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  start_forward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_forward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  return state_->start(&state_->forward, Type::r2r, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  start_backward(in, out, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_backward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  return state_->start(&state_->backward, Type::r2r, in, out, scaling);
}

template <class Real>
void Plan<Real>::collocate(std::span<const Complex> in, std::span<Complex> out, const PointFunction<Complex>& on_points,
                           Scaling scaling) {
  start_collocate(in, out, on_points, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_collocate(std::span<const Complex> in, std::span<Complex> out,
                                      PointFunction<Complex> on_points, Scaling scaling) {
  return state_->start(state_->collocation ? &*state_->collocation : nullptr, Type::c2c, in, out, scaling,
                       call_of(std::move(on_points)));
}

template <class Real>
void Plan<Real>::collocate(std::span<const Complex> in, std::span<Complex> out, const PointFunction<Real>& on_points,
                           Scaling scaling) {
  start_collocate(in, out, on_points, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_collocate(std::span<const Complex> in, std::span<Complex> out,
                                      PointFunction<Real> on_points, Scaling scaling) {
  return state_->start(state_->collocation ? &*state_->collocation : nullptr, Type::r2c, in, out, scaling,
                       call_of(std::move(on_points)));
}

template <class Real>
void Plan<Real>::collocate(std::span<const Real> in, std::span<Real> out, const PointFunction<Real>& on_points,
                           Scaling scaling) {
  start_collocate(in, out, on_points, scaling).wait();
}

template <class Real>
Execution Plan<Real>::start_collocate(std::span<const Real> in, std::span<Real> out, PointFunction<Real> on_points,
                                      Scaling scaling) {
  return state_->start(state_->collocation ? &*state_->collocation : nullptr, Type::r2r, in, out, scaling,
                       call_of(std::move(on_points)));
}

template MemoryNeed memory_need<float>(const gas::Team&, const Options&);
template MemoryNeed memory_need<double>(const gas::Team&, const Options&);
template class Plan<float>;
template class Plan<double>;
template std::span<float> Plan<float>::input_array() const;
template std::span<std::complex<float>> Plan<float>::input_array() const;
template std::span<float> Plan<float>::output_array() const;
template std::span<std::complex<float>> Plan<float>::output_array() const;
template std::span<double> Plan<double>::input_array() const;
template std::span<std::complex<double>> Plan<double>::input_array() const;
template std::span<double> Plan<double>::output_array() const;
template std::span<std::complex<double>> Plan<double>::output_array() const;

}  // namespace penstock::fft
