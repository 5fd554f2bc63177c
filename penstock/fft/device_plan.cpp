#include "penstock/fft/device_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/device/device.hpp"
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

template <class Real>
struct DevicePlan<Real>::State {
  /// A field's input and output on the device, where the user's are in host memory.
  struct Arrays {
    std::unique_ptr<device::Memory> in;
    std::unique_ptr<device::Memory> out;
  };

  gas::Team team;
  Options options;
  Tuning tuning;
  Distribution input;
  Distribution output;
  std::int64_t field_bytes;
  std::int64_t space_bytes;  // of an element
  std::int64_t spectrum_bytes;
  DeviceMemoryNeed need;
  std::unique_ptr<DeviceResources> resources;
  std::unique_ptr<DevicePipeline> forward;
  std::unique_ptr<DevicePipeline> backward;
  Arrays arrays{};
  Breakdown last{};

  /// Collective.
  static std::unique_ptr<State> make(const gas::Team& user_team, std::shared_ptr<const device::Device> device,
                                     const Options& options);

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
        // Fields of the host pass through one array of the device.
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
      const auto take = [&](std::unique_ptr<device::Memory>& memory) {
        if (memory == nullptr) {
          memory = resources->device->allocate(static_cast<std::uint64_t>(std::max(bytes_of(true), bytes_of(false))));
        }
      };
      take(arrays.in);
      take(arrays.out);
    });
    transform(is_forward,
              {.in = arrays.in->location(),
               .out = arrays.out->location(),
               .host_in = reinterpret_cast<const std::byte*>(in.data()),
               .host_out = reinterpret_cast<std::byte*>(out.data())},
              scaling);
  }
};

template <class Real>
std::unique_ptr<typename DevicePlan<Real>::State> DevicePlan<Real>::State::make(
    const gas::Team& user_team, std::shared_ptr<const device::Device> device, const Options& options) {
  user_team.agree(device == nullptr ? "a device plan needs a device: see device::open"
                                    : device_obstacle<Real>(device->properties(), options));
  Problem problem = resolve<Real>(user_team, options);
  problem.has_room_for_planes = false;  // a kernel transforms along one direction

  gas::Team team = user_team.split(0, user_team.rank());
  auto resources =
      std::make_unique<DeviceResources>(DeviceResources{.device = device, .library = transform::KernelLibrary(device)});
  std::unique_ptr<DevicePipeline> forward;
  std::unique_ptr<DevicePipeline> backward;
  DeviceMemoryNeed memory;
  const int rank = team.rank();
  const auto me = static_cast<std::size_t>(rank);
  team.run_or_revoke([&] {
    DeviceSchedule there;
    DeviceSchedule back;
    DeviceNeed need;
    team.together([&] {
      there = make_device_schedule(problem, Direction::forward, rank);
      back = make_device_schedule(problem, Direction::backward, rank);
      need.cover(there);
      need.cover(back);
      resources->compute = device->make_stream();
      resources->to_device = device->make_stream();
      resources->to_host = device->make_stream();
      for (const std::uint64_t bytes : need.device_bytes) {
        resources->blocks.push_back(device->allocate(bytes));
        memory.device_bytes += bytes;
      }
      resources->before = device->allocate(need.before_bytes);
      resources->after = device->allocate(need.after_bytes);
      memory.device_bytes += need.before_bytes + need.after_bytes;
    });
    for (const std::uint64_t bytes : need.host_bytes) {
      resources->segments.emplace_back(team, bytes, 0);
      memory.host_bytes += bytes;
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
    forward = std::make_unique<DevicePipeline>(team, *resources, std::move(there), problem, problem.input[me],
                                               problem.output[me]);
    backward = std::make_unique<DevicePipeline>(team, *resources, std::move(back), problem, problem.output[me],
                                                problem.input[me]);
  });
  return std::unique_ptr<State>(new State{.team = std::move(team),
                                          .options = problem.options,
                                          .tuning = problem.tuning,
                                          .input = from_sequence(problem.input[me], problem.sequence),
                                          .output = from_sequence(problem.output[me], problem.sequence),
                                          .field_bytes = problem.field_bytes(rank),
                                          .space_bytes = problem.space_bytes(),
                                          .spectrum_bytes = problem.spectrum_bytes(),
                                          .need = memory,
                                          .resources = std::move(resources),
                                          .forward = std::move(forward),
                                          .backward = std::move(backward)});
}

template <class Real>
DevicePlan<Real>::DevicePlan(const gas::Team& team, std::shared_ptr<const device::Device> device,
                             const Options& options)
    : state_(team.run_or_revoke([&] { return State::make(team, std::move(device), options); })) {}

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
model::DeviceFft DevicePlan<Real>::modelled(const machine::Machine& machine, bool are_fields_on_host) const {
  const State& state = *state_;
  const gas::TransportTraits& transport = state.team.transport();
  model::DeviceFft run{.stages = state.forward->modelled(are_fields_on_host, are_fields_on_host),
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
