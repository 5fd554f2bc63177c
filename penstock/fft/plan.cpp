// Plans: options are settled and checked, memory is counted before it is taken, both directions are made ready.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/fft.hpp"
#include "penstock/fft/pipeline.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/schedule.hpp"

namespace penstock::fft {
namespace {

struct Schedules {
  Schedule forward;
  Schedule backward;
  std::vector<std::uint64_t> region_bytes;  // by region: what either direction needs
  MemoryNeed need;

  std::uint64_t tile_bytes() const { return std::max(forward.tile_bytes, backward.tile_bytes); }
  std::uint64_t plane_bytes() const { return std::max(forward.plane_bytes, backward.plane_bytes); }
};

Schedules make_schedules(const gas::Team& team, const Problem& problem) {
  Schedules schedules{.forward = make_schedule(problem, true, team.rank()),
                      .backward = make_schedule(problem, false, team.rank()),
                      .region_bytes = {},
                      .need = {}};
  for (const Schedule* schedule : {&schedules.forward, &schedules.backward}) {
    schedules.region_bytes.resize(std::max(schedules.region_bytes.size(), schedule->region_bytes.size()));
    for (std::size_t i = 0; i < schedule->region_bytes.size(); ++i) {
      schedules.region_bytes[i] = std::max(schedules.region_bytes[i], schedule->region_bytes[i]);
    }
    for (const ExchangePlan& exchange : schedule->exchanges) {
      for (const gas::Outgoing& message : exchange.outgoing) {
        schedules.need.exchange_bytes += team.is_local(message.peer) ? 0 : message.bytes;
      }
    }
  }
  for (const std::uint64_t bytes : schedules.region_bytes) {
    schedules.need.exchange_bytes += bytes;
  }
  schedules.need.scratch_bytes = static_cast<std::uint64_t>(problem.options.threads) *
                                 Scratch::bytes(schedules.tile_bytes(), schedules.plane_bytes());
  schedules.need.field_bytes = static_cast<std::uint64_t>(problem.field_bytes(team.rank()));
  return schedules;
}

}  // namespace

double Breakdown::transform_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.transform_s;
  }
  return sum_s;
}

double Breakdown::move_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.gather_s + stage.scatter_s;
  }
  return sum_s;
}

double Breakdown::wait_s() const noexcept {
  double sum_s = 0;
  for (const StageTime& stage : stages) {
    sum_s += stage.wait_s;
  }
  return sum_s;
}

void Breakdown::add(const Breakdown& other, double share) noexcept {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    stages[i].gather_s += share * other.stages[i].gather_s;
    stages[i].transform_s += share * other.stages[i].transform_s;
    stages[i].scatter_s += share * other.stages[i].scatter_s;
    stages[i].wait_s += share * other.stages[i].wait_s;
  }
  total_s += share * other.total_s;
}

template <class Real>
MemoryNeed memory_need(const gas::Team& team, const Options& options) {
  return make_schedules(team, settle<Real>(team, options)).need;
}

template <class Real>
struct Plan<Real>::State {
  gas::Team team;
  Problem problem;
  Distribution input;
  Distribution output;
  Decision decision;
  std::int64_t field_bytes;
  MemoryNeed need;
  Crew crew;
  std::vector<Scratch> scratch;
  std::vector<gas::Segment> regions;
  Pipeline<Real> forward;
  Pipeline<Real> backward;
  Breakdown last{};

  template <class In, class Out>
  void run(Pipeline<Real>& pipeline, const Distribution& from, const Distribution& to, Type type,
           std::span<const In> in, std::span<Out> out, Scaling scaling) {
    const auto stride_in = static_cast<std::size_t>(field_bytes) / sizeof(In);
    const auto stride_out = static_cast<std::size_t>(field_bytes) / sizeof(Out);
    const auto fields = static_cast<std::size_t>(problem.options.batch);
    const std::size_t wanted_in = (fields - 1) * stride_in + static_cast<std::size_t>(from.box.count());
    const std::size_t wanted_out = (fields - 1) * stride_out + static_cast<std::size_t>(to.box.count());
    if (problem.options.type != type) {
      constexpr std::array<std::string_view, 3> names{"c2c", "r2c", "r2r"};
      throw Error(fmt::format("the plan is of type {}: give it arrays of that type",
                              names[static_cast<std::size_t>(problem.options.type)]));
    }
    if (in.size() < wanted_in || out.size() < wanted_out) {
      throw Error(fmt::format("arrays of {} and {} elements are too short: this rank's parts have {} and {}", in.size(),
                              out.size(), wanted_in, wanted_out));
    }
    last = {};
    for (std::size_t i = 0; i < fields; ++i) {
      const Breakdown time = pipeline.run(crew, scratch, reinterpret_cast<const std::byte*>(in.data() + i * stride_in),
                                          reinterpret_cast<std::byte*>(out.data() + i * stride_out),
                                          static_cast<Real>(factor_of(scaling, problem.options)));
      last.add(time);
    }
  }
};

template <class Real>
Plan<Real>::Plan(const gas::Team& user_team, const Options& options) {
  Problem problem = settle<Real>(user_team, options);
  user_team.agree(options.threads > 1 && !user_team.allows_threads()
                      ? "several threads per rank need MPI initialised with MPI_THREAD_SERIALIZED or more"
                      : "");
  Schedules schedules = make_schedules(user_team, problem);
  check_memory(user_team, options, schedules.need);

  gas::Team team = user_team.split(0, user_team.rank());
  std::vector<gas::Segment> regions;
  for (const std::uint64_t bytes : schedules.region_bytes) {
    regions.emplace_back(team, bytes, 0);
  }
  std::optional<Crew> crew;
  std::vector<Scratch> scratch;
  team.together([&] {
    crew.emplace(options.threads);
    for (int i = 0; i < options.threads; ++i) {
      scratch.emplace_back(schedules.tile_bytes(), schedules.plane_bytes());
    }
  });
  const Decision decision{.grid = problem.grid,
                          .grain = problem.grain,
                          .is_plane_in_cache = problem.is_plane_in_cache,
                          .passes = static_cast<int>(schedules.forward.passes.size()),
                          .forward_stages = describe_stages(schedules.forward),
                          .backward_stages = describe_stages(schedules.backward)};
  Pipeline<Real> forward(team, std::move(schedules.forward), regions, options.effort);
  Pipeline<Real> backward(team, std::move(schedules.backward), regions, options.effort);
  const int rank = team.rank();
  state_.reset(new State{.team = std::move(team),
                         .problem = problem,
                         .input = problem.input[static_cast<std::size_t>(rank)],
                         .output = problem.output[static_cast<std::size_t>(rank)],
                         .decision = decision,
                         .field_bytes = problem.field_bytes(rank),
                         .need = schedules.need,
                         .crew = std::move(*crew),
                         .scratch = std::move(scratch),
                         .regions = std::move(regions),
                         .forward = std::move(forward),
                         .backward = std::move(backward)});
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
  return state_->field_bytes / state_->problem.space_bytes();
}

template <class Real>
std::int64_t Plan<Real>::output_stride() const noexcept {
  return state_->field_bytes / state_->problem.spectrum_bytes();
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
  state_->run(state_->forward, state_->input, state_->output, Type::c2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling) {
  state_->run(state_->forward, state_->input, state_->output, Type::r2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::forward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  state_->run(state_->forward, state_->input, state_->output, Type::r2r, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  state_->run(state_->backward, state_->output, state_->input, Type::c2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling) {
  state_->run(state_->backward, state_->output, state_->input, Type::r2c, in, out, scaling);
}

template <class Real>
void Plan<Real>::backward(std::span<const Real> in, std::span<Real> out, Scaling scaling) {
  state_->run(state_->backward, state_->output, state_->input, Type::r2r, in, out, scaling);
}

template MemoryNeed memory_need<float>(const gas::Team&, const Options&);
template MemoryNeed memory_need<double>(const gas::Team&, const Options&);
template class Plan<float>;
template class Plan<double>;

}  // namespace penstock::fft
