#include "penstock/fft/device_pipeline.hpp"

#include <algorithm>
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

/// How points lie that are copied from blocks, or to blocks: rows along the stage's direction, one for each pencil.
Extents copied_strides(const DeviceStage& stage, const Box& box) noexcept {
  Extents strides{};
  strides[at(stage.along)] = 1;
  strides[at(stage.across)] = box.extent[at(stage.along)];
  strides[at(stage.outer)] = box.extent[at(stage.along)] * box.extent[at(stage.across)];
  return strides;
}

std::uint64_t bytes_of(const Box& box, std::int64_t element_bytes) noexcept {
  return static_cast<std::uint64_t>(box.count() * element_bytes);
}

void raise(std::uint64_t& value, std::uint64_t wanted) noexcept {
  value = std::max(value, wanted);
}

bool is_copied(const DeviceSchedule& schedule, const DeviceStageEnd& end) noexcept {
  return !end.is_user && !schedule.exchanges[end.exchange].is_fused;
}

}  // namespace

void DeviceNeed::cover(const DeviceSchedule& schedule) {
  host_bytes.resize(std::max(host_bytes.size(), schedule.exchanges.size()));
  device_bytes.resize(host_bytes.size());
  for (std::size_t i = 0; i < schedule.exchanges.size(); ++i) {
    raise(host_bytes[i], static_cast<std::uint64_t>(schedule.exchanges[i].host_bytes));
    raise(device_bytes[i], static_cast<std::uint64_t>(schedule.exchanges[i].device_bytes));
  }
  for (const DeviceStage& stage : schedule.stages) {
    if (stage.kind && is_copied(schedule, stage.source)) {
      raise(before_bytes, bytes_of(stage.before, stage.before_bytes));
    }
    if (stage.kind && is_copied(schedule, stage.sink)) {
      raise(after_bytes, bytes_of(stage.after, stage.after_bytes));
    }
  }
}

DevicePipeline::DevicePipeline(const gas::Team& team, DeviceResources& resources, DeviceSchedule schedule,
                               const Problem& problem, const Distribution& in, const Distribution& out)
    : resources_(resources), schedule_(std::move(schedule)), in_(in), out_(out) {
  for (std::size_t i = 0; i < schedule_.exchanges.size(); ++i) {
    DeviceExchange& exchange = schedule_.exchanges[i];
    exchanges_.emplace_back(team, resources.segments[i], exchange.outgoing_messages, exchange.incoming_messages,
                            problem.carrier);
  }
  has_uploaded_.resize(schedule_.exchanges.size());
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

const std::vector<DeviceBlock>& DevicePipeline::blocks_of(const DeviceStageEnd& end, bool is_source) const {
  const DeviceExchange& exchange = schedule_.exchanges[end.exchange];
  return is_source ? exchange.incoming : exchange.outgoing;
}

/// One block lies as an array does.
bool DevicePipeline::has_table(const DeviceStageEnd& end, bool is_source) const {
  return !end.is_user && !is_copied(schedule_, end) && blocks_of(end, is_source).size() > 1;
}

void DevicePipeline::prepare(Stage& ready, const DeviceStage& stage, const Problem& problem) {
  if (!stage.kind || stage.before.count() == 0) {
    return;
  }
  ready.transform.emplace(resources_.library,
                          transform::DeviceShape{.length = problem.options.size[at(stage.along)],
                                                 .kind = static_cast<transform::Kind>(*stage.kind),
                                                 .real_bytes = problem.real_bytes,
                                                 .source = stage.source.adjacent,
                                                 .destination = stage.sink.adjacent,
                                                 .has_source_table = has_table(stage.source, true),
                                                 .has_destination_table = has_table(stage.sink, false)});
  prepare_end(ready.source, ready.source_table, stage, true);
  prepare_end(ready.sink, ready.sink_table, stage, false);
}

/// Where a kernel finds or leaves its pencils.
void DevicePipeline::prepare_end(DeviceEnd& end, std::unique_ptr<device::Memory>& table, const DeviceStage& stage,
                                 bool is_source) {
  const DeviceStageEnd& place = is_source ? stage.source : stage.sink;
  const Box& box = is_source ? stage.before : stage.after;
  const auto set_strides = [&](const Extents& strides) {
    end.point_stride = strides[at(stage.along)];
    end.pencil_stride = strides[at(stage.across)];
    end.outer_stride = strides[at(stage.outer)];
  };
  if (place.is_user) {
    set_strides((is_source ? in_ : out_).strides());
    return;
  }
  if (is_copied(schedule_, place)) {
    set_strides(copied_strides(stage, box));
    end.base = (is_source ? resources_.before : resources_.after)->location();
    return;
  }
  end.base = resources_.blocks[place.exchange]->location();
  const std::vector<DeviceBlock>& blocks = blocks_of(place, is_source);
  if (!has_table(place, is_source)) {
    set_strides(blocks.front().strides);
    end.base = end.base + static_cast<std::uint64_t>(blocks.front().offset);
    return;
  }
  const std::int64_t element_bytes = schedule_.exchanges[place.exchange].element_bytes;
  std::vector<TableRow> rows(static_cast<std::size_t>(box.extent[at(stage.along)]));
  for (const DeviceBlock& block : blocks) {
    const std::int64_t first = block.box.lower[at(stage.along)];
    for (std::int64_t k = 0; k < block.box.extent[at(stage.along)]; ++k) {
      rows[static_cast<std::size_t>(first - box.lower[at(stage.along)] + k)] = {
          .offset = block.offset / element_bytes + k * block.strides[at(stage.along)],
          .pencil_stride = block.strides[at(stage.across)],
          .outer_stride = block.strides[at(stage.outer)]};
    }
  }
  const std::span<const std::byte> bytes = std::as_bytes(std::span(rows));
  table = resources_.device->allocate(bytes.size());
  resources_.compute->copy_to_device(table->location(), bytes.data(), {.row_bytes = bytes.size()});
  resources_.compute->finish();
  end.table = table->location();
}

void DevicePipeline::run(const gas::Team& team, const DeviceRun& run) {
  try {
    run_stages(team, run);
  } catch (...) {
    // Arrays of the user and of peers may be gone soon: what was to be copied there must not come later.
    for (device::Stream* const stream :
         {resources_.compute.get(), resources_.to_host.get(), resources_.to_device.get()}) {
      try {
        stream->finish();
      } catch (const Error&) {
        continue;  // a device that has failed copies nothing
      }
    }
    departures_.clear();
    throw;
  }
}

void DevicePipeline::run_stages(const gas::Team& team, const DeviceRun& run) {
  const double begin_s = seconds();
  breakdown_ = {};
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    has_uploaded_[i].assign(schedule_.exchanges[i].incoming_messages.size(), 0);
    exchanges_[i].open();
  }
  std::vector<std::unique_ptr<device::Event>> ends;
  ends.push_back(resources_.compute->record());
  for (running_ = 0; running_ < stages_.size(); ++running_) {
    run_stage(team, running_, run);
    ends.push_back(resources_.compute->record());
  }
  --running_;
  wait_for(team, [&] { return departures_.empty(); });
  resources_.compute->finish();
  const double computed_s = seconds();
  resources_.to_host->finish();
  resources_.to_device->finish();
  for (gas::Exchange& exchange : exchanges_) {
    exchange.finish();
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    StageTime& time = breakdown_.stages[i];
    time.transform_s = std::max(ends[i + 1]->seconds_since(*ends[i]) - time.wait_s, 0.0);
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

/// Sends what has reached the host, and copies to the device what has reached this rank.
void DevicePipeline::progress() {
  while (!departures_.empty() && departures_.front().is_on_host->is_done()) {
    exchanges_[departures_.front().exchange].send(departures_.front().message);
    departures_.pop_front();
  }
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    for (std::size_t message = 0; message < has_uploaded_[i].size(); ++message) {
      if (has_uploaded_[i][message] == 0 && exchanges_[i].has_arrived(message)) {
        upload(i, message);
      }
    }
  }
}

void DevicePipeline::upload(std::size_t exchange, std::size_t message) {
  const gas::Incoming& incoming = schedule_.exchanges[exchange].incoming_messages[message];
  const DeviceMessage& received = schedule_.exchanges[exchange].received[message];
  resources_.to_device->copy_to_device(
      resources_.blocks[exchange]->location() + static_cast<std::uint64_t>(received.offset),
      resources_.segments[exchange].local().data() + incoming.offset, {.row_bytes = incoming.bytes});
  has_uploaded_[exchange][message] = 1;
}

/// The planes that kernels run at once: all, unless something comes or goes chunk by chunk.
std::vector<Range> DevicePipeline::steps_of(const DeviceStage& stage, bool is_in_on_host, bool is_out_on_host) const {
  const auto comes_by_chunks = [&] {
    const DeviceExchange& exchange = schedule_.exchanges[stage.source.exchange];
    return exchange.walks_same_planes && !exchange.incoming_messages.empty();
  };
  const auto goes_by_chunks = [&] {
    const DeviceExchange& exchange = schedule_.exchanges[stage.sink.exchange];
    return exchange.is_fused && !exchange.outgoing_messages.empty();
  };
  const bool is_by_chunks = (stage.source.is_user ? is_in_on_host : comes_by_chunks()) ||
                            (stage.sink.is_user ? is_out_on_host : goes_by_chunks());
  return is_by_chunks ? stage.chunks : std::vector<Range>{stage.outer_range()};
}

void DevicePipeline::run_stage(const gas::Team& team, std::size_t index, const DeviceRun& run) {
  const DeviceStage& stage = schedule_.stages[index];
  const Stage& ready = stages_[index];
  const bool is_last = index + 1 == stages_.size();
  if (is_copied(schedule_, stage.source)) {
    wait_for_planes(team, stage, stage.outer_range());
    copy_blocks(stage, true, run);
  }
  const std::vector<Range> steps = steps_of(stage, run.host_in != nullptr, run.host_out != nullptr);
  for (std::size_t chunk = 0; chunk < steps.size(); ++chunk) {
    const Range& planes = steps[chunk];
    if (stage.source.is_user && run.host_in != nullptr) {
      copy_planes(stage, planes, true, run);
    }
    if (!stage.source.is_user) {
      wait_for_planes(team, stage, planes);
    }
    if (ready.transform) {
      DeviceEnd source = ready.source;
      DeviceEnd sink = ready.sink;
      source.base = stage.source.is_user ? run.in : source.base;
      sink.base = stage.sink.is_user ? run.out : sink.base;
      ready.transform->run(*resources_.compute, source, sink,
                           {.pencils = stage.before.extent[at(stage.across)],
                            .first_outer = planes.lower - stage.outer_range().lower,
                            .outers = planes.extent,
                            .factor = last_transform_ == index ? run.factor : 1});
    }
    if (!stage.sink.is_user && !is_copied(schedule_, stage.sink)) {
      send_chunk(team, stage, chunk);
    }
    if (stage.sink.is_user && run.host_out != nullptr && stage.kind) {
      copy_planes(stage, planes, false, run);
    }
    progress();
  }
  if (is_copied(schedule_, stage.sink)) {
    copy_blocks(stage, false, run);
    send_chunk(team, stage, 0);
  }
  if (is_last && !stage.kind && run.host_out != nullptr) {
    copy_planes(stage, stage.outer_range(), false, run);
  }
}

/// Waits until the messages that these planes of a stage need are on the device, or on their way there before the
/// kernel.
void DevicePipeline::wait_for_planes(const gas::Team& team, const DeviceStage& stage, const Range& planes) {
  const DeviceExchange& exchange = schedule_.exchanges[stage.source.exchange];
  if (exchange.incoming_messages.empty()) {
    return;
  }
  std::vector<std::size_t> needed;
  for (std::size_t i = 0; i < exchange.received.size(); ++i) {
    const auto peer = static_cast<std::size_t>(exchange.incoming_messages[i].peer);
    if (!exchange.walks_same_planes ||
        shape::intersect(exchange.chunks[peer][exchange.received[i].chunk], planes).extent > 0) {
      needed.push_back(i);
    }
  }
  const std::vector<char>& has_uploaded = has_uploaded_[stage.source.exchange];
  wait_for(team, [&] { return std::ranges::all_of(needed, [&](std::size_t i) { return has_uploaded[i] != 0; }); });
  resources_.compute->wait(*resources_.to_device->record());
}

/// Copies what a chunk has made of each message to where peers find it: the host's memory.
void DevicePipeline::send_chunk(const gas::Team& team, const DeviceStage& stage, std::size_t chunk) {
  const std::size_t number = stage.sink.exchange;
  const DeviceExchange& plan = schedule_.exchanges[number];
  gas::Exchange& exchange = exchanges_[number];
  bool has_waited = false;
  for (std::size_t i = 0; i < plan.sent.size(); ++i) {
    const DeviceMessage& message = plan.sent[i];
    if (message.chunk != chunk) {
      continue;
    }
    if (!has_waited) {
      resources_.to_host->wait(*resources_.compute->record());
      has_waited = true;
    }
    wait_for(team, [&] { return exchange.is_open(i); });
    resources_.to_host->copy_to_host(exchange.destination(i),
                                     resources_.blocks[number]->location() + static_cast<std::uint64_t>(message.offset),
                                     {.row_bytes = static_cast<std::uint64_t>(message.bytes)});
    departures_.push_back({number, i, resources_.to_host->record()});
  }
}

/// Copies the points of a stage from all blocks, or to all blocks.
void DevicePipeline::copy_blocks(const DeviceStage& stage, bool is_source, const DeviceRun& run) {
  const DeviceStageEnd& end = is_source ? stage.source : stage.sink;
  const DeviceStageEnd& other = is_source ? stage.sink : stage.source;
  const Box& box = is_source ? stage.before : stage.after;
  const DeviceExchange& exchange = schedule_.exchanges[end.exchange];
  // What only changes places lies in the user's array, or in the blocks of two exchanges, which do not follow each
  // other.
  const bool is_array = !stage.kind && other.is_user;
  const Extents strides = is_array ? (is_source ? out_ : in_).strides() : copied_strides(stage, box);
  const device::Location array =
      is_array ? (is_source ? run.out : run.in) : (is_source ? resources_.before : resources_.after)->location();
  for (const DeviceBlock& block : blocks_of(end, is_source)) {
    // The direction that is contiguous in the block comes first.
    std::array<int, 3> order{0, 1, 2};
    std::ranges::sort(order, {}, [&](int d) { return block.strides[at(d)]; });
    BoxCopy copy{.element_bytes = exchange.element_bytes};
    std::int64_t first = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t d = at(order[i]);
      copy.extent[i] = block.box.extent[d];
      copy.source_strides[i] = is_source ? block.strides[d] : strides[d];
      copy.destination_strides[i] = is_source ? strides[d] : block.strides[d];
      first += (block.box.lower[d] - box.lower[d]) * strides[d];
    }
    const device::Location in_blocks =
        resources_.blocks[end.exchange]->location() + static_cast<std::uint64_t>(block.offset);
    const device::Location in_array = array + static_cast<std::uint64_t>(first * exchange.element_bytes);
    transform::copy(resources_.library, *resources_.compute, is_source ? in_blocks : in_array,
                    is_source ? in_array : in_blocks, copy);
  }
}

/// Copies planes of the user's array from the host, or to it. Where the array's planes are of another direction: all of
/// them, with the first planes of the stage or with the last.
void DevicePipeline::copy_planes(const DeviceStage& stage, const Range& planes, bool is_source, const DeviceRun& run) {
  const Distribution& part = is_source ? in_ : out_;
  const auto [slowest, middle, fastest] = part.order;
  Range copied{planes.lower - stage.outer_range().lower, planes.extent};
  if (slowest != stage.outer) {
    const bool is_turn = is_source ? copied.lower == 0 : copied.end() == stage.outer_range().extent;
    copied = {0, is_turn ? part.box.extent[at(slowest)] : 0};
  }
  if (part.box.count() == 0 || copied.extent == 0) {
    return;
  }
  const auto element_bytes = static_cast<std::uint64_t>(is_source ? stage.before_bytes : stage.after_bytes);
  const Extents strides = part.strides();
  const auto row_bytes = static_cast<std::uint64_t>(part.box.extent[at(fastest)]) * element_bytes;
  const auto rows = static_cast<std::uint64_t>(part.box.extent[at(middle)]);
  const auto row_pitch = static_cast<std::uint64_t>(strides[at(middle)]) * element_bytes;
  const auto plane_pitch = static_cast<std::uint64_t>(strides[at(slowest)]) * element_bytes;
  device::Stream& stream = is_source ? *resources_.to_device : *resources_.to_host;
  const auto copy = [&](std::uint64_t first, const device::Rows& shape) {
    if (is_source) {
      stream.copy_to_device(run.in + first, run.host_in + first, shape);
    } else {
      stream.copy_to_host(run.host_out + first, run.out + first, shape);
    }
  };
  if (!is_source) {
    stream.wait(*resources_.compute->record());
  }
  const std::uint64_t first = static_cast<std::uint64_t>(copied.lower) * plane_pitch;
  if (plane_pitch == row_bytes * rows) {
    copy(first, {.row_bytes = plane_pitch * static_cast<std::uint64_t>(copied.extent)});
  } else {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(copied.extent); ++i) {
      copy(first + i * plane_pitch,
           {.row_bytes = row_bytes, .rows = rows, .host_pitch = row_pitch, .device_pitch = row_pitch});
    }
  }
  if (is_source) {
    resources_.compute->wait(*stream.record());
  }
}

std::vector<DeviceStagePlan> DevicePipeline::describe() const {
  std::vector<DeviceStagePlan> plans;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const DeviceStage& stage = schedule_.stages[i];
    const std::uint64_t read = bytes_of(stage.before, stage.before_bytes);
    const std::uint64_t written = bytes_of(stage.after, stage.after_bytes);
    DeviceStagePlan plan{.along = stage.along, .is_move = !stage.kind};
    if (stages_[i].transform) {
      plan.kernel = stages_[i].transform->describe();
      plan.device_bytes = read + written;
      const std::int64_t length = stages_[i].transform->shape().length;
      const bool is_real = stages_[i].transform->shape().kind > transform::Kind::backward;
      const std::int64_t pencils = stage.before.extent[at(stage.across)] * stage.before.extent[at(stage.outer)];
      plan.flops = model::fft_flops({.size = {length, 1, 1}, .is_real = is_real}) * static_cast<double>(pencils);
    }
    plan.device_bytes += is_copied(schedule_, stage.source) ? 2 * read : 0;
    plan.device_bytes += is_copied(schedule_, stage.sink) ? 2 * written : 0;
    if (!stage.sink.is_user) {
      for (const DeviceMessage& message : schedule_.exchanges[stage.sink.exchange].sent) {
        plan.sent_bytes += static_cast<std::uint64_t>(message.bytes);
      }
    }
    if (!stage.source.is_user) {
      for (const DeviceMessage& message : schedule_.exchanges[stage.source.exchange].received) {
        plan.received_bytes += static_cast<std::uint64_t>(message.bytes);
      }
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

std::vector<model::DeviceFftStage> DevicePipeline::modelled(bool is_in_on_host, bool is_out_on_host) const {
  std::vector<model::DeviceFftStage> stages;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const DeviceStage& stage = schedule_.stages[i];
    const std::uint64_t read = bytes_of(stage.before, stage.before_bytes);
    const std::uint64_t written = bytes_of(stage.after, stage.after_bytes);
    model::DeviceFftStage work;
    work.chunks = static_cast<std::int64_t>(steps_of(stage, is_in_on_host, is_out_on_host).size());
    if (stages_[i].transform) {
      const transform::DeviceShape& shape = stages_[i].transform->shape();
      work.pass = {.length = shape.length,
                   .fft = {.is_real = shape.kind > transform::Kind::backward, .real_bytes = shape.real_bytes},
                   .reads_pencils = shape.source == Adjacent::pencils,
                   .writes_pencils = shape.destination == Adjacent::pencils};
      work.pass_bytes = static_cast<double>(read + written);
    }
    work.copied_bytes += is_copied(schedule_, stage.source) ? 2 * static_cast<double>(read) : 0;
    work.copied_bytes += is_copied(schedule_, stage.sink) ? 2 * static_cast<double>(written) : 0;
    if (stage.source.is_user && is_in_on_host) {
      work.received_bytes = static_cast<double>(read);
      work.received_copies = work.chunks;
    }
    if (stage.sink.is_user && is_out_on_host) {
      work.sent_bytes = static_cast<double>(written);
      work.sent_copies = work.chunks;
    }
    if (!stage.source.is_user) {
      const DeviceExchange& exchange = schedule_.exchanges[stage.source.exchange];
      for (const DeviceMessage& message : exchange.received) {
        work.received_bytes += static_cast<double>(message.bytes);
        ++work.received_copies;
      }
      work.follows_chunks = exchange.walks_same_planes && !exchange.received.empty();
    }
    if (!stage.sink.is_user) {
      const DeviceExchange& exchange = schedule_.exchanges[stage.sink.exchange];
      std::set<int> peers;
      for (std::size_t m = 0; m < exchange.sent.size(); ++m) {
        work.sent_bytes += static_cast<double>(exchange.sent[m].bytes);
        ++work.sent_copies;
        peers.insert(exchange.outgoing_messages[m].peer);
      }
      work.peer_bytes = work.sent_bytes;
      work.peers = static_cast<std::int64_t>(peers.size());
    }
    stages.push_back(work);
  }
  return stages;
}

}  // namespace penstock::fft
