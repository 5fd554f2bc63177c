#include "penstock/fft/device_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
#include "penstock/fft/device_peers.hpp"
#include "penstock/fft/device_pipeline.hpp"
#include "penstock/fft/direction_index.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/sequence.hpp"
#include "penstock/model/model.hpp"

namespace penstock::fft {
namespace {

/// What only plans on processors do of these options; empty where there is none.
std::string foreign_option(const Options& options) {
  const bool has_kinds = std::ranges::any_of(options.kinds, [](const auto& kind) { return kind.has_value(); });
  if (options.type == Type::r2r || has_kinds) {
    return "sine, cosine, half-complex and Hartley transforms";
  }
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.modes[d] != 0 && options.modes[d] != options.size[d]) {
      return "fewer modes than points";
    }
  }
  if (options.is_interleaved && options.batch > 1) {
    return "interleaved fields";
  }
  if (options.convolves || options.collocates) {
    return "convolutions and collocations";
  }
  if (options.has_arrays) {
    return "arrays of the plan's own";
  }
  return options.exchange_method != nullptr ? "other exchange methods" : "";
}

}  // namespace

std::shared_ptr<const device::Device> open_device(const gas::Team& team, const std::string& selector) {
  const std::vector<int>& nodes = team.placement().nodes;
  const auto me = nodes.begin() + team.rank();
  const auto before = static_cast<std::size_t>(std::count(nodes.begin(), me, *me));
  std::shared_ptr<const device::Device> device;
  team.together([&] {
    if (selector != "any") {
      device = device::open(selector);
      return;
    }
    std::vector<device::Properties> accelerators = device::list();
    if (!accelerators.empty()) {
      const device::Interface interface = accelerators.front().interface;  // what both reach counts once
      std::erase_if(accelerators, [&](const auto& one) { return one.is_host || one.interface != interface; });
    }
    device = device::open(accelerators.empty() ? std::string()
                                               : device::selector_of(accelerators[before % accelerators.size()]));
  });
  return device;
}

template <class Real>
std::string device_obstacle(const device::Properties& properties, const Options& options) {
  if (const std::string option = foreign_option(options); !option.empty()) {
    return fmt::format("plans on devices have no {}: plan for the processor", option);
  }
  for (int d = 0; d < 3; ++d) {
    if (!options.along[at(d)]) {
      continue;
    }
    // Both orders of pencils, as the stages of both directions may want them.
    for (const transform::Adjacent adjacent : {transform::Adjacent::points, transform::Adjacent::pencils}) {
      const bool is_real = halved_direction(options) == d;
      const transform::DeviceShape shape{.length = options.size[at(d)],
                                         .kind = is_real ? transform::Kind::real_to_complex : transform::Kind::forward,
                                         .real_bytes = sizeof(Real),
                                         .source = adjacent,
                                         .destination = adjacent};
      if (const std::string obstacle = transform::obstacle(properties, shape); !obstacle.empty()) {
        return fmt::format("the device {} cannot transform: {}; plan for the processor", properties.name, obstacle);
      }
    }
  }
  return {};
}

namespace {

/// A rank's part of a device's memory.
struct DeviceShare {
  std::uint64_t bytes = 0;
  int ranks = 0;  ///< that share the device
};

/// Collective: what this rank may take of its device.
DeviceShare share_of(const gas::Team& team, const device::Device& device, std::uint64_t budget_bytes) {
  struct Claim {
    int node;
    device::Properties::Identity identity;
    std::uint64_t available_bytes;
  };
  Claim mine{};
  team.together([&] {
    mine = {team.placement().nodes[static_cast<std::size_t>(team.rank())], device.properties().identity,
            device.available_bytes()};
  });
  DeviceShare share{.bytes = mine.available_bytes};
  for (const Claim& claim : team.all_gather(mine)) {
    if (claim.node == mine.node && claim.identity == mine.identity) {
      ++share.ranks;
      share.bytes = std::min(share.bytes, claim.available_bytes);
    }
  }
  // A sixteenth of what is free is left to the driver, which keeps kernels there, and pieces of its own sizes.
  share.bytes = budget_bytes > 0 ? budget_bytes : share.bytes - share.bytes / 16;
  share.bytes /= static_cast<std::uint64_t>(share.ranks);
  return share;
}

/// The device memory of what transforms read besides their pencils.
std::uint64_t constants_of(const device::Properties& properties, const Options& options, std::int64_t real_bytes) {
  std::uint64_t bytes = 0;
  std::set<std::int64_t> lengths;
  for (std::size_t d = 0; d < 3; ++d) {
    if (options.along[d] && lengths.insert(options.size[d]).second) {
      bytes += transform::constants_bytes(properties, {.length = options.size[d], .real_bytes = real_bytes});
    }
  }
  return bytes;
}

/// Both directions of a plan, and what they take.
struct DeviceSchedules {
  DeviceSchedule forward;
  DeviceSchedule backward;
  DeviceNeed need{};
  DeviceNeed need_of_host_fields{};  ///< where the fields of a call are in host memory
};

/// Why a device has no room for `bytes`, of which the largest piece has `largest_bytes`; empty where it has.
std::string lack_of_memory(const Options& options, const device::Properties& properties, const DeviceShare& share,
                           std::uint64_t bytes, std::uint64_t largest_bytes) {
  const auto [nx, ny, nz] = options.size;
  if (bytes > share.bytes) {
    return fmt::format(
        "a plan for {}x{}x{} wants {} of the memory of the device {} for chunks of one plane, and may "
        "have {}{}: take a smaller size, single precision or more devices",
        nx, ny, nz, format_bytes(bytes), properties.name, format_bytes(share.bytes),
        share.ranks > 1 ? fmt::format(", as {} ranks share it", share.ranks) : "");
  }
  if (largest_bytes > properties.allocation_bytes) {
    return fmt::format(
        "a plan for {}x{}x{} wants a piece of {} of the memory of the device {} for chunks of one plane, "
        "whose pieces have at most {}: take a smaller size, single precision or more devices",
        nx, ny, nz, format_bytes(largest_bytes), properties.name, format_bytes(properties.allocation_bytes));
  }
  return {};
}

/// Collective: the schedules with the fewest passes over the bus that the devices of all ranks have memory for, and of
/// these those with the largest chunks. Throws Error on every rank where there are none.
DeviceSchedules choose_schedules(const gas::Team& team, const Problem& problem, const device::Device& device,
                                 FieldsOn fields_on) {
  const device::Properties& properties = device.properties();
  const DeviceShare share = share_of(team, device, problem.options.memory_budget_bytes);
  const std::uint64_t constants_bytes = constants_of(properties, problem.options, problem.real_bytes);
  const bool is_on_host = fields_on == FieldsOn::host;
  const std::int64_t max_chunks = std::ranges::max(problem.options.size);
  const std::int64_t first_chunks = problem.options.planes_per_message ? 1 : DeviceTuning{}.chunks;
  std::string lack;
  for (const bool spills : {false, true}) {
    for (std::int64_t chunks = first_chunks, last = 0; last < max_chunks; chunks = std::min(2 * chunks, max_chunks)) {
      const DeviceTuning tuning{.joins_stages = is_on_host || spills, .spills = spills, .chunks = chunks};
      DeviceSchedules made{.forward = make_device_schedule(problem, Direction::forward, team.rank(), tuning),
                           .backward = make_device_schedule(problem, Direction::backward, team.rank(), tuning)};
      for (const DeviceSchedule* schedule : {&made.forward, &made.backward}) {
        made.need.cover(*schedule, is_on_host);
        made.need_of_host_fields.cover(*schedule, true);
      }
      lack = lack_of_memory(problem.options, properties, share, made.need.total_device_bytes() + constants_bytes,
                            made.need.largest_bytes());
      if (team.all_of(lack.empty())) {
        return made;
      }
      last = chunks;
    }
  }
  team.agree(lack);
  throw Error(lack);  // does not come here: some rank lacks memory
}

/// Collective: streams, and memory on both sides of the bus.
std::unique_ptr<DeviceResources> make_resources(const gas::Team& team,
                                                const std::shared_ptr<const device::Device>& device,
                                                const DeviceNeed& need) {
  auto resources =
      std::make_unique<DeviceResources>(DeviceResources{.device = device, .library = transform::KernelLibrary(device)});
  team.together([&] {
    resources->compute = device->make_stream();
    resources->to_device = device->make_stream();
    resources->to_host = device->make_stream();
    resources->to_peers = device->make_stream();
    for (const std::uint64_t bytes : need.device_bytes) {
      resources->blocks.push_back(bytes > 0 ? device->allocate(bytes) : nullptr);
    }
    resources->sources.reserve(*device, need.source_bytes);
    resources->sinks.reserve(*device, need.sink_bytes);
  });
  for (const std::uint64_t bytes : need.host_bytes) {
    resources->segments.emplace_back(team, bytes, 0);
  }
  team.together([&] {
    for (const gas::Segment& segment : resources->segments) {
      for (int peer = 0; peer < team.size(); ++peer) {
        if (std::byte* const mapped = segment.address_at(peer); mapped != nullptr && segment.bytes_of(peer) > 0) {
          resources->pinned.push_back(device->pin({mapped, segment.bytes_of(peer)}));
        }
      }
    }
  });
  return resources;
}

}  // namespace

template <class Real>
struct DevicePlan<Real>::State {
  gas::Team team;
  Options options;
  Tuning tuning;
  Distribution input;
  Distribution output;
  std::int64_t field_bytes;
  std::int64_t space_bytes;  // of an element
  std::int64_t spectrum_bytes;
  DeviceMemoryNeed need;
  DeviceMessages messages;
  DeviceNeed need_of_host_fields;
  std::unique_ptr<DeviceResources> resources;
  std::unique_ptr<DevicePipeline> forward;
  std::unique_ptr<DevicePipeline> backward;
  Breakdown last{};

  ~State() {
    try {
      team.check_revoked();
    } catch (const Error&) {
      keep_blocks();
    }
  }

  /// Until the process ends: peers that have not heard of the failure yet may copy straight into them.
  void keep_blocks() noexcept {
    static auto* const kept = new std::vector<std::unique_ptr<device::Memory>>;
    static std::mutex mutex;
    if (team.size() > 1) {
      const std::scoped_lock lock(mutex);
      std::ranges::move(resources->blocks, std::back_inserter(*kept));
    }
  }

  /// Collective.
  static std::unique_ptr<State> make(const gas::Team& user_team, std::shared_ptr<const device::Device> device,
                                     const Options& options, FieldsOn fields_on, MessagePath path);

  std::int64_t bytes_of(bool is_space) const noexcept {
    return is_space ? input.elements() * space_bytes : output.elements() * spectrum_bytes;
  }

  /// Transforms the fields of the batch, one after the other.
  void transform(bool is_forward, DeviceRun run, Scaling scaling) {
    run.factor = factor_of(scaling, options);
    DevicePipeline& pipeline = is_forward ? *forward : *backward;
    team.run_or_revoke([&] {
      team.check_revoked();
      last = {};
      for (int field = 0; field < options.batch; ++field) {
        pipeline.run(team, run);
        last.add(pipeline.breakdown());
        const auto stride = static_cast<std::uint64_t>(field_bytes);
        run.in.offset += run.host_in == nullptr ? stride : 0;
        run.out.offset += run.host_out == nullptr ? stride : 0;
        run.host_in += run.host_in == nullptr ? 0 : field_bytes;
        run.host_out += run.host_out == nullptr ? 0 : field_bytes;
      }
    });
  }

  template <class In, class Out>
  void transform_host(bool is_forward, Type type, std::span<const In> in, std::span<Out> out, Scaling scaling) {
    team.run_or_revoke([&] {
      if (options.type != type) {
        throw Error(fmt::format("the plan is of type {}: give it arrays of that type",
                                options.type == Type::c2c ? "c2c" : "r2c"));
      }
      const auto others = static_cast<std::uint64_t>((options.batch - 1) * field_bytes);
      const auto wanted = [&](bool is_space) { return others + static_cast<std::uint64_t>(bytes_of(is_space)); };
      if (in.size_bytes() < wanted(is_forward) || out.size_bytes() < wanted(!is_forward)) {
        throw Error(fmt::format("arrays of {} and {} bytes are too short: this rank's parts have {} and {}",
                                in.size_bytes(), out.size_bytes(), wanted(is_forward), wanted(!is_forward)));
      }
      resources->sources.reserve(*resources->device, need_of_host_fields.source_bytes);
      resources->sinks.reserve(*resources->device, need_of_host_fields.sink_bytes);
    });
    transform(is_forward,
              {.host_in = reinterpret_cast<const std::byte*>(in.data()),
               .host_out = reinterpret_cast<std::byte*>(out.data())},
              scaling);
  }
};

template <class Real>
std::unique_ptr<typename DevicePlan<Real>::State> DevicePlan<Real>::State::make(
    const gas::Team& user_team, std::shared_ptr<const device::Device> device, const Options& options,
    FieldsOn fields_on, MessagePath path) {
  user_team.agree(device == nullptr ? "a device plan needs a device: see device::open"
                                    : device_obstacle<Real>(device->properties(), options));
  user_team.agree_on("place of the fields of a device plan", fields_on == FieldsOn::host ? "host" : "device");
  user_team.agree_on("memory budget of a device plan", fmt::format("{}", options.memory_budget_bytes));
  Options options_of_host = options;
  options_of_host.memory_budget_bytes = 0;     // it is the device's
  options_of_host.planning = Planning::model;  // what plans on processors take tells nothing of devices
  Problem problem = resolve<Real>(user_team, options_of_host);
  problem.options.memory_budget_bytes = options.memory_budget_bytes;
  problem.has_room_for_planes = false;  // a kernel transforms along one direction
  DeviceSchedules schedules = choose_schedules(user_team, problem, *device, fields_on);
  const DeviceNeed& need = schedules.need;
  check_memory(user_team, options_of_host, {.exchange_bytes = need.total_host_bytes()});

  gas::Team team = user_team.split(0, user_team.rank());
  std::unique_ptr<DeviceResources> resources;
  std::unique_ptr<DevicePipeline> forward;
  std::unique_ptr<DevicePipeline> backward;
  DeviceMessages messages;
  const auto has_blocks = [&](BlockPlace place) {  // the same on all ranks
    const auto is_there = [&](const DeviceExchange& exchange) { return exchange.place == place; };
    return std::ranges::any_of(schedules.forward.exchanges, is_there) ||
           std::ranges::any_of(schedules.backward.exchanges, is_there);
  };
  const int rank = team.rank();
  const auto me = static_cast<std::size_t>(rank);
  team.run_or_revoke([&] {
    resources = make_resources(team, device, need);
    if (has_blocks(BlockPlace::device) && team.size() > 1) {
      open_peer_blocks(team, *resources);
      messages = choose_paths(team, *resources, schedules.forward, schedules.backward, path);
    } else if (has_blocks(BlockPlace::host) && team.size() > 1) {
      messages.why_through_host = "the blocks of exchanges lie in its memory";
    }
    forward = std::make_unique<DevicePipeline>(team, *resources, std::move(schedules.forward), problem,
                                               problem.input[me], problem.output[me]);
    backward = std::make_unique<DevicePipeline>(team, *resources, std::move(schedules.backward), problem,
                                                problem.output[me], problem.input[me]);
  });
  const DeviceMemoryNeed memory{.device_bytes = need.total_device_bytes() +
                                                constants_of(device->properties(), problem.options, problem.real_bytes),
                                .host_bytes = need.total_host_bytes()};
  return std::unique_ptr<State>(new State{.team = std::move(team),
                                          .options = problem.options,
                                          .tuning = problem.tuning,
                                          .input = from_sequence(problem.input[me], problem.sequence),
                                          .output = from_sequence(problem.output[me], problem.sequence),
                                          .field_bytes = problem.field_bytes(rank),
                                          .space_bytes = problem.space_bytes(),
                                          .spectrum_bytes = problem.spectrum_bytes(),
                                          .need = memory,
                                          .messages = std::move(messages),
                                          .need_of_host_fields = std::move(schedules.need_of_host_fields),
                                          .resources = std::move(resources),
                                          .forward = std::move(forward),
                                          .backward = std::move(backward)});
}

template <class Real>
DevicePlan<Real>::DevicePlan(const gas::Team& team, std::shared_ptr<const device::Device> device,
                             const Options& options, FieldsOn fields_on)
    : DevicePlan(team, std::move(device), options, fields_on, MessagePath::fastest) {}

template <class Real>
DevicePlan<Real>::DevicePlan(const gas::Team& team, std::shared_ptr<const device::Device> device,
                             const Options& options, FieldsOn fields_on, MessagePath path)
    : state_(team.run_or_revoke([&] { return State::make(team, std::move(device), options, fields_on, path); })) {}

template <class Real>
DevicePlan<Real>::~DevicePlan() = default;
template <class Real>
DevicePlan<Real>::DevicePlan(DevicePlan&&) noexcept = default;
template <class Real>
DevicePlan<Real>& DevicePlan<Real>::operator=(DevicePlan&&) noexcept = default;

template <class Real>
const Distribution& DevicePlan<Real>::input() const noexcept {
  return state_->input;
}

template <class Real>
const Distribution& DevicePlan<Real>::output() const noexcept {
  return state_->output;
}

template <class Real>
std::int64_t DevicePlan<Real>::input_stride() const noexcept {
  return state_->field_bytes / state_->space_bytes;
}

template <class Real>
std::int64_t DevicePlan<Real>::output_stride() const noexcept {
  return state_->field_bytes / state_->spectrum_bytes;
}

template <class Real>
void DevicePlan<Real>::forward(const device::Location& in, const device::Location& out, Scaling scaling) {
  state_->transform(true, {.in = in, .out = out}, scaling);
}

template <class Real>
void DevicePlan<Real>::backward(const device::Location& in, const device::Location& out, Scaling scaling) {
  state_->transform(false, {.in = in, .out = out}, scaling);
}

template <class Real>
void DevicePlan<Real>::forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  state_->transform_host(true, Type::c2c, in, out, scaling);
}

template <class Real>
void DevicePlan<Real>::forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling) {
  state_->transform_host(true, Type::r2c, in, out, scaling);
}

template <class Real>
void DevicePlan<Real>::backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling) {
  state_->transform_host(false, Type::c2c, in, out, scaling);
}

template <class Real>
void DevicePlan<Real>::backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling) {
  state_->transform_host(false, Type::r2c, in, out, scaling);
}

template <class Real>
const Tuning& DevicePlan<Real>::tuning() const noexcept {
  return state_->tuning;
}

template <class Real>
std::vector<DeviceStagePlan> DevicePlan<Real>::forward_stages() const {
  return state_->forward->describe();
}

template <class Real>
std::vector<DeviceStagePlan> DevicePlan<Real>::backward_stages() const {
  return state_->backward->describe();
}

template <class Real>
const DeviceMemoryNeed& DevicePlan<Real>::memory() const noexcept {
  return state_->need;
}

template <class Real>
const DeviceMessages& DevicePlan<Real>::messages() const noexcept {
  return state_->messages;
}

template <class Real>
model::DeviceFft DevicePlan<Real>::modelled(const machine::Machine& machine, bool are_fields_on_host) const {
  const State& state = *state_;
  const gas::TransportTraits& transport = state.team.transport();
  model::DeviceFft run{.stages = state.forward->modelled(are_fields_on_host),
                       .fields = state.options.batch,
                       .ty = state.tuning.grid.ty,
                       .tz = state.tuning.grid.tz,
                       .is_node_shared = transport.maps_memory || !transport.network};
  // Of a machine without a network, ranks that send messages are on one node all the same.
  run.nodes = machine.network ? gas::Placement::count(state.team.placement().domains) : 1;
  run.ranks_per_node = divide_up<std::int64_t>(state.team.size(), run.nodes);
  const std::string_view name = transport.farthest();
  run.transport =
      std::ranges::find(machine.transports, name, &machine::Transport::name) == machine.transports.end() ? "" : name;
  return run;
}

template <class Real>
const Breakdown& DevicePlan<Real>::last_breakdown() const noexcept {
  return state_->last;
}

#pragma GCC visibility push(default)  // their instances are in the library
template std::string device_obstacle<float>(const device::Properties&, const Options&);
template std::string device_obstacle<double>(const device::Properties&, const Options&);
#pragma GCC visibility pop

template class DevicePlan<float>;
template class DevicePlan<double>;

}  // namespace penstock::fft
