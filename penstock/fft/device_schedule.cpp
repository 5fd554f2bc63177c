#include "penstock/fft/device_schedule.hpp"

#include <algorithm>
#include <utility>

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

/// The walks of all stages, and how many ends are written or read with neighbouring items far apart.
struct Walks {
  std::vector<Walk> walks;
  int scattered_ends = 0;
};

/// The walks that follow from the contiguous directions of the user's arrays, and from a bit for each stage: whether
/// the direction across its pencils is the contiguous one in what it writes, and not that along them.
Walks follow(const std::vector<StageSpec>& specs, unsigned inner_is_across, int input_inner, int output_inner) {
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
    }
    walk.outer = third(spec.along, walk.across);
    walk.inner = (inner_is_across >> i & 1U) != 0 ? walk.across : spec.along;
    result.scattered_ends += is_last && output_inner != spec.along && output_inner != walk.across ? 1 : 0;
    source_inner = walk.inner;
    result.walks.push_back(walk);
  }
  return result;
}

/// The walks with the fewest scattered ends, those first that write whole rows of points.
std::vector<Walk> choose_walks(const std::vector<StageSpec>& specs, int input_inner, int output_inner) {
  Walks best = follow(specs, 0, input_inner, output_inner);
  for (unsigned choice = 1; choice < 1U << (specs.size() - 1) && best.scattered_ends > 0; ++choice) {
    if (Walks walks = follow(specs, choice, input_inner, output_inner); walks.scattered_ends < best.scattered_ends) {
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

/// The chunks of a stage's planes. Where the options name no planes per message: eight, so that the kernel, the copy to
/// the host, the transfer and the copy to the peer's device overlap, and each is long enough to run at full rate.
std::vector<Range> cut(const Range& range, std::optional<std::int64_t> planes_per_message) {
  constexpr std::int64_t usual_chunks = 8;
  std::int64_t planes = planes_per_message.value_or((range.extent + usual_chunks - 1) / usual_chunks);
  planes = planes == 0 ? range.extent : planes;
  std::vector<Range> chunks;
  for (std::int64_t first = 0; first < range.extent; first += planes) {
    chunks.push_back({range.lower + first, std::min(planes, range.extent - first)});
  }
  return chunks;
}

/// Makes the exchange between two stages, for one rank.
class ExchangeMaker {
 public:
  ExchangeMaker(const Problem& problem, const StageSpec& before, const StageSpec& after, const Walk& walk,
                int outer_after)
      : before_(before), after_(after), walk_(walk) {
    exchange_.element_bytes = before.after.element_bytes;
    exchange_.is_fused = can_fuse(before, after);
    exchange_.walks_same_planes = exchange_.is_fused && walk.outer == outer_after;
    for (const Box& box : before.after.boxes) {
      const Range outer = range_of(box, walk.outer);
      // Copied blocks are complete all at once.
      exchange_.chunks.push_back(box.count() == 0 ? std::vector<Range>{}
                                                  : cut(outer, exchange_.is_fused ? problem.options.planes_per_message
                                                                                  : std::optional<std::int64_t>(0)));
    }
  }

  DeviceExchange make(int rank) && {
    const int ranks = static_cast<int>(before_.after.boxes.size());
    std::int64_t device_offset = 0;
    std::size_t host_offset = 0;
    for (int from = 0; from < ranks; ++from) {
      const DeviceBlock block = block_of(from, rank, from, device_offset);
      if (block.box.count() == 0) {
        continue;
      }
      exchange_.incoming.push_back(block);
      device_offset += round_up(bytes_of(block));
      if (from == rank) {
        exchange_.outgoing.push_back(block);
        continue;
      }
      for (const DeviceMessage& message : messages_of(from, block)) {
        exchange_.incoming_messages.push_back(
            {.peer = from,
             .offset = host_offset + static_cast<std::size_t>(message.offset - block.offset),
             .bytes = static_cast<std::size_t>(message.bytes)});
        exchange_.received.push_back(message);
      }
      host_offset += static_cast<std::size_t>(round_up(bytes_of(block)));
    }
    exchange_.host_bytes = static_cast<std::int64_t>(host_offset);
    for (int to = 0; to < ranks; ++to) {
      if (to == rank) {
        continue;
      }
      const DeviceBlock block = block_of(rank, to, to, device_offset);
      if (block.box.count() == 0) {
        continue;
      }
      exchange_.outgoing.push_back(block);
      device_offset += round_up(bytes_of(block));
      const auto [first_index, peer_offset] = place_at_peer(rank, to);
      std::size_t index = first_index;
      for (const DeviceMessage& message : messages_of(rank, block)) {
        exchange_.outgoing_messages.push_back(
            {.peer = to,
             .offset = peer_offset + static_cast<std::size_t>(message.offset - block.offset),
             .bytes = static_cast<std::size_t>(message.bytes),
             .index = index++});
        exchange_.sent.push_back(message);
      }
    }
    exchange_.device_bytes = device_offset;
    return std::move(exchange_);
  }

 private:
  /// Blocks begin at multiples of a cache line of the device.
  static std::int64_t round_up(std::int64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }
  std::int64_t bytes_of(const DeviceBlock& block) const noexcept { return block.box.count() * exchange_.element_bytes; }

  /// What `from` sends `to`, with the sender's outer direction slowest, so that a chunk of its planes is contiguous.
  DeviceBlock block_of(int from, int to, int peer, std::int64_t offset) const {
    DeviceBlock block{.peer = peer,
                      .box = intersect(before_.after.boxes[static_cast<std::size_t>(from)],
                                       after_.before.boxes[static_cast<std::size_t>(to)]),
                      .offset = offset};
    const int second = third(walk_.outer, walk_.inner);
    block.strides[at(walk_.inner)] = 1;
    block.strides[at(second)] = block.box.extent[at(walk_.inner)];
    block.strides[at(walk_.outer)] = block.box.extent[at(walk_.inner)] * block.box.extent[at(second)];
    return block;
  }

  std::vector<DeviceMessage> messages_of(int from, const DeviceBlock& block) const {
    std::vector<DeviceMessage> messages;
    const std::int64_t plane_bytes = block.strides[at(walk_.outer)] * exchange_.element_bytes;
    const std::vector<Range>& chunks = exchange_.chunks[static_cast<std::size_t>(from)];
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const Range planes = shape::intersect(chunks[i], range_of(block.box, walk_.outer));
      if (planes.extent > 0) {
        messages.push_back({.chunk = i,
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
        offset += static_cast<std::size_t>(round_up(bytes_of(block)));
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

DeviceSchedule make_device_schedule(const Problem& problem, Direction direction, int rank) {
  const std::vector<StageSpec> specs = make_route(problem, direction);
  const auto me = static_cast<std::size_t>(rank);
  const bool is_forward = direction == Direction::forward;
  const int input_inner = (is_forward ? problem.input : problem.output).front().order[2];
  const int output_inner = (is_forward ? problem.output : problem.input).front().order[2];
  const std::vector<Walk> walks = choose_walks(specs, input_inner, output_inner);

  DeviceSchedule schedule;
  for (std::size_t i = 0; i + 1 < specs.size(); ++i) {
    schedule.exchanges.push_back(
        ExchangeMaker(problem, specs[i], specs[i + 1], walks[i], walks[i + 1].outer).make(rank));
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
    // What is copied from blocks and to blocks lies in rows of points meanwhile.
    const auto end_of = [&](bool is_user, std::size_t exchange, int inner) {
      const bool is_copied = !is_user && !schedule.exchanges[exchange].is_fused;
      return DeviceStageEnd{.is_user = is_user,
                            .exchange = exchange,
                            .adjacent = is_copied || inner == spec.along ? Adjacent::points : Adjacent::pencils};
    };
    stage.source = end_of(is_first, is_first ? 0 : i - 1, source_inner);
    stage.sink = end_of(is_last, is_last ? 0 : i, sink_inner);
    stage.chunks =
        is_last ? cut(stage.outer_range(), problem.options.planes_per_message) : schedule.exchanges[i].chunks[me];
    schedule.stages.push_back(std::move(stage));
  }
  return schedule;
}

}  // namespace penstock::fft
