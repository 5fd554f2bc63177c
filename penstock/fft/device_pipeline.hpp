// Runs a schedule on a device: kernels, copies between the device and the host, and messages, each chunk by chunk.
// Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/device/device.hpp"
#include "penstock/fft/device_plan.hpp"
#include "penstock/fft/device_schedule.hpp"
#include "penstock/gas/gas.hpp"
#include "penstock/model/model.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::fft {

/// What the pipelines of a plan share: streams, and memory on both sides of the bus.
struct DeviceResources {
  std::shared_ptr<const device::Device> device;
  transform::KernelLibrary library;
  std::unique_ptr<device::Stream> compute{};
  std::unique_ptr<device::Stream> to_device{};
  std::unique_ptr<device::Stream> to_host{};
  std::vector<gas::Segment> segments{};  ///< by exchange: what peers write
  std::vector<std::unique_ptr<device::HostMemory>>
      pinned{};                                           ///< the segments' memory, this rank's and its local peers'
  std::vector<std::unique_ptr<device::Memory>> blocks{};  ///< by exchange
  std::unique_ptr<device::Memory> before{};               ///< pencils that are copied from blocks
  std::unique_ptr<device::Memory> after{};                ///< pencils that are copied to blocks
};

/// What a schedule needs of DeviceResources.
struct DeviceNeed {
  std::vector<std::uint64_t> host_bytes;    ///< by exchange
  std::vector<std::uint64_t> device_bytes;  ///< by exchange
  std::uint64_t before_bytes = 0;
  std::uint64_t after_bytes = 0;
  void cover(const DeviceSchedule& schedule);
};

/// What one run is about. The arrays on the device are the user's, or hold what is copied from and to the host.
struct DeviceRun {
  device::Location in;
  device::Location out;
  const std::byte* host_in = nullptr;  ///< null: the input is on the device
  std::byte* host_out = nullptr;       ///< null: the output stays on the device
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
  /// And for the model, where such fields are on the host.
  std::vector<model::DeviceFftStage> modelled(bool is_in_on_host, bool is_out_on_host) const;

 private:
  struct Stage {
    std::optional<transform::DeviceTransform> transform;  ///< nothing where the stage moves data, or has no points
    transform::DeviceEnd source;                          ///< but for the base of the user's array
    transform::DeviceEnd sink;
    std::unique_ptr<device::Memory> source_table;
    std::unique_ptr<device::Memory> sink_table;
  };
  /// A message whose copy to the host is under way.
  struct Departure {
    std::size_t exchange;
    std::size_t message;
    std::unique_ptr<device::Event> is_on_host;
  };
  void prepare(Stage& ready, const DeviceStage& stage, const Problem& problem);
  void prepare_end(transform::DeviceEnd& end, std::unique_ptr<device::Memory>& table, const DeviceStage& stage,
                   bool is_source);
  bool has_table(const DeviceStageEnd& end, bool is_source) const;
  const std::vector<DeviceBlock>& blocks_of(const DeviceStageEnd& end, bool is_source) const;
  void run_stages(const gas::Team& team, const DeviceRun& run);
  void run_stage(const gas::Team& team, std::size_t index, const DeviceRun& run);
  void copy_blocks(const DeviceStage& stage, bool is_source, const DeviceRun& run);
  std::vector<Range> steps_of(const DeviceStage& stage, bool is_in_on_host, bool is_out_on_host) const;
  void copy_planes(const DeviceStage& stage, const Range& planes, bool is_source, const DeviceRun& run);
  void wait_for_planes(const gas::Team& team, const DeviceStage& stage, const Range& planes);
  void send_chunk(const gas::Team& team, const DeviceStage& stage, std::size_t chunk);
  void progress();
  void upload(std::size_t exchange, std::size_t message);
  template <class Condition>
  void wait_for(const gas::Team& team, Condition is_done);

  DeviceResources& resources_;
  DeviceSchedule schedule_;
  Distribution in_;
  Distribution out_;
  std::vector<Stage> stages_;
  std::vector<gas::Exchange> exchanges_;
  std::vector<std::vector<char>> has_uploaded_;  ///< by exchange and incoming message, in this run
  std::deque<Departure> departures_;
  Breakdown breakdown_{};
  std::size_t running_ = 0;         ///< the stage under way
  std::size_t last_transform_ = 0;  ///< the stage that multiplies by the factor
};

}  // namespace penstock::fft
