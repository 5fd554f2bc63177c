#include "penstock/fft/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/parts.hpp"
#include "penstock/fft/planner.hpp"
#include "penstock/fft/sequence.hpp"

namespace penstock::fft {
namespace {

/// How pencils along a direction that is transformed are transformed forward.
RowKind kind_along(const Options& options, int along) {
  if (const std::optional<RealKind> kind = real_kind(options, along)) {
    return row_kind_of(*kind);
  }
  return halved_direction(options) == along ? RowKind::real_to_complex : RowKind::forward;
}

bool is_complex_before(const Options& options, int along) {
  const auto place = [&](int direction) {
    return std::ranges::find(options.sequence, direction) - options.sequence.begin();
  };
  const std::optional<int> halved = halved_direction(options);
  return options.type == Type::c2c || (halved && place(*halved) < place(along));
}

std::int64_t components_of(const Options& options) {
  return options.is_interleaved ? options.batch : 1;
}

std::int64_t numbers_of(const Options& options, int along) {
  const TransformTraits& traits = traits_of(kind_along(options, along));
  const bool has_both_parts = traits.has_real_input && traits.has_real_output && is_complex_before(options, along);
  return components_of(options) * (has_both_parts ? 2 : 1);
}

/// What is wrong with the options for `ranks` ranks, or nothing.
std::string find_mistake(const Options& options, int ranks) {
  constexpr auto limit = static_cast<double>(std::numeric_limits<std::int64_t>::max()) / 64;
  const auto [nx, ny, nz] = options.size;
  for (const std::int64_t n : options.size) {
    if (n < 1) {
      return fmt::format("a size of {}x{}x{}: each direction needs at least 1 point", nx, ny, nz);
    }
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t modes = options.modes[d];
    if (modes < 0 || modes > options.size[d] || (modes > 0 && modes != options.size[d] && !options.along[d])) {
      return fmt::format("{} modes of {} points: a direction that is transformed has 1 mode or more, up to its points",
                         modes, options.size[d]);
    }
  }
  const double points = static_cast<double>(nx) * static_cast<double>(ny) * static_cast<double>(nz);
  if (points * options.batch >= limit) {
    return fmt::format("a size of {}x{}x{} with {} fields has more bytes than 64 bits can count", nx, ny, nz,
                       options.batch);
  }
  const bool is_automatic = options.grid == Grid{};
  if (!is_automatic && (options.grid.ty < 1 || options.grid.tz < 1)) {
    return fmt::format("a grid of {}x{}: both numbers must be at least 1", options.grid.ty, options.grid.tz);
  }
  if (!is_automatic && static_cast<std::int64_t>(options.grid.ty) * options.grid.tz != ranks) {
    return fmt::format("a grid of {}x{} has {} places, but there are {} ranks: the two must be equal", options.grid.ty,
                       options.grid.tz, static_cast<std::int64_t>(options.grid.ty) * options.grid.tz, ranks);
  }
  if (const std::int64_t planes = options.planes_per_message.value_or(0); planes < 0) {
    return fmt::format("{} planes per message: give 1 or more, or 0 for all of them", planes);
  }
  if (const std::int64_t deferred = options.deferred_parts.value_or(0);
      deferred < 0 || deferred >= shape::exchange_parts || (deferred > 0 && options.exchange_method != nullptr)) {
    return fmt::format(
        "{} deferred parts: give 0 to {}, or none where another exchange method is chosen, as MPI's own ways are",
        deferred, shape::exchange_parts - 1);
  }
  const bool has_transform = std::ranges::count(options.along, true) > 0;
  if (options.collocates && !has_transform) {
    return "a plan that collocates transforms at least one direction";
  }
  if (!std::ranges::is_permutation(options.sequence, std::array{0, 1, 2})) {
    return fmt::format("a sequence of directions {}, {}, {}: each of 0 (x), 1 (y) and 2 (z) once", options.sequence[0],
                       options.sequence[1], options.sequence[2]);
  }
  if (options.type == Type::r2c && !halved_direction(options)) {
    return "type r2c without a Fourier transform: the result is real; choose type r2r";
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.along[d] && options.kinds[d] == RealKind::redft00 && options.size[d] < 2) {
      return fmt::format("a size of {}x{}x{}: a direction of kind redft00 needs at least 2 points", nx, ny, nz);
    }
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const bool has_fewer = options.modes[d] != 0 && options.modes[d] != options.size[d];
    if (options.along[d] && options.kinds[d] >= RealKind::r2hc && has_fewer) {
      return fmt::format("{} modes of {} half-complex numbers or Hartley's: give all", options.modes[d],
                         options.size[d]);
    }
  }
  for (int d = 0; d < 3; ++d) {
    if (options.along[at(d)] &&
        find_library(options.local, kind_along(options, d), numbers_of(options, d)) == nullptr) {
      return fmt::format("no local transforms '{}' that can do this type: this build has {}", options.local,
                         local_transform_names());
    }
  }
  if (options.instruction_set && !is_usable(*options.instruction_set)) {
    return fmt::format("this processor has no {}", name_of(*options.instruction_set));
  }
  if (options.threads < 1 || options.batch < 1) {
    return fmt::format("{} threads and {} fields: at least 1 of each is needed", options.threads, options.batch);
  }
  if (options.convolves && (options.type == Type::r2r || options.along != std::array{true, true, true})) {
    return "a plan that convolves transforms all three directions, into a complex spectrum";
  }
  return {};
}

template <class Real>
std::string describe(const Options& options) {
  const auto& [x, y, z] = options.along;
  const auto kind = [&](int d) { return static_cast<int>(kind_along(options, d)); };
  return fmt::format(
      "precision {}, size {}x{}x{}, modes {}x{}x{}, type {}, kinds {},{},{}, along {}{}{}, sequence {}{}{}, grid "
      "{}x{}, output {}, "
      "exchange method '{}', planes per message {}, deferred parts {}, batch {}{}, local transforms '{}'{}",
      sizeof(Real) == 4 ? "single" : "double", options.size[0], options.size[1], options.size[2], options.modes[0],
      options.modes[1], options.modes[2], static_cast<int>(options.type), kind(0), kind(1), kind(2), x ? "x" : "",
      y ? "y" : "", z ? "z" : "", options.sequence[0], options.sequence[1], options.sequence[2], options.grid.ty,
      options.grid.tz, static_cast<int>(options.output), options.exchange_method ? options.exchange_method->name() : "",
      options.planes_per_message.value_or(-1), options.deferred_parts.value_or(-1), options.batch,
      options.is_interleaved ? " interleaved" : "", options.local, options.has_arrays ? ", arrays of its own" : "");
}

}  // namespace

void check_memory(const gas::Team& team, const Options& options, const MemoryNeed& need) {
  team.require_memory(fmt::format("a plan for {}x{}x{}", options.size[0], options.size[1], options.size[2]),
                      need.total_bytes(), options.memory_budget_bytes);
}

bool has_room_for_planes(const Problem& problem, const Grid& grid, int ranks) noexcept {
  const Options& options = problem.options;
  const std::int64_t plane_bytes =
      spectrum_points(options)[0] * options.size[1] * problem.spectrum_bytes() * problem.components();
  const std::int64_t threads = static_cast<std::int64_t>(options.threads) * ranks;
  const std::int64_t sharers = std::min<std::int64_t>(threads, problem.machine.node.cores);
  // Five eighths of the last-level cache, shared by all.
  return options.along[0] && options.along[1] &&
         plane_bytes * std::max<std::int64_t>(sharers, 1) <= problem.machine.node.cache_bytes / 8 * 5 &&
         options.size[2] / grid.tz >= options.threads;
}

template <class Real>
Problem resolve(const gas::Team& team, const Options& options) {
  team.agree(find_mistake(options, team.size()));
  team.agree_on("plan", fmt::format("{}, {} {}{}, progress {}", describe<Real>(options),
                                    options.planning == Planning::measure ? "measured" : "by the model",
                                    options.convolves ? ", convolves" : "", options.collocates ? ", collocates" : "",
                                    static_cast<int>(options.progress)));
  Problem problem{
      .options = in_sequence(options), .sequence = options.sequence, .machine = {}, .real_bytes = sizeof(Real)};
  team.together([&] { problem.machine = options.machine ? *options.machine : machine::detect(); });
  problem.has_progress_thread = choose_progress_thread(team, problem);
  problem.modelled = model_of(team, problem);
  problem.candidates = list_candidates(team, problem);
  if (options.planning == Planning::measure && problem.candidates.size() > 1) {
    const std::string name = fmt::format("{}, {} ranks, {} threads, transport {}, machine {}", describe<Real>(options),
                                         team.size(), options.threads, team.transport().name, problem.machine.name);
    problem.candidates = measure_candidates<Real>(team, options, name, std::move(problem.candidates));
  }
  problem.tuning = problem.candidates.front().tuning;
  problem.carrier = choose_carrier(team, problem);
  resolve_parts(team, options, problem);

  // Caches and threads may differ between ranks, the exchanges may not.
  problem.has_room_for_planes = team.all_of(has_room_for_planes(problem, problem.tuning.grid, team.size()));

  // Stores bypass the cache where the field and an exchange of it would not stay in half of it.
  const auto [nx, ny, nz] = spectrum_points(problem.options);
  const std::int64_t field_bytes = nx * ny * nz * problem.spectrum_bytes() * problem.components();
  problem.hint = field_bytes > problem.machine.node.cache_bytes / 4 ? mover::Hint::streaming : mover::Hint::reuse;

  problem.has_far_peers = !team.are_all_local();
  problem.writes_arrays = options.has_arrays && !problem.has_far_peers && options.exchange_method == nullptr;

  // An exchange brings this rank's whole part; where not even that fits, there is no use in scheduling the messages.
  const std::int64_t part = problem.output[static_cast<std::size_t>(team.rank())].box.count() * problem.components();
  check_memory(team, options, {.exchange_bytes = static_cast<std::uint64_t>(part * problem.spectrum_bytes())});
  return problem;
}

int first_direction(const Options& options) noexcept {
  return options.along[0] ? 0 : options.along[1] ? 1 : options.along[2] ? 2 : 0;
}

int last_direction(const Options& options) noexcept {
  return options.along[2] ? 2 : options.along[1] ? 1 : 0;
}

std::optional<int> halved_direction(const Options& options) noexcept {
  const auto found =
      std::ranges::find_if(options.sequence, [&](int d) { return options.along[at(d)] && !options.kinds[at(d)]; });
  return options.type == Type::r2c && found != options.sequence.end() ? std::optional(*found) : std::nullopt;
}

std::optional<RealKind> real_kind(const Options& options, int direction) noexcept {
  const std::optional<RealKind>& kind = options.kinds[at(direction)];
  return !kind && options.type == Type::r2r ? RealKind::redft10 : kind;
}

double factor_of(Scaling scaling, const Options& options) noexcept {
  double points = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.along[d]) {
      const TransformTraits& traits = traits_of(kind_along(options, static_cast<int>(d)));
      points *=
          static_cast<double>(traits.period_per_point) * static_cast<double>(options.size[d] + traits.points_more);
    }
  }
  switch (scaling) {
    case Scaling::symmetric:
      return 1 / std::sqrt(points);
    case Scaling::full:
      return 1 / points;
    default:
      return 1;
  }
}

Extents spectrum_points(const Options& options) noexcept {
  Extents points = options.size;
  for (std::size_t d = 0; d < 3; ++d) {
    points[d] = options.modes[d] > 0 ? options.modes[d] : points[d];
  }
  if (const std::optional<int> halved = halved_direction(options)) {
    points[at(*halved)] = points[at(*halved)] / 2 + 1;
  }
  return points;
}

RowKind Problem::row_kind(int along) const noexcept {
  return kind_along(options, along);
}

std::int64_t Problem::modes(int along) const noexcept {
  return options.modes[at(along)] == options.size[at(along)] ? 0 : options.modes[at(along)];
}

std::int64_t Problem::components() const noexcept {
  return components_of(options);
}

std::int64_t Problem::numbers(int along) const noexcept {
  return numbers_of(options, along);
}

bool Problem::is_complex_before(int along) const noexcept {
  return fft::is_complex_before(options, along);
}

std::int64_t Problem::field_bytes(int rank) const noexcept {
  const auto index = static_cast<std::size_t>(rank);
  const std::int64_t bytes =
      std::max(input[index].elements() * space_bytes(), output[index].elements() * spectrum_bytes());
  return round_up(divide_up(bytes, components()), complex_bytes());
}

namespace {

/// The bytes of an array of whole complex numbers for all fields of a batch, of which each has `last_bytes`.
std::int64_t array_bytes(const Problem& problem, int rank, std::int64_t last_bytes) noexcept {
  const std::int64_t others = problem.options.batch / problem.components() - 1;
  return others * problem.field_bytes(rank) + round_up(last_bytes, problem.complex_bytes());
}

}  // namespace

std::int64_t Problem::input_bytes(int rank) const noexcept {
  return array_bytes(*this, rank, input[static_cast<std::size_t>(rank)].elements() * space_bytes());
}

std::int64_t Problem::output_bytes(int rank) const noexcept {
  return array_bytes(*this, rank, output[static_cast<std::size_t>(rank)].elements() * spectrum_bytes());
}

template Problem resolve<float>(const gas::Team&, const Options&);
template Problem resolve<double>(const gas::Team&, const Options&);

}  // namespace penstock::fft
