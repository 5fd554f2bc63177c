// Plans whose transforms run on devices, a device for each rank. Included by fft.hpp.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "penstock/fft/decision.hpp"
#include "penstock/fft/kinds.hpp"
#include "penstock/fft/options.hpp"

#pragma GCC visibility push(default)

namespace penstock::device {
class Device;
struct Location;
struct Properties;
}  // namespace penstock::device

namespace penstock::gas {
class Team;
}

namespace penstock::model {
struct DeviceFft;
}

namespace penstock::fft {

/// Collective: opens a device for each rank, that of `selector` (see device::open), or for "any" an accelerator of its
/// node, which gives its accelerators to its ranks in turn; the first device where a node has none. Throws Error as
/// device::open does.
std::shared_ptr<const device::Device> open_device(const gas::Team& team, const std::string& selector);

/// One stage of a device plan, on this rank.
struct DeviceStagePlan {
  int along = 0;                   ///< the direction of its transforms
  bool is_move = false;            ///< no transform: data changes places
  std::string kernel{};            ///< radices and work-groups; empty where there is none
  int pass = 0;                    ///< over the bus: a stage of the next pass finds in host memory what this one leaves
  std::int64_t chunk_planes = 0;   ///< planes that run, and cross the bus, together; fewer at the end
  std::uint64_t chunk_bytes = 0;   ///< of them, before the stage or after it
  std::uint64_t device_bytes = 0;  ///< read and written in device memory, copies of blocks and direct_bytes included
  std::uint64_t sent_bytes = 0;    ///< copied to the host, for peers or for the next pass; without the user's array
  std::uint64_t received_bytes = 0;  ///< copied to the device, as sent_bytes
  std::uint64_t direct_bytes = 0;    ///< copied straight to peers' devices
  double flops = 0;                  ///< by the convention of 5 n log2 n
};

/// How a device plan's messages travel from a rank. Both members are empty where it sends none.
struct DeviceMessages {
  /// At least so long are those that go straight to peers' devices; nothing where none does.
  std::optional<std::uint64_t> direct_from_bytes{};
  std::string why_through_host{};  ///< why others go through the host, where some do
};

/// The memory that a device plan takes on a rank.
struct DeviceMemoryNeed {
  std::uint64_t device_bytes = 0;  ///< blocks of exchanges, chunks and tables, but not the user's arrays
  std::uint64_t host_bytes = 0;    ///< what peers write into, and blocks of exchanges that are not in device memory
};

enum class MessagePath;  // of the module

/// Where the fields are that a device plan transforms.
enum class FieldsOn { device, host };

/// What a device cannot transform of these options, as a sentence; empty where it can do all. Then a Plan does what is
/// left: sine, cosine, half-complex and Hartley transforms, interleaved fields, modes fewer than points, convolutions,
/// arrays of the plan, other exchange methods, and pencils longer than what a work-group holds. Local.
template <class Real>
std::string device_obstacle(const device::Properties& properties, const Options& options);

/// A transform of given size over the ranks of a team, whose stages run on devices: c2c and r2c, as a Plan does them.
///
/// Each rank names its device; several ranks may name one. A field passes through device memory once per stage, where
/// the points that leave for a peer are written in the order in which they travel. They are copied to host memory, put
/// to the peer with a signal, and copied to its device: planes follow one another through these steps. Where ranks of a
/// node reach the memory of one another's devices, points are copied straight there if that is measured to be faster.
/// Within a process that is so for ranks whose devices have one context, as device::open gives them; between processes
/// CUDA's driver says.
///
/// A plan takes of each device what Options::memory_budget_bytes allows, or of what is free there; ranks that share a
/// device have equal parts of that. Where the blocks of exchanges do not fit, they lie in host memory, and each pass
/// over the bus brings chunks of planes to the device and their results back.
///
/// Members, arrays and errors are as those of Plan, but that arrays are in device memory, at a Location each, or all in
/// host memory. A location must have room for the whole array: nothing can check that. Fields in host memory move at
/// the full rate of the bus where the memory is pinned: from Device::allocate_host, or by Device::pin.
template <class Real>
class DevicePlan {
  static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);

 public:
  using Complex = std::complex<Real>;

  /// Collective. Throws Error as Plan does, and where `device_obstacle` has a sentence for some rank's device, or a
  /// device has too little memory even for chunks of one plane. Of the options those of threads, local transforms and
  /// movers do not matter. `fields_on` is the same on every rank.
  DevicePlan(const gas::Team& team, std::shared_ptr<const device::Device> device, const Options& options,
             FieldsOn fields_on = FieldsOn::device);
  ~DevicePlan();
  DevicePlan(DevicePlan&&) noexcept;
  DevicePlan& operator=(DevicePlan&&) noexcept;

  /// As Plan's. Local.
  const Distribution& input() const noexcept;
  const Distribution& output() const noexcept;
  std::int64_t input_stride() const noexcept;
  std::int64_t output_stride() const noexcept;

  /// Transform fields in device memory. They return when the result is there.
  void forward(const device::Location& in, const device::Location& out, Scaling scaling = Scaling::none);
  void backward(const device::Location& in, const device::Location& out, Scaling scaling = Scaling::none);

  /// Transform fields in host memory through the device, chunk by chunk. Where the plan was made for fields on the
  /// device, the first of these calls takes device memory for chunks, beyond any budget.
  void forward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  void forward(std::span<const Real> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  void backward(std::span<const Complex> in, std::span<Complex> out, Scaling scaling = Scaling::none);
  void backward(std::span<const Complex> in, std::span<Real> out, Scaling scaling = Scaling::none);

  /// What was planned, what it takes, and the times of the last transform. A stage's transform_s is by the device's
  /// clock, from the end of the stage before, but for the host's waits for peers, wait_s; the last stage's scatter_s is
  /// what copies to the host take after the last kernel. Local.
  const Tuning& tuning() const noexcept;
  std::vector<DeviceStagePlan> forward_stages() const;
  std::vector<DeviceStagePlan> backward_stages() const;
  const DeviceMemoryNeed& memory() const noexcept;
  const DeviceMessages& messages() const noexcept;
  /// A forward transform with this rank's bytes, as the model sees it on `machine`: its prediction is
  /// `model::device_fft_time(machine, plan.modelled(machine, are_fields_on_host))`. Local.
  model::DeviceFft modelled(const machine::Machine& machine, bool are_fields_on_host) const;
  const Breakdown& last_breakdown() const noexcept;

 private:
  friend struct PlanMaker;
  DevicePlan(const gas::Team& team, std::shared_ptr<const device::Device> device, const Options& options,
             FieldsOn fields_on, MessagePath path);

  struct State;
  std::unique_ptr<State> state_;
};

extern template class DevicePlan<float>;
extern template class DevicePlan<double>;

}  // namespace penstock::fft

#pragma GCC visibility pop
