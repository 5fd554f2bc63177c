#include "penstock/fft/device_schedule.hpp"

#include <algorithm>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/fft/direction_index.hpp"

namespace penstock::fft {
namespace {

/// How a stage walks its box: alike on all ranks.
struct Walk {
  int across = 0;
  int outer = 0;
  int inner = 0;  ///< the direction whose points are contiguous where the stage writes an exchange
};

int third(int a, int b) noexcept {
  return 3 - a - b;
}

Range range_of(const Box& box, int direction) noexcept {
  return {box.lower[at(direction)], box.extent[at(direction)]};
}

/// The walks of all stages, how many ends are written or read with neighbouring items far apart, and how many exchanges
/// do not join stages.
struct Walks {
  std::vector<Walk> walks;
  int scattered_ends = 0;
  int passes = 0;
};

/// By exchange: whether every rank keeps its points.
std::vector<char> keep_boxes(const std::vector<StageSpec>& specs) {
  std::vector<char> keeps;
  for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
    keeps.push_back(hold_the_same(specs[i].after.boxes, specs[i + 1].before.boxes) ? 1 : 0);
  }
  return keeps;
}

/// The walks that follow from the contiguous directions of the user's arrays, and from two bits for each stage: whether
/// the direction across its pencils is the contiguous one in what it writes, and not that along them; and whether the
/// other one of two directions is across them, where either may be.
Walks follow(const std::vector<StageSpec>& specs, const std::vector<char>& keeps, unsigned inner_is_across,
             unsigned is_other, int input_inner, int output_inner) {
  Walks result;
  int source_inner = input_inner;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const StageSpec& spec = specs[i];
    const bool is_last = i + 1 == specs.size();
    Walk walk;
    if (source_inner != spec.along) {
      walk.across = source_inner;
    } else {
      // Any neighbours read whole rows: let the sink choose.
      walk.across = is_last && output_inner != spec.along ? output_inner : (spec.along == 0 ? 1 : 0);
      walk.across = (is_other >> i & 1U) != 0 ? third(spec.along, walk.across) : walk.across;
    }
    walk.outer = third(spec.along, walk.across);
    walk.inner = (inner_is_across >> i & 1U) != 0 ? walk.across : spec.along;
    result.scattered_ends += is_last && output_inner != spec.along && output_inner != walk.across ? 1 : 0;
    source_inner = walk.inner;
    result.passes += i > 0 && (keeps[i - 1] == 0 || result.walks.back().outer != walk.outer) ? 1 : 0;
    result.walks.push_back(walk);
  }
  return result;
}

/// The walks with the fewest scattered ends, of these those with the fewest passes where stages are joined, and of
/// these those first that write whole rows of points.
std::vector<Walk> choose_walks(const std::vector<StageSpec>& specs, const std::vector<char>& keeps, int input_inner,
                               int output_inner, bool joins_stages) {
  const auto cost = [&](const Walks& walks) {
    return std::pair(walks.scattered_ends, joins_stages ? walks.passes : 0);
  };
  Walks best = follow(specs, keeps, 0, 0, input_inner, output_inner);
  const unsigned inner_choices = 1U << (specs.size() - 1);
  for (unsigned choice = 1; choice < inner_choices << specs.size(); ++choice) {
    Walks walks = follow(specs, keeps, choice % inner_choices, choice / inner_choices, input_inner, output_inner);
    if (cost(walks) < cost(best)) {
      best = std::move(walks);
    }
  }
  return best.walks;
}

/// Whether kernels can write and read the blocks between two stages: every block spans all pencils on both sides.
bool can_fuse(const StageSpec& before, const StageSpec& after) {
  if (!before.kind || !after.kind) {
    return false;
  }
  const auto spans = [](const Box& box, const Box& part, int along) {
    for (int d = 0; d < 3; ++d) {
      if (d != along && range_of(box, d) != range_of(part, d)) {
        return false;
      }
    }
    return true;
  };
  for (const Box& from : before.after.boxes) {
    for (const Box& to : after.before.boxes) {
      const Box common = intersect(from, to);
      if (common.count() > 0 && !(spans(from, common, before.along) && spans(to, common, after.along))) {
        return false;
      }
    }
  }
  return true;
}

/// The chunks of a stage's planes.
std::vector<Range> cut(const Box& box, int outer, const Options& options, std::int64_t wanted_chunks) {
  if (box.count() == 0) {
    return {};
  }
  const Range range = range_of(box, outer);
  std::int64_t planes = divide_up(range.extent, wanted_chunks);
  if (const std::int64_t most = options.planes_per_message.value_or(0); most > 0) {
    planes = std::min(planes, most);
  }
  std::vector<Range> chunks;
  for (std::int64_t first = 0; first < range.extent; first += planes) {
    chunks.push_back({range.lower + first, std::min(planes, range.extent - first)});
  }
  return chunks;
}

/// Makes the exchange between two stages, for one rank.
class ExchangeMaker {
 public:
  ExchangeMaker(const Problem& problem, const DeviceTuning& tuning, const StageSpec& before, const StageSpec& after,
                const Walk& walk, int outer_after)
      : before_(before), after_(after), walk_(walk) {
    exchange_.place = tuning.spills ? BlockPlace::host : BlockPlace::device;
    exchange_.element_bytes = before.after.element_bytes;
    exchange_.order = {walk.outer, third(walk.outer, walk.inner), walk.inner};
    exchange_.is_fused = can_fuse(before, after);
    exchange_.walks_same_planes = walk.outer == outer_after;
    for (const Box& box : before.after.boxes) {
      exchange_.chunks.push_back(cut(box, walk.outer, problem.options, tuning.chunks));
    }
  }

  /// With a chunk at a time in device memory: ranks keep their boxes.
  DeviceExchange make_joint(int rank) && {
    exchange_.place = BlockPlace::chunk;
    const auto me = static_cast<std::size_t>(rank);
    for (const Range& planes : exchange_.chunks[me]) {
      exchange_.device_bytes =
          std::max(exchange_.device_bytes,
                   chunk_of(before_.after.boxes[me], walk_.outer, planes).count() * exchange_.element_bytes);
    }
    return std::move(exchange_);
  }

  DeviceExchange make(int rank) && {
    const int ranks = static_cast<int>(before_.after.boxes.size());
    const bool is_on_host = exchange_.place == BlockPlace::host;
    std::int64_t host_offset = 0;  // of what peers write
    for (int from = 0; from < ranks; ++from) {
      const DeviceBlock block = block_of(from, rank, from, host_offset);
      if (from == rank || block.box.count() == 0) {
        continue;
      }
      for (const DeviceMessage& message : messages_of(from, block, exchange_.incoming.size())) {
        exchange_.incoming_messages.push_back({.peer = from,
                                               .offset = static_cast<std::size_t>(message.offset),
                                               .bytes = static_cast<std::size_t>(message.bytes)});
        exchange_.received.push_back(message);  // lies alike in device memory
      }
      exchange_.incoming.push_back(block);
      host_offset += padded_bytes_of(block);
    }
    std::int64_t offset = host_offset;
    if (const DeviceBlock own = block_of(rank, rank, rank, offset); own.box.count() > 0) {
      exchange_.incoming.push_back(own);
      exchange_.outgoing.push_back(own);
      offset += padded_bytes_of(own);
    }
    exchange_.host_bytes = is_on_host ? offset : host_offset;
    for (int to = 0; to < ranks; ++to) {
      const DeviceBlock block = block_of(rank, to, to, offset);
      if (to == rank || block.box.count() == 0) {
        continue;
      }
      const auto [first_index, peer_offset] = place_at_peer(rank, to);
      std::size_t index = first_index;
      for (const DeviceMessage& message : messages_of(rank, block, exchange_.outgoing.size())) {
        exchange_.outgoing_messages.push_back(
            {.peer = to,
             .offset = peer_offset + static_cast<std::size_t>(message.offset - block.offset),
             .bytes = static_cast<std::size_t>(message.bytes),
             .index = index++});
        exchange_.sent.push_back(message);
      }
      exchange_.outgoing.push_back(block);
      offset += padded_bytes_of(block);
    }
    exchange_.device_bytes = is_on_host ? 0 : offset;
    return std::move(exchange_);
  }

 private:
  /// Blocks begin at multiples of a cache line of the device.
  std::int64_t padded_bytes_of(const DeviceBlock& block) const noexcept { return round_up(bytes_of(block), 256); }
  std::int64_t bytes_of(const DeviceBlock& block) const noexcept { return block.box.count() * exchange_.element_bytes; }

  /// What `from` sends `to`, with the sender's outer direction slowest, so that a chunk of its planes is contiguous.
  DeviceBlock block_of(int from, int to, int peer, std::int64_t offset) const {
    DeviceBlock block{.peer = peer,
                      .box = intersect(before_.after.boxes[static_cast<std::size_t>(from)],
                                       after_.before.boxes[static_cast<std::size_t>(to)]),
                      .offset = offset};
    block.strides = compact_strides(exchange_.order, block.box.extent);
    return block;
  }

  std::vector<DeviceMessage> messages_of(int from, const DeviceBlock& block, std::size_t number = 0) const {
    std::vector<DeviceMessage> messages;
    const std::int64_t plane_bytes = block.strides[at(walk_.outer)] * exchange_.element_bytes;
    const std::vector<Range>& chunks = exchange_.chunks[static_cast<std::size_t>(from)];
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Range planes = shape::intersect(chunks[i], range_of(block.box, walk_.outer));
      if (planes.extent > 0) {
        messages.push_back({.block = number,
                            .chunk = i,
                            .planes = planes,
                            .offset = block.offset + (planes.lower - block.box.lower[at(walk_.outer)]) * plane_bytes,
                            .bytes = planes.extent * plane_bytes});
      }
    }
    return messages;
  }

  /// The number of this rank's first message in the list of what `to` receives, and where its block begins there.
  std::pair<std::size_t, std::size_t> place_at_peer(int rank, int to) const {
    std::size_t index = 0;
    std::size_t offset = 0;
    for (int from = 0; from < rank; ++from) {
      const DeviceBlock block = block_of(from, to, from, 0);
      if (from != to && block.box.count() > 0) {
        index += messages_of(from, block).size();
        offset += static_cast<std::size_t>(padded_bytes_of(block));
      }
    }
    return {index, offset};
  }

  const StageSpec& before_;
  const StageSpec& after_;
  const Walk& walk_;
  DeviceExchange exchange_;
};

}  // namespace

Extents compact_strides(const std::array<int, 3>& order, const Extents& extent) noexcept {
  Extents strides{};
  strides[at(order[2])] = 1;
  strides[at(order[1])] = extent[at(order[2])];
  strides[at(order[0])] = extent[at(order[2])] * extent[at(order[1])];
  return strides;
}

Box chunk_of(const Box& box, int outer, const Range& planes) noexcept {
  Box chunk = box;
  const Range common = shape::intersect(range_of(box, outer), planes);
  chunk.lower[at(outer)] = common.lower;
  chunk.extent[at(outer)] = common.extent;
  return chunk;
}

DeviceSchedule make_device_schedule(const Problem& problem, Direction direction, int rank, const DeviceTuning& tuning) {
  const std::vector<StageSpec> specs = make_route(problem, direction);
  const auto me = static_cast<std::size_t>(rank);
  const bool is_forward = direction == Direction::forward;
  const int input_inner = (is_forward ? problem.input : problem.output).front().order[2];
  const int output_inner = (is_forward ? problem.output : problem.input).front().order[2];
  const std::vector<char> keeps = keep_boxes(specs);
  const std::vector<Walk> walks = choose_walks(specs, keeps, input_inner, output_inner, tuning.joins_stages);

  DeviceSchedule schedule;
  bool joins_all = tuning.joins_stages;
  for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
    const bool is_joint = tuning.joins_stages && keeps[i] != 0 && walks[i].outer == walks[i + 1].outer;
    const bool is_last = i + 2 == specs.size();
    joins_all = joins_all && is_joint;
    ExchangeMaker maker(problem, tuning, specs[i], specs[i + 1], walks[i], walks[i + 1].outer);
    schedule.exchanges.push_back(is_joint && !(is_last && joins_all) ? std::move(maker).make_joint(rank)
                                                                     : std::move(maker).make(rank));
  }
  std::size_t memory = 0;
  for (const bool is_joint : {false, true}) {
    for (DeviceExchange& exchange : schedule.exchanges) {
      if ((exchange.place == BlockPlace::chunk) == is_joint) {
        exchange.memory = memory++;
      }
    }
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const StageSpec& spec = specs[i];
    const bool is_first = i == 0;
    const bool is_last = i + 1 == specs.size();
    const int source_inner = is_first ? input_inner : walks[i - 1].inner;
    const int sink_inner = is_last ? output_inner : walks[i].inner;
    DeviceStage stage{.along = spec.along,
                      .across = walks[i].across,
                      .outer = walks[i].outer,
                      .kind = spec.kind,
                      .before = spec.before.boxes[me],
                      .after = spec.after.boxes[me],
                      .before_bytes = spec.before.element_bytes,
                      .after_bytes = spec.after.element_bytes};
    const auto end_of = [&](bool is_user, std::size_t exchange, int inner) {
      return DeviceStageEnd{.is_user = is_user,
                            .exchange = exchange,
                            .adjacent = inner == spec.along ? Adjacent::points : Adjacent::pencils};
    };
    stage.source = end_of(is_first, is_first ? 0 : i - 1, source_inner);
    stage.sink = end_of(is_last, is_last ? 0 : i, sink_inner);
    stage.chunks = cut(stage.before, stage.outer, problem.options, tuning.chunks);
    schedule.stages.push_back(std::move(stage));
  }
  return schedule;
}

}  // namespace penstock::fft
