#include "penstock/fft/device_pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/base/wait.hpp"
#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {
namespace {

using transform::BoxCopy;
using transform::DeviceEnd;
using transform::TableRow;

/// How a stage reaches the points at one end.
enum class Access {
  direct,    ///< in device memory, where they lie
  copied,    ///< in a chunk buffer, from or to blocks in device memory
  over_bus,  ///< in a chunk buffer, from or to host memory
};

Access access_of(const DeviceSchedule& schedule, const DeviceStageEnd& end, bool is_user_on_host) noexcept {
  if (end.is_user) {
    return is_user_on_host ? Access::over_bus : Access::direct;
  }
  const DeviceExchange& exchange = schedule.exchanges[end.exchange];
  if (exchange.place == BlockPlace::host) {
    return Access::over_bus;
  }
  return exchange.place == BlockPlace::chunk || exchange.is_fused ? Access::direct : Access::copied;
}

/// Whether the end has a chunk buffer. Where a stage only moves data, blocks in device memory are copied from or to the
/// array at its other end.
bool has_buffer(const DeviceStage& stage, Access access) noexcept {
  return access == Access::over_bus || (access == Access::copied && stage.kind);
}

std::uint64_t bytes_of(const Box& box, std::int64_t element_bytes) noexcept {
  return static_cast<std::uint64_t>(box.count() * element_bytes);
}

void raise(std::uint64_t& value, std::uint64_t wanted) noexcept {
  value = std::max(value, wanted);
}

/// The bytes from the first point of an array that holds `box` to the first of a part of the box.
std::uint64_t offset_of(const Extents& strides, const Box& box, const Box& part, std::int64_t element_bytes) noexcept {
  std::int64_t elements = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    elements += (part.lower[d] - box.lower[d]) * strides[d];
  }
  return static_cast<std::uint64_t>(elements * element_bytes);
}

/// A box of points in host memory and in device memory. Its fastest direction is the same on both sides.
struct BusCopy {
  Extents extent{};
  std::array<int, 3> order{};  ///< from slowest to fastest
  Extents host_strides{};      ///< in elements, as those of the device
  Extents device_strides{};
  std::int64_t element_bytes = 0;
};

/// Calls `copy(bytes from the first point on the host, the same on the device, rows)` for as few rows as hold the box.
template <class Copy>
void for_each_rows(const BusCopy& box, Copy copy) {
  const auto [slowest, middle, fastest] = box.order;
  std::int64_t row = box.extent[at(fastest)];
  if (row * box.extent[at(middle)] * box.extent[at(slowest)] == 0) {
    return;
  }
  // Directions whose rows follow one another without gaps are one row; of the others, most rows go at once.
  std::array<int, 2> outer{middle, slowest};
  std::array<std::int64_t, 2> counts{box.extent[at(middle)], box.extent[at(slowest)]};
  for (std::size_t i = 0; i < 2; ++i) {
    const bool follows = box.host_strides[at(outer[i])] == row && box.device_strides[at(outer[i])] == row;
    if (counts[i] > 1 && !follows) {
      break;
    }
    row *= std::exchange(counts[i], 1);
  }
  if (counts[1] > counts[0]) {
    std::swap(outer[0], outer[1]);
    std::swap(counts[0], counts[1]);
  }
  const auto bytes = [&](std::int64_t elements) { return static_cast<std::uint64_t>(elements * box.element_bytes); };
  const device::Rows rows{.row_bytes = bytes(row),
                          .rows = static_cast<std::uint64_t>(counts[0]),
                          .host_pitch = bytes(box.host_strides[at(outer[0])]),
                          .device_pitch = bytes(box.device_strides[at(outer[0])])};
  for (std::int64_t i = 0; i < counts[1]; ++i) {
    copy(bytes(i * box.host_strides[at(outer[1])]), bytes(i * box.device_strides[at(outer[1])]), rows);
  }
}

/// A copy in device memory, the direction first that is contiguous by `strides`.
BoxCopy box_copy(const Extents& extent, const Extents& from, const Extents& to, const Extents& strides,
                 std::int64_t element_bytes) {
  std::array<int, 3> order{0, 1, 2};
  std::ranges::sort(order, {}, [&](int d) { return strides[at(d)]; });
  BoxCopy copy{.element_bytes = element_bytes};
  for (std::size_t i = 0; i < 3; ++i) {
    copy.extent[i] = extent[at(order[i])];
    copy.source_strides[i] = from[at(order[i])];
    copy.destination_strides[i] = to[at(order[i])];
  }
  return copy;
}

}  // namespace

std::uint64_t ChunkBuffers::total_bytes(std::uint64_t bytes) noexcept {
  return count * round_up(bytes, 256);  // buffers begin at multiples of a cache line of the device
}

void ChunkBuffers::reserve(const device::Device& device, std::uint64_t bytes) {
  if (bytes > bytes_) {
    bytes_ = 0;
    memory_.reset();
    memory_ = device.allocate(total_bytes(bytes));
    bytes_ = total_bytes(bytes) / count;
  }
}

device::Location ChunkBuffers::next(device::Stream& writer) {
  current_ = (current_ + 1) % count;
  if (are_free_[current_] != nullptr) {
    writer.wait(*are_free_[current_]);
  }
  return memory_->location() + current_ * bytes_;
}

void DeviceNeed::cover(const DeviceSchedule& schedule, bool are_fields_on_host) {
  host_bytes.resize(std::max(host_bytes.size(), schedule.exchanges.size()));
  device_bytes.resize(host_bytes.size());
  for (const DeviceExchange& exchange : schedule.exchanges) {
    raise(host_bytes[exchange.memory], static_cast<std::uint64_t>(exchange.host_bytes));
    raise(device_bytes[exchange.memory], static_cast<std::uint64_t>(exchange.device_bytes));
  }
  for (const DeviceStage& stage : schedule.stages) {
    const auto cover_end = [&](const DeviceStageEnd& end, const Box& box, std::int64_t element_bytes,
                               std::uint64_t& buffer_bytes) {
      const Access access = access_of(schedule, end, are_fields_on_host);
      if (has_buffer(stage, access) && !stage.chunks.empty()) {
        raise(buffer_bytes, bytes_of(chunk_of(box, stage.outer, stage.chunks.front()), element_bytes));
      }
      if (access == Access::direct && !end.is_user && schedule.exchanges[end.exchange].place == BlockPlace::device) {
        table_bytes += static_cast<std::uint64_t>(box.extent[at(stage.along)]) * sizeof(TableRow);
      }
    };
    cover_end(stage.source, stage.before, stage.before_bytes, source_bytes);
    cover_end(stage.sink, stage.after, stage.after_bytes, sink_bytes);
  }
}

std::uint64_t DeviceNeed::total_device_bytes() const noexcept {
  return std::accumulate(device_bytes.begin(), device_bytes.end(),
                         table_bytes + ChunkBuffers::total_bytes(source_bytes) + ChunkBuffers::total_bytes(sink_bytes));
}

std::uint64_t DeviceNeed::total_host_bytes() const noexcept {
  return std::accumulate(host_bytes.begin(), host_bytes.end(), std::uint64_t{0});
}

std::uint64_t DeviceNeed::largest_bytes() const noexcept {
  std::uint64_t largest = ChunkBuffers::total_bytes(std::max(source_bytes, sink_bytes));
  for (const std::uint64_t bytes : device_bytes) {
    raise(largest, bytes);
  }
  return largest;
}

DevicePipeline::DevicePipeline(const gas::Team& team, DeviceResources& resources, DeviceSchedule schedule,
                               const Problem& problem, const Distribution& in, const Distribution& out)
    : resources_(resources),
      schedule_(std::move(schedule)),
      parts_{in, out},
      user_blocks_{DeviceBlock{.peer = team.rank(), .box = in.box, .strides = in.strides()},
                   DeviceBlock{.peer = team.rank(), .box = out.box, .strides = out.strides()}},
      rank_(team.rank()) {
  for (const DeviceExchange& exchange : schedule_.exchanges) {
    exchanges_.emplace_back(team, resources.segments[exchange.memory], exchange.outgoing_messages,
                            exchange.incoming_messages, problem.carrier);
  }
  has_come_.resize(schedule_.exchanges.size());
  are_on_host_.resize(schedule_.exchanges.size());
  for (std::size_t i = 0; i < schedule_.stages.size(); ++i) {
    last_transform_ = schedule_.stages[i].kind ? i : last_transform_;
  }
  team.together([&] {
    stages_.resize(schedule_.stages.size());
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      prepare(stages_[i], schedule_.stages[i], problem);
    }
  });
}

DevicePipeline::End DevicePipeline::end_of(const DeviceStage& stage, bool is_source) noexcept {
  return {.stage = stage,
          .place = is_source ? stage.source : stage.sink,
          .is_source = is_source,
          .box = is_source ? stage.before : stage.after,
          .element_bytes = is_source ? stage.before_bytes : stage.after_bytes};
}

/// The blocks that an end is made of: the user's array is one.
std::span<const DeviceBlock> DevicePipeline::blocks_of(const End& end) const {
  if (end.place.is_user) {
    return {&user_blocks_[end.is_source ? 0 : 1], 1};
  }
  const DeviceExchange& exchange = schedule_.exchanges[end.place.exchange];
  return end.is_source ? exchange.incoming : exchange.outgoing;
}

/// The memory of an exchange.
device::Location DevicePipeline::blocks_at(std::size_t exchange) const {
  return resources_.blocks[schedule_.exchanges[exchange].memory]->location();
}
std::byte* DevicePipeline::host_blocks_at(std::size_t exchange) const {
  return resources_.segments[schedule_.exchanges[exchange].memory].local().data();
}

/// Kernels find several blocks in device memory by a table. One block lies as an array does.
bool DevicePipeline::has_table(const End& end) const {
  return !end.place.is_user && schedule_.exchanges[end.place.exchange].place == BlockPlace::device &&
         access_of(schedule_, end.place, false) == Access::direct && blocks_of(end).size() > 1;
}

void DevicePipeline::prepare(Stage& ready, const DeviceStage& stage, const Problem& problem) {
  if (!stage.kind || stage.before.count() == 0) {
    return;
  }
  const End source = end_of(stage, true);
  const End sink = end_of(stage, false);
  ready.transform.emplace(resources_.library, transform::DeviceShape{.length = problem.options.size[at(stage.along)],
                                                                     .kind = static_cast<transform::Kind>(*stage.kind),
                                                                     .real_bytes = problem.real_bytes,
                                                                     .source = stage.source.adjacent,
                                                                     .destination = stage.sink.adjacent,
                                                                     .has_source_table = has_table(source),
                                                                     .has_destination_table = has_table(sink)});
  ready.tables = {has_table(source) ? make_table(source) : nullptr, has_table(sink) ? make_table(sink) : nullptr};
}

/// Where a kernel finds or leaves the points of its pencils in several blocks.
std::unique_ptr<device::Memory> DevicePipeline::make_table(const End& end) const {
  const int along = end.stage.along;
  std::vector<TableRow> rows(static_cast<std::size_t>(end.box.extent[at(along)]));
  for (const DeviceBlock& block : blocks_of(end)) {
    const std::int64_t first = block.box.lower[at(along)];
    for (std::int64_t k = 0; k < block.box.extent[at(along)]; ++k) {
      rows[static_cast<std::size_t>(first - end.box.lower[at(along)] + k)] = {
          .offset = block.offset / end.element_bytes + k * block.strides[at(along)],
          .pencil_stride = block.strides[at(end.stage.across)],
          .outer_stride = block.strides[at(end.stage.outer)]};
    }
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(rows));
  std::unique_ptr<device::Memory> table = resources_.device->allocate(bytes.size());
  resources_.compute->copy_to_device(table->location(), bytes.data(), {.row_bytes = bytes.size()});
  resources_.compute->finish();
  return table;
}

void DevicePipeline::run(const gas::Team& team, const DeviceRun& run) {
  try {
    run_stages(team, run);
  } catch (...) {
    // Arrays of the user and of peers may be gone soon: what was to be copied there must not come later.
    for (device::Stream* const stream :
         {resources_.compute.get(), resources_.to_host.get(), resources_.to_peers.get(), resources_.to_device.get()}) {
      try {
        stream->finish();
      } catch (const Error&) {
        continue;  // a device that has failed copies nothing
      }
    }
    departures_ = {};
    throw;
  }
}

void DevicePipeline::run_stages(const gas::Team& team, const DeviceRun& run) {
  const double begin_s = seconds();
  breakdown_ = {};
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    const DeviceExchange& exchange = schedule_.exchanges[i];
    has_come_[i].assign(exchange.incoming_messages.size(), 0);
    are_on_host_[i].clear();
    exchanges_[i].open();
  }
  resources_.sources.reset();
  resources_.sinks.reset();
  std::vector<std::pair<std::size_t, std::unique_ptr<device::Event>>> ends;  // of each chunk of a stage
  ends.emplace_back(0, resources_.compute->record());
  for (std::size_t first = 0; first < stages_.size();) {
    const std::size_t end = end_of_joined(first);  // each chunk goes through all of these stages
    const std::vector<Range> steps = steps_of(first, end, run.host_in != nullptr, run.host_out != nullptr);
    for (std::size_t chunk = 0; chunk < steps.size(); ++chunk) {
      for (running_ = first; running_ < end; ++running_) {
        run_chunk(team, chunk, steps[chunk], run);
        ends.emplace_back(running_, resources_.compute->record());
      }
    }
    first = end;
  }
  running_ = stages_.size() - 1;
  wait_for(team, [&] { return have_all_departed(); });
  resources_.compute->finish();
  const double computed_s = seconds();
  resources_.to_host->finish();
  resources_.to_device->finish();
  for (gas::Exchange& exchange : exchanges_) {
    exchange.finish();
  }
  for (std::size_t i = 1; i < ends.size(); ++i) {
    breakdown_.stages[ends[i].first].transform_s += ends[i].second->seconds_since(*ends[i - 1].second);
  }
  for (StageTime& time : breakdown_.stages) {
    time.transform_s = std::max(time.transform_s - time.wait_s, 0.0);
  }
  breakdown_.stages[stages_.size() - 1].scatter_s = seconds() - computed_s;
  breakdown_.total_s = seconds() - begin_s;
}

/// Waits until `is_done()`, while copies and messages go on.
template <class Condition>
void DevicePipeline::wait_for(const gas::Team& team, Condition is_done) {
  const trace::Span span("wait for device or peers", trace::Category::wait);
  const double begin_s = seconds();
  wait_until([&] {
    team.poll();  // brings the news of a rank that has failed
    progress();
    return is_done();
  });
  breakdown_.stages[running_].wait_s += seconds() - begin_s;
}

bool DevicePipeline::have_all_departed() const noexcept {
  return std::ranges::all_of(departures_, [](const std::deque<Departure>& departures) { return departures.empty(); });
}

/// Sends what has reached the host or the peer's device, and copies to the device what has reached this rank's host
/// memory and belongs there.
void DevicePipeline::progress() {
  for (std::deque<Departure>& departures : departures_) {
    while (!departures.empty() && departures.front().is_there->is_done()) {
      exchanges_[departures.front().exchange].send(departures.front().message);
      departures.pop_front();
    }
  }
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    for (std::size_t message = 0; message < has_come_[i].size(); ++message) {
      if (has_come_[i][message] == 0 && exchanges_[i].has_arrived(message)) {
        if (schedule_.exchanges[i].place == BlockPlace::device && !schedule_.exchanges[i].received[message].is_direct) {
          upload(i, message);
        }
        has_come_[i][message] = 1;
      }
    }
  }
}

void DevicePipeline::upload(std::size_t exchange, std::size_t message) {
  const gas::Incoming& incoming = schedule_.exchanges[exchange].incoming_messages[message];
  const DeviceMessage& received = schedule_.exchanges[exchange].received[message];
  resources_.to_device->copy_to_device(blocks_at(exchange) + static_cast<std::uint64_t>(received.offset),
                                       host_blocks_at(exchange) + incoming.offset, {.row_bytes = incoming.bytes});
}

/// Behind the stages that are joined with stage `first`.
std::size_t DevicePipeline::end_of_joined(std::size_t first) const noexcept {
  std::size_t end = first + 1;
  while (end < stages_.size() && schedule_.exchanges[end - 1].place == BlockPlace::chunk) {
    ++end;
  }
  return end;
}

/// The planes that stages from `first` up to `end` run at once: all, unless something comes or goes chunk by chunk.
std::vector<Range> DevicePipeline::steps_of(std::size_t first, std::size_t end, bool is_in_on_host,
                                            bool is_out_on_host) const {
  const DeviceStage& source = schedule_.stages[first];
  const DeviceStage& sink = schedule_.stages[end - 1];
  const auto comes_by_chunks = [&] {
    const DeviceExchange& exchange = schedule_.exchanges[source.source.exchange];
    return exchange.walks_same_planes && !exchange.incoming_messages.empty();
  };
  const auto goes_by_chunks = [&] { return !schedule_.exchanges[sink.sink.exchange].outgoing_messages.empty(); };
  const bool is_by_chunks = end - first > 1 || access_of(schedule_, source.source, is_in_on_host) != Access::direct ||
                            access_of(schedule_, sink.sink, is_out_on_host) != Access::direct ||
                            (!source.source.is_user && comes_by_chunks()) || (!sink.sink.is_user && goes_by_chunks());
  return is_by_chunks || source.chunks.empty() ? source.chunks : std::vector<Range>{source.outer_range()};
}

/// Brings planes of the stage that runs to the kernel, and what it makes of them to where it belongs.
void DevicePipeline::run_chunk(const gas::Team& team, std::size_t chunk, const Range& planes, const DeviceRun& run) {
  const DeviceStage& stage = schedule_.stages[running_];
  const End from = end_of(stage, true);
  const End to = end_of(stage, false);
  const Access read = access_of(schedule_, stage.source, run.host_in != nullptr);
  const Access written = access_of(schedule_, stage.sink, run.host_out != nullptr);
  if (!stage.source.is_user) {
    wait_for_planes(team, from, planes);
  }
  const bool reads_array = has_buffer(stage, read) || read == Access::direct;
  const bool writes_array = has_buffer(stage, written) || written == Access::direct;
  Array source = reads_array ? array_of(from, planes, run) : Array{};
  Array sink = writes_array ? array_of(to, planes, run) : source;
  source = reads_array ? source : sink;
  if (read == Access::over_bus) {
    copy_from_host(from, planes, source, run);
  } else if (read == Access::copied) {
    copy_blocks(from, planes, source);
  }
  if (stage.kind) {
    run_kernel(source, sink, planes, run);
  } else if (reads_array && writes_array) {
    const Box box = chunk_of(stage.after, stage.outer, planes);
    transform::copy(resources_.library, *resources_.compute, source.base, sink.base,
                    box_copy(box.extent, source.strides, sink.strides, sink.strides, to.element_bytes));
  }
  if (written == Access::copied) {
    copy_blocks(to, planes, sink);
  }
  if (has_buffer(stage, read)) {
    resources_.sources.release(*resources_.compute);
  }
  if (written == Access::over_bus) {
    copy_to_host(to, chunk, planes, sink, run);
  }
  if (!stage.sink.is_user) {
    send_chunk(team, to, chunk, planes, sink);
  }
  if (has_buffer(stage, written)) {
    resources_.sinks.release(written == Access::over_bus ? *resources_.to_host : *resources_.compute);
  }
  progress();
}

void DevicePipeline::run_kernel(const Array& source, const Array& sink, const Range& planes, const DeviceRun& run) {
  const DeviceStage& stage = schedule_.stages[running_];
  const auto end_at = [&](const Array& array) {
    return DeviceEnd{.base = array.base,
                     .point_stride = array.strides[at(stage.along)],
                     .pencil_stride = array.strides[at(stage.across)],
                     .outer_stride = array.strides[at(stage.outer)],
                     .first_outer = array.first_outer,
                     .table = array.table};
  };
  stages_[running_].transform->run(*resources_.compute, end_at(source), end_at(sink),
                                   {.pencils = stage.before.extent[at(stage.across)],
                                    .outers = planes.extent,
                                    .factor = last_transform_ == running_ ? run.factor : 1});
}

/// Where planes lie for the kernel: in a chunk buffer, which is taken here, or where the end has them.
DevicePipeline::Array DevicePipeline::array_of(const End& end, const Range& planes, const DeviceRun& run) {
  const bool is_on_host = (end.is_source ? run.host_in != nullptr : run.host_out != nullptr);
  const Access access = access_of(schedule_, end.place, is_on_host);
  const Box chunk = chunk_of(end.box, end.stage.outer, planes);
  const std::array<int, 3>& order =
      end.place.is_user ? parts_[end.is_source ? 0 : 1].order : schedule_.exchanges[end.place.exchange].order;
  if (has_buffer(end.stage, access)) {
    device::Stream& writer = end.is_source && access == Access::over_bus ? *resources_.to_device : *resources_.compute;
    return {.base = (end.is_source ? resources_.sources : resources_.sinks).next(writer),
            .strides = compact_strides(order, chunk.extent)};
  }
  if (!end.place.is_user && schedule_.exchanges[end.place.exchange].place == BlockPlace::chunk) {
    return {.base = blocks_at(end.place.exchange), .strides = compact_strides(order, chunk.extent)};
  }
  const device::Location base = end.place.is_user ? (end.is_source ? run.in : run.out) : blocks_at(end.place.exchange);
  if (has_table(end)) {
    return {.base = base,
            .first_outer = planes.lower - end.stage.outer_range().lower,
            .table = stages_[running_].tables[end.is_source ? 0 : 1]->location()};
  }
  const DeviceBlock& block = blocks_of(end).front();
  return {.base = base + static_cast<std::uint64_t>(block.offset) +
                  offset_of(block.strides, block.box, chunk, end.element_bytes),
          .strides = block.strides};
}

/// Waits until the messages that these planes of a stage need have come, and has the stream that reads them wait for
/// what is on its way.
void DevicePipeline::wait_for_planes(const gas::Team& team, const End& end, const Range& planes) {
  const std::size_t number = end.place.exchange;
  const DeviceExchange& exchange = schedule_.exchanges[number];
  const auto is_needed = [&](int peer, std::size_t chunk) {
    return !exchange.walks_same_planes ||
           shape::intersect(exchange.chunks[static_cast<std::size_t>(peer)][chunk], planes).extent > 0;
  };
  if (!exchange.incoming_messages.empty()) {
    std::vector<std::size_t> needed;
    for (std::size_t i = 0; i < exchange.received.size(); ++i) {
      if (is_needed(exchange.incoming_messages[i].peer, exchange.received[i].chunk)) {
        needed.push_back(i);
      }
    }
    const std::vector<char>& has_come = has_come_[number];
    wait_for(team, [&] { return std::ranges::all_of(needed, [&](std::size_t i) { return has_come[i] != 0; }); });
    const auto is_uploaded = [&](std::size_t i) { return !exchange.received[i].is_direct; };
    if (exchange.place == BlockPlace::device && std::ranges::any_of(needed, is_uploaded)) {
      resources_.compute->wait(*resources_.to_device->record());
    }
  }
  // Copies to the host are done in their order: the last one that is needed tells of all.
  for (std::size_t chunk = are_on_host_[number].size(); chunk-- > 0;) {
    if (is_needed(rank_, chunk)) {
      resources_.to_device->wait(*are_on_host_[number][chunk]);
      break;
    }
  }
}

/// Copies planes from the user's array in host memory, or from blocks there, to a chunk buffer.
void DevicePipeline::copy_from_host(const End& end, const Range& planes, const Array& array, const DeviceRun& run) {
  const Box chunk = chunk_of(end.box, end.stage.outer, planes);
  const std::byte* const host = end.place.is_user ? run.host_in : host_blocks_at(end.place.exchange);
  const std::array<int, 3>& order = end.place.is_user ? parts_[0].order : schedule_.exchanges[end.place.exchange].order;
  for (const DeviceBlock& block : blocks_of(end)) {
    const Box part = chunk_of(block.box, end.stage.outer, planes);
    if (part.count() == 0) {
      continue;
    }
    const std::byte* const from = host + block.offset + offset_of(block.strides, block.box, part, end.element_bytes);
    const device::Location to = array.base + offset_of(array.strides, chunk, part, end.element_bytes);
    for_each_rows({part.extent, order, block.strides, array.strides, end.element_bytes},
                  [&](std::uint64_t on_host, std::uint64_t on_device, const device::Rows& rows) {
                    resources_.to_device->copy_to_device(to + on_device, from + on_host, rows);
                  });
  }
  resources_.compute->wait(*resources_.to_device->record());
}

/// Copies planes from a chunk buffer to the user's array in host memory, or to this rank's own block there.
void DevicePipeline::copy_to_host(const End& end, std::size_t chunk, const Range& planes, const Array& array,
                                  const DeviceRun& run) {
  const Box box = chunk_of(end.box, end.stage.outer, planes);
  std::byte* const host = end.place.is_user ? run.host_out : host_blocks_at(end.place.exchange);
  const std::array<int, 3>& order = end.place.is_user ? parts_[1].order : schedule_.exchanges[end.place.exchange].order;
  resources_.to_host->wait(*resources_.compute->record());
  for (const DeviceBlock& block : blocks_of(end)) {
    const Box part = chunk_of(block.box, end.stage.outer, planes);
    if (block.peer != rank_ || part.count() == 0) {
      continue;
    }
    std::byte* const to = host + block.offset + offset_of(block.strides, block.box, part, end.element_bytes);
    const device::Location from = array.base + offset_of(array.strides, box, part, end.element_bytes);
    for_each_rows({part.extent, order, block.strides, array.strides, end.element_bytes},
                  [&](std::uint64_t on_host, std::uint64_t on_device, const device::Rows& rows) {
                    resources_.to_host->copy_to_host(to + on_host, from + on_device, rows);
                  });
  }
  if (!end.place.is_user) {
    are_on_host_[end.place.exchange].resize(chunk + 1);
    are_on_host_[end.place.exchange][chunk] = resources_.to_host->record();
  }
}

/// Copies planes between blocks in device memory and an array.
void DevicePipeline::copy_blocks(const End& end, const Range& planes, const Array& array) {
  const Box chunk = chunk_of(end.box, end.stage.outer, planes);
  for (const DeviceBlock& block : blocks_of(end)) {
    const Box part = chunk_of(block.box, end.stage.outer, planes);
    if (part.count() == 0) {
      continue;
    }
    const device::Location in_blocks = blocks_at(end.place.exchange) + static_cast<std::uint64_t>(block.offset) +
                                       offset_of(block.strides, block.box, part, end.element_bytes);
    const device::Location in_array = array.base + offset_of(array.strides, chunk, part, end.element_bytes);
    const Extents& from = end.is_source ? block.strides : array.strides;
    const Extents& to = end.is_source ? array.strides : block.strides;
    transform::copy(resources_.library, *resources_.compute, end.is_source ? in_blocks : in_array,
                    end.is_source ? in_array : in_blocks,
                    box_copy(part.extent, from, to, block.strides, end.element_bytes));
  }
}

/// Copies what a chunk has made of each message to where peers find it: on their device, or in the host's memory.
void DevicePipeline::send_chunk(const gas::Team& team, const End& end, std::size_t chunk, const Range& planes,
                                const Array& array) {
  const std::size_t number = end.place.exchange;
  const DeviceExchange& plan = schedule_.exchanges[number];
  gas::Exchange& exchange = exchanges_[number];
  std::unique_ptr<device::Event> is_made;
  std::array<bool, 2> has_waited{};  // the streams of the two ways
  for (std::size_t i = 0; i < plan.sent.size(); ++i) {
    const DeviceMessage& message = plan.sent[i];
    if (message.chunk != chunk) {
      continue;
    }
    device::Stream& stream = message.is_direct ? *resources_.to_peers : *resources_.to_host;
    if (is_made == nullptr) {
      is_made = resources_.compute->record();
    }
    if (!std::exchange(has_waited[message.is_direct ? 1 : 0], true)) {
      stream.wait(*is_made);
    }
    wait_for(team, [&] { return exchange.is_open(i); });
    const auto offset = static_cast<std::uint64_t>(message.offset);
    const auto bytes = static_cast<std::uint64_t>(message.bytes);
    if (message.is_direct) {
      const gas::Outgoing& out = plan.outgoing_messages[i];
      const device::Memory& peer = *resources_.peer_blocks[plan.memory][static_cast<std::size_t>(out.peer)];
      stream.copy(peer.location() + out.offset, blocks_at(number) + offset, bytes);
    } else if (plan.place == BlockPlace::device) {
      stream.copy_to_host(exchange.destination(i), blocks_at(number) + offset, {.row_bytes = bytes});
    } else {
      std::byte* const to = exchange.destination(i);
      const DeviceBlock& block = plan.outgoing[message.block];
      const Box part = chunk_of(block.box, end.stage.outer, message.planes);
      const device::Location from =
          array.base + offset_of(array.strides, chunk_of(end.box, end.stage.outer, planes), part, end.element_bytes);
      for_each_rows({part.extent, plan.order, block.strides, array.strides, end.element_bytes},
                    [&](std::uint64_t on_host, std::uint64_t on_device, const device::Rows& rows) {
                      stream.copy_to_host(to + on_host, from + on_device, rows);
                    });
    }
    departures_[message.is_direct ? 1 : 0].push_back({number, i, stream.record()});
  }
}

DevicePipeline::Traffic DevicePipeline::traffic_of(const End& end) const {
  const DeviceExchange& exchange = schedule_.exchanges[end.place.exchange];
  Traffic traffic;
  if (exchange.place == BlockPlace::host) {
    for (const DeviceBlock& block : blocks_of(end)) {
      traffic.bus_bytes += bytes_of(block.box, end.element_bytes);
      ++traffic.bus_blocks;
    }
  }
  for (const DeviceMessage& message : end.is_source ? exchange.received : exchange.sent) {
    if (exchange.place == BlockPlace::device) {
      (message.is_direct ? traffic.direct_bytes : traffic.bus_bytes) += static_cast<std::uint64_t>(message.bytes);
      traffic.bus_messages += message.is_direct ? 0 : 1;
    }
  }
  return traffic;
}

std::vector<DeviceStagePlan> DevicePipeline::describe() const {
  std::vector<DeviceStagePlan> plans;
  int pass = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const DeviceStage& stage = schedule_.stages[i];
    const std::uint64_t read = bytes_of(stage.before, stage.before_bytes);
    const std::uint64_t written = bytes_of(stage.after, stage.after_bytes);
    DeviceStagePlan plan{.along = stage.along, .is_move = !stage.kind};
    plan.device_bytes = read + written;
    if (stages_[i].transform) {
      plan.kernel = stages_[i].transform->describe();
      const std::int64_t length = stages_[i].transform->shape().length;
      const bool is_real = stages_[i].transform->shape().kind > transform::Kind::backward;
      const std::int64_t pencils = stage.before.extent[at(stage.across)] * stage.before.extent[at(stage.outer)];
      plan.flops = model::fft_flops({.size = {length, 1, 1}, .is_real = is_real}) * static_cast<double>(pencils);
      plan.device_bytes += access_of(schedule_, stage.source, false) == Access::copied ? 2 * read : 0;
      plan.device_bytes += access_of(schedule_, stage.sink, false) == Access::copied ? 2 * written : 0;
    }
    if (!stage.sink.is_user) {
      const Traffic traffic = traffic_of(end_of(stage, false));
      plan.sent_bytes = traffic.bus_bytes;
      plan.direct_bytes = traffic.direct_bytes;
      plan.device_bytes += traffic.direct_bytes;
    }
    if (!stage.source.is_user) {
      const Traffic traffic = traffic_of(end_of(stage, true));
      plan.received_bytes = traffic.bus_bytes;
      plan.device_bytes += traffic.direct_bytes;
      pass += schedule_.exchanges[stage.source.exchange].place == BlockPlace::host ? 1 : 0;
    }
    plan.pass = pass;
    if (!stage.chunks.empty()) {
      plan.chunk_planes = stage.chunks.front().extent;
      plan.chunk_bytes =
          std::max(bytes_of(chunk_of(stage.before, stage.outer, stage.chunks.front()), stage.before_bytes),
                   bytes_of(chunk_of(stage.after, stage.outer, stage.chunks.front()), stage.after_bytes));
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// How points lie at an end, in the words of machine::DevicePass.
std::string DevicePipeline::order_of(const End& end) const {
  const std::array<int, 3>& order =
      end.place.is_user ? parts_[end.is_source ? 0 : 1].order : schedule_.exchanges[end.place.exchange].order;
  return order[2] == end.stage.along ? "points" : order[1] == end.stage.along ? "pencils" : "planes";
}

std::vector<model::DeviceFftStage> DevicePipeline::modelled(bool are_fields_on_host) const {
  std::vector<model::DeviceFftStage> stages(stages_.size());
  for (std::size_t first = 0; first < stages_.size(); first = end_of_joined(first)) {
    const std::size_t steps = steps_of(first, end_of_joined(first), are_fields_on_host, are_fields_on_host).size();
    for (std::size_t i = first; i < end_of_joined(first); ++i) {
      stages[i].chunks = std::max<std::int64_t>(static_cast<std::int64_t>(steps), 1);
      stages[i].follows_chunks = i > first;
    }
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const DeviceStage& stage = schedule_.stages[i];
    model::DeviceFftStage& work = stages[i];
    const auto read = static_cast<double>(bytes_of(stage.before, stage.before_bytes));
    const auto written = static_cast<double>(bytes_of(stage.after, stage.after_bytes));
    if (stages_[i].transform) {
      const transform::DeviceShape& shape = stages_[i].transform->shape();
      work.pass = {.length = shape.length,
                   .fft = {.is_real = shape.kind > transform::Kind::backward, .real_bytes = shape.real_bytes},
                   .reads = order_of(end_of(stage, true)),
                   .writes = order_of(end_of(stage, false))};
      work.pass_bytes = read + written;
      work.copied_bytes += access_of(schedule_, stage.source, false) == Access::copied ? 2 * read : 0;
      work.copied_bytes += access_of(schedule_, stage.sink, false) == Access::copied ? 2 * written : 0;
    } else {
      work.copied_bytes = read + written;
    }
    const auto add_end = [&](const End& end, double& bytes, std::int64_t& copies) {
      if (end.place.is_user) {
        bytes += are_fields_on_host ? static_cast<double>(bytes_of(end.box, end.element_bytes)) : 0;
        copies += are_fields_on_host ? work.chunks : 0;
        return;
      }
      const Traffic traffic = traffic_of(end);
      bytes += static_cast<double>(traffic.bus_bytes);
      copies += traffic.bus_messages + traffic.bus_blocks * work.chunks;
      // Read here and written to the peer's memory: as if the devices' memory were this one's.
      work.copied_bytes += end.is_source ? 0 : 2 * static_cast<double>(traffic.direct_bytes);
    };
    add_end(end_of(stage, true), work.received_bytes, work.received_copies);
    add_end(end_of(stage, false), work.sent_bytes, work.sent_copies);
    work.is_received_by_chunks =
        stage.source.is_user || schedule_.exchanges[stage.source.exchange].place == BlockPlace::host;
    if (!stage.source.is_user) {
      const DeviceExchange& exchange = schedule_.exchanges[stage.source.exchange];
      const bool comes_by_chunks = exchange.place == BlockPlace::host || !exchange.received.empty();
      work.follows_chunks = work.follows_chunks || (exchange.walks_same_planes && comes_by_chunks);
    }
    if (!stage.sink.is_user) {
      const DeviceExchange& exchange = schedule_.exchanges[stage.sink.exchange];
      std::set<int> peers;
      for (std::size_t m = 0; m < exchange.sent.size(); ++m) {
        if (!exchange.sent[m].is_direct) {
          work.peer_bytes += static_cast<double>(exchange.sent[m].bytes);
          peers.insert(exchange.outgoing_messages[m].peer);
        }
      }
      work.peers = std::ssize(peers);
    }
  }
  return stages;
}

}  // namespace penstock::fft
