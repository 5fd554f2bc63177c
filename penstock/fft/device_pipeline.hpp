// Runs a schedule on a device: kernels, copies between the device and the host, and messages, each chunk by chunk.
// Private to the module.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/device_plan.hpp"
#include "penstock/fft/device_schedule.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/model/model.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::fft {

/// Chunk buffers in device memory, of which one is copied while a kernel works on another: they take turns.
class ChunkBuffers {
 public:
  static constexpr std::size_t count = 2;
  /// The device memory that buffers for chunks of `bytes` take.
  static std::uint64_t total_bytes(std::uint64_t bytes) noexcept;

  /// Takes memory for chunks of `bytes`, unless there is as much. No buffer may be in use. Throws Error as the device.
  void reserve(const device::Device& device, std::uint64_t bytes);
  /// Forgets who used them; all work with them is done.
  void reset() noexcept { are_free_ = {}; }
  /// The next buffer, which `writer` fills when the one who used it before is done.
  device::Location next(device::Stream& writer);
  /// What `reader` has been given so far is the last work with the buffer.
  void release(device::Stream& reader) { are_free_[current_] = reader.record(); }

 private:
  std::unique_ptr<device::Memory> memory_;
  std::uint64_t bytes_ = 0;  ///< of one
  std::array<std::unique_ptr<device::Event>, count> are_free_;
  std::size_t current_ = 0;
};

/// What the pipelines of a plan share: streams, and memory on both sides of the bus.
struct DeviceResources {
  std::shared_ptr<const device::Device> device;
  transform::KernelLibrary library;
  std::unique_ptr<device::Stream> compute{};
  std::unique_ptr<device::Stream> to_device{};
  std::unique_ptr<device::Stream> to_host{};
  std::unique_ptr<device::Stream> to_peers{};
  /// By the number of an exchange's memory: what peers write, and blocks that lie in host memory.
  std::vector<gas::Segment> segments{};
  std::vector<std::unique_ptr<device::HostMemory>>
      pinned{};                                           ///< the segments' memory, this rank's and its local peers'
  std::vector<std::unique_ptr<device::Memory>> blocks{};  ///< by the same number
  /// By the same number and the peer: its blocks, where this rank's device reaches them.
  std::vector<std::vector<std::unique_ptr<device::Memory>>> peer_blocks{};
  ChunkBuffers sources{};  ///< for kernels to read
  ChunkBuffers sinks{};    ///< for kernels to write
};

/// What schedules need of DeviceResources.
struct DeviceNeed {
  std::vector<std::uint64_t> host_bytes{};    ///< by the number of an exchange's memory
  std::vector<std::uint64_t> device_bytes{};  ///< the same
  std::uint64_t source_bytes = 0;             ///< of a chunk
  std::uint64_t sink_bytes = 0;               ///< of a chunk
  std::uint64_t table_bytes = 0;
  void cover(const DeviceSchedule& schedule, bool are_fields_on_host);
  std::uint64_t total_device_bytes() const noexcept;
  std::uint64_t total_host_bytes() const noexcept;
  /// The largest piece of device memory.
  std::uint64_t largest_bytes() const noexcept;
};

/// What one run is about.
struct DeviceRun {
  device::Location in{};
  device::Location out{};
  const std::byte* host_in = nullptr;  ///< null: the input is on the device, at `in`
  std::byte* host_out = nullptr;       ///< null: the output stays on the device, at `out`
  double factor = 1;                   ///< on the result
};

/// A schedule, ready to run. `resources` must outlive it.
class DevicePipeline {
 public:
  /// Collective. `in` and `out` are this rank's parts of the user's arrays.
  DevicePipeline(const gas::Team& team, DeviceResources& resources, DeviceSchedule schedule, const Problem& problem,
                 const Distribution& in, const Distribution& out);

  /// Collective. Where it throws, no copy is under way any more, and the pipeline is of no more use: its caller revokes
  /// the team.
  void run(const gas::Team& team, const DeviceRun& run);

  /// Of the last run.
  const Breakdown& breakdown() const noexcept { return breakdown_; }
  /// What the stages are, for people.
  std::vector<DeviceStagePlan> describe() const;
  /// And for the model, of fields on the host or on the device.
  std::vector<model::DeviceFftStage> modelled(bool are_fields_on_host) const;

 private:
  struct Stage {
    std::optional<transform::DeviceTransform> transform;    ///< nothing where the stage moves data, or has no points
    std::array<std::unique_ptr<device::Memory>, 2> tables;  ///< of the source and of the sink, where they have one
  };
  /// One end of a stage.
  struct End {
    const DeviceStage& stage;
    const DeviceStageEnd& place;
    bool is_source;
    const Box& box;
    std::int64_t element_bytes;
  };
  /// Where planes of a stage lie in device memory: their first point, or the first of all planes where there is a
  /// table.
  struct Array {
    device::Location base{};
    Extents strides{};
    std::int64_t first_outer = 0;
    device::Location table{};
  };
  /// What an exchange moves at one end: over the bus, as messages or block by block with the chunks, and straight
  /// between devices.
  struct Traffic {
    std::uint64_t bus_bytes = 0;
    std::int64_t bus_messages = 0;
    std::int64_t bus_blocks = 0;
    std::uint64_t direct_bytes = 0;
  };
  /// A message whose copy to the host, or to the peer's device, is under way.
  struct Departure {
    std::size_t exchange;
    std::size_t message;
    std::unique_ptr<device::Event> is_there;
  };
  static End end_of(const DeviceStage& stage, bool is_source) noexcept;
  bool has_table(const End& end) const;
  std::span<const DeviceBlock> blocks_of(const End& end) const;
  Traffic traffic_of(const End& end) const;
  device::Location blocks_at(std::size_t exchange) const;
  std::byte* host_blocks_at(std::size_t exchange) const;
  void prepare(Stage& ready, const DeviceStage& stage, const Problem& problem);
  std::unique_ptr<device::Memory> make_table(const End& end) const;
  void run_stages(const gas::Team& team, const DeviceRun& run);
  std::string order_of(const End& end) const;
  std::size_t end_of_joined(std::size_t first) const noexcept;
  std::vector<Range> steps_of(std::size_t first, std::size_t end, bool is_in_on_host, bool is_out_on_host) const;
  void run_chunk(const gas::Team& team, std::size_t chunk, const Range& planes, const DeviceRun& run);
  void run_kernel(const Array& source, const Array& sink, const Range& planes, const DeviceRun& run);
  Array array_of(const End& end, const Range& planes, const DeviceRun& run);
  void wait_for_planes(const gas::Team& team, const End& end, const Range& planes);
  void copy_from_host(const End& end, const Range& planes, const Array& array, const DeviceRun& run);
  void copy_to_host(const End& end, std::size_t chunk, const Range& planes, const Array& array, const DeviceRun& run);
  void copy_blocks(const End& end, const Range& planes, const Array& array);
  void send_chunk(const gas::Team& team, const End& end, std::size_t chunk, const Range& planes, const Array& array);
  void progress();
  bool have_all_departed() const noexcept;
  void upload(std::size_t exchange, std::size_t message);
  template <class Condition>
  void wait_for(const gas::Team& team, Condition is_done);

  DeviceResources& resources_;
  DeviceSchedule schedule_;
  std::array<Distribution, 2> parts_;       ///< of the user's arrays: input and output
  std::array<DeviceBlock, 2> user_blocks_;  ///< the same as blocks
  std::vector<Stage> stages_;
  std::vector<gas::Exchange> exchanges_;
  int rank_;
  std::vector<std::vector<char>> has_come_;  ///< by exchange and incoming message, in this run
  /// By exchange and chunk: when what stays on this rank is in host memory.
  std::vector<std::vector<std::unique_ptr<device::Event>>> are_on_host_;
  std::array<std::deque<Departure>, 2> departures_;  ///< to the host, and to devices; each in its stream's order
  Breakdown breakdown_{};
  std::size_t running_ = 0;         ///< the stage under way
  std::size_t last_transform_ = 0;  ///< the stage that multiplies by the factor
};

}  // namespace penstock::fft
