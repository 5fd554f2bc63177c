#include "penstock/fft/pipeline.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <utility>

#include "penstock/fft/pencil_transform.hpp"

namespace penstock::fft {
namespace {

/// Lists where the points of pencils are that lie one after the other.
void list_points(std::int64_t* offsets, std::int64_t points, std::int64_t stride) noexcept {
  for (std::int64_t k = 0; k < points; ++k) {
    offsets[k] = k * stride;
  }
}

}  // namespace

template <class Real>
Pipeline<Real>::Pipeline(const gas::Team& team, Schedule schedule, const std::vector<gas::Segment>& regions,
                         const gas::Segment* result, const Problem& problem)
    : schedule_(std::move(schedule)),
      next_items_(schedule_.passes.size()),
      open_groups_(schedule_.passes.size()),
      unread_tiles_(std::make_unique<std::atomic<std::int64_t>>()),
      polls_network_(!problem.has_progress_thread),
      workers_(static_cast<std::size_t>(problem.options.threads)) {
  for (ExchangePlan& plan : schedule_.exchanges) {
    const gas::Segment& region = plan.is_into_arrays ? *result : regions[plan.region];
    exchanges_.emplace_back(team, region, plan.outgoing, plan.incoming, problem.carrier,
                            problem.options.exchange_method.get());
    regions_.push_back(region.local().data());
  }
  team.together([&] {
    const auto make = [&](const Stage& stage, const std::optional<PencilShape>& shape) {
      return shape ? plan_pencils(*stage.library, *shape, sizeof(Real), problem.options.effort) : nullptr;
    };
    static constexpr std::array names{"transform x", "transform y", "transform z"};
    for (const Pass& pass : schedule_.passes) {
      auto& transforms = transforms_.emplace_back();
      for (const Stage& stage : pass.stages) {
        names_.push_back(names[static_cast<std::size_t>(problem.sequence[static_cast<std::size_t>(stage.along)])]);
        transforms.push_back({.there = make(stage, stage.there), .back = make(stage, stage.back)});
      }
      open_tiles_.emplace_back(pass.stages.back().sink.groups.size());
    }
  });
}

template <class Real>
ScratchNeed Pipeline<Real>::scratch_need() const noexcept {
  ScratchNeed need = schedule_.scratch;
  for (const std::vector<Transforms>& pass : transforms_) {
    for (const Transforms& transforms : pass) {
      for (const auto* transform : {transforms.there.get(), transforms.back.get()}) {
        need.cover({.lent = transform == nullptr ? 0 : std::uint64_t{transform->scratch_bytes()}});
      }
    }
  }
  return need;
}

template <class Real>
void Pipeline<Real>::begin(const Run<Real>& run) {
  begin_s_ = seconds();
  run_ = run;
  for (gas::Exchange& exchange : exchanges_) {
    exchange.open();
  }
  for (std::size_t i = 0; i < schedule_.passes.size(); ++i) {
    next_items_[i].store(0, std::memory_order_relaxed);
    const End& sink = schedule_.passes[i].stages.back().sink;
    open_groups_[i].store(std::ssize(sink.groups), std::memory_order_relaxed);
    for (std::size_t j = 0; j < sink.groups.size(); ++j) {
      open_tiles_[i][j].store(sink.groups[j].tiles, std::memory_order_relaxed);
    }
  }
  const Stage& first = schedule_.passes.front().stages.front();
  unread_tiles_->store(first.outer_range.extent * static_cast<std::int64_t>(first.tiles.size()),
                       std::memory_order_relaxed);
  for (Worker& worker : workers_) {
    worker = {};
    worker.has_all.resize(exchanges_.size());
  }
}

template <class Real>
bool Pipeline<Real>::advance(const gas::Team& team, ThreadPool& pool, std::vector<Scratch>& scratch, bool may_wait) {
  std::atomic<bool> is_done{true};
  pool.run([&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    // Each by itself, as the other threads of the rank may wait for what this one was to do.
    if (!team.run_or_revoke([&] { return work(team, workers_[i], scratch[i], may_wait); })) {
      is_done.store(false, std::memory_order_relaxed);
    }
  });
  if (is_done.load(std::memory_order_relaxed) && !has_result(may_wait)) {
    is_done.store(false, std::memory_order_relaxed);
  }
  for (gas::Exchange& exchange : exchanges_) {
    if (may_wait) {
      exchange.finish();
    } else if (is_done.load(std::memory_order_relaxed) && !exchange.has_finished()) {
      is_done.store(false, std::memory_order_relaxed);
    }
  }
  return is_done.load(std::memory_order_relaxed);
}

/// Whether what peers write of this rank's result has arrived: no stage reads it.
template <class Real>
bool Pipeline<Real>::has_result(bool may_wait) {
  const ExchangePlan* const last = schedule_.exchanges.empty() ? nullptr : &schedule_.exchanges.back();
  if (last == nullptr || !last->is_into_arrays) {
    return true;
  }
  gas::Exchange& exchange = exchanges_.back();
  const double begin_s = seconds();
  for (std::size_t message = 0; message < last->incoming.size(); ++message) {
    if (may_wait) {
      exchange.wait(message);
    } else if (!exchange.has_arrived(message)) {
      return false;
    }
  }
  for (Worker& worker : workers_) {
    worker.times[schedule_.passes.back().stages.back().number].wait_s += seconds() - begin_s;
  }
  return true;
}

template <class Real>
Breakdown Pipeline<Real>::end() {
  Breakdown mean;
  for (const Worker& worker : workers_) {
    mean.add({.stages = worker.times}, 1.0 / static_cast<double>(workers_.size()));
  }
  mean.total_s = seconds() - begin_s_;
  return mean;
}

// Threads take tiles in order, so that what they wait for is always under way: in the passes before on this rank, or on
// a peer.
template <class Real>
bool Pipeline<Real>::work(const gas::Team& team, Worker& worker, Scratch& scratch, bool may_wait) {
  for (; worker.pass < schedule_.passes.size(); ++worker.pass) {
    const Pass& pass = schedule_.passes[worker.pass];
    const std::int64_t items = items_of(pass);
    for (;;) {
      if (!worker.has_item) {
        worker.item = next_items_[worker.pass].fetch_add(1, std::memory_order_relaxed);
        if (worker.item >= items) {
          break;
        }
        worker.has_item = true;
        worker.stage = 0;
        const Spot spot = spot_of(pass, worker.item);
        worker.outer = spot.outer;
        worker.tile = spot.tile;
        worker.end_tile = pass.stages.size() > 1 ? pass.stages.front().tiles.size() : worker.tile + 1;
      }
      for (;;) {
        if (!is_ready(worker)) {
          if (!may_wait) {
            return false;
          }
          wait_for_peers(team, worker);
        }
        run_tile(worker, scratch);
        if (++worker.tile == worker.end_tile) {
          if (++worker.stage == pass.stages.size()) {
            break;
          }
          worker.tile = 0;
          worker.end_tile = pass.stages[worker.stage].tiles.size();
        }
      }
      worker.has_item = false;
    }
  }
  return true;
}

/// Where a timeline has what happens to the worker's tile.
template <class Real>
trace::Place Pipeline<Real>::place_of(const Worker& worker, const Stage& stage) noexcept {
  return {.outer = static_cast<std::int32_t>(worker.outer),
          .tile = static_cast<std::int32_t>(worker.tile),
          .stage = static_cast<std::int16_t>(stage.number)};
}

/// Whether what the worker's tile is gathered from has arrived, and the places that it is scattered to may be written.
template <class Real>
bool Pipeline<Real>::is_ready(Worker& worker) {
  const Stage& stage = schedule_.passes[worker.pass].stages[worker.stage];
  const End& source = stage.source;
  const End& sink = stage.sink;
  if (source.place == Place::exchange && worker.has_all[source.exchange] == 0) {
    gas::Exchange& exchange = exchanges_[source.exchange];
    const auto& needs = source.sections[source.section_of(worker.outer)].tiles[worker.tile].messages;
    for (const std::size_t message : needs) {
      if (!exchange.has_arrived(message)) {
        return false;
      }
    }
    worker.has_all[source.exchange] = needs.size() == schedule_.exchanges[source.exchange].incoming.size() ? 1 : 0;
  }
  if (sink.place == Place::exchange) {
    for (const std::size_t message : sink.sections[sink.section_of(worker.outer)].tiles[worker.tile].messages) {
      if (!exchanges_[sink.exchange].is_open(message)) {
        return false;
      }
    }
  }
  return !may_overwrite_input(worker) || unread_tiles_->load(std::memory_order_acquire) == 0;
}

/// In place, what is written may lie where other threads still read. One pass alone is planned to work in place.
template <class Real>
bool Pipeline<Real>::may_overwrite_input(const Worker& worker) const {
  return worker.pass > 0 && schedule_.passes[worker.pass].stages[worker.stage].sink.place == Place::user;
}

template <class Real>
void Pipeline<Real>::wait_for_peers(const gas::Team& team, Worker& worker) {
  const double begin_s = seconds();
  const Stage& stage = schedule_.passes[worker.pass].stages[worker.stage];
  if (trace::Track* const track = trace::this_track(); track != nullptr) {
    track->set_place(place_of(worker, stage));
  }
  const auto messages_of = [&](const End& end) -> const std::vector<std::size_t>& {
    return end.sections[end.section_of(worker.outer)].tiles[worker.tile].messages;
  };
  if (stage.source.place == Place::exchange) {
    for (const std::size_t message : messages_of(stage.source)) {
      exchanges_[stage.source.exchange].wait(message);
    }
  }
  if (stage.sink.place == Place::exchange) {
    for (const std::size_t message : messages_of(stage.sink)) {
      exchanges_[stage.sink.exchange].destination(message);
    }
  }
  if (may_overwrite_input(worker)) {
    const trace::Span span("wait for readers", trace::Category::wait);
    wait_until([&] {
      team.check_revoked();  // by another thread of this rank, which was to read some
      return unread_tiles_->load(std::memory_order_acquire) == 0;
    });
  }
  worker.times[stage.number].wait_s += seconds() - begin_s;
}

/// Messages go on while the rank computes. A poll that finds nothing takes 1 to 2 us.
template <class Real>
void Pipeline<Real>::poll_network(Worker& worker, double now_s) {
  constexpr double pause_s = 2e-4;
  if (!polls_network_ || now_s - worker.polled_s < pause_s) {
    return;
  }
  worker.polled_s = now_s;
  const Pass& pass = schedule_.passes[worker.pass];
  for (const End* end : {&pass.stages.back().sink, &pass.stages.front().source}) {
    if (end->place == Place::exchange && exchanges_[end->exchange].needs_progress()) {
      exchanges_[end->exchange].progress();
    }
  }
}

/// Where the far end of a stretch or move of the tile lies.
template <class Real>
std::byte* Pipeline<Real>::far_of(const End& end, const Far& far, std::int64_t outers, const Scratch& scratch) {
  std::byte* base = scratch.plane;
  if (end.place == Place::user) {
    base = end.is_sink ? run_.out : const_cast<std::byte*>(run_.in);
  } else if (end.place == Place::exchange) {
    base = end.is_sink ? exchanges_[end.exchange].destination(far.message) : regions_[end.exchange];
    base += end.field_strides.empty() ? 0 : run_.field * end.field_strides[far.message];
  }
  return base + far.at(outers);
}

/// The pencils of a tile that a transform meets at the place itself, their points listed in `offsets`.
template <class Real>
transform::Pencils<std::byte> Pipeline<Real>::pencils_at(const End& end, const Spot& spot, const Scratch& scratch,
                                                         std::int64_t* offsets) {
  const Section& section = end.sections[end.section_of(spot.outer)];
  const TileEnd& tile = section.tiles[spot.tile];
  std::byte* base = nullptr;
  for (const Stretch& stretch : tile.stretches) {
    std::byte* const begin = far_of(end, stretch.far, spot.outer - section.first, scratch);
    base = base == nullptr ? begin : base;
    // Copies: for all that a compiler knows, a store to the list might change the stretch.
    const std::int64_t first = begin - base;
    const std::int64_t stride = stretch.point_stride;
    const std::int64_t points = stretch.points;
    std::int64_t* const these = offsets + stretch.first_point;
    for (std::int64_t k = 0; k < points; ++k) {
      these[k] = first + k * stride;
    }
  }
  return {base, offsets, tile.pencil_stride};
}

/// How many items threads take of a pass.
template <class Real>
std::int64_t Pipeline<Real>::items_of(const Pass& pass) {
  const Stage& first = pass.stages.front();
  const auto tiles = static_cast<std::int64_t>(first.tiles.size());
  return pass.stages.size() > 1 ? (tiles == 0 ? 0 : first.outer_range.extent) : first.outer_range.extent * tiles;
}

/// The first tile of an item.
template <class Real>
typename Pipeline<Real>::Spot Pipeline<Real>::spot_of(const Pass& pass, std::int64_t item) const {
  const Stage& first = pass.stages.front();
  const Range& outer = first.outer_range;
  if (pass.stages.size() > 1) {
    return {outer.lower + item, 0};
  }
  if (first.goes_by_tiles) {
    // Each thread goes through outer indices of its own: neighbours of what others store at that moment cost more.
    const std::int64_t index = item % outer.extent;
    const std::int64_t of_thread = outer.extent / std::ssize(workers_);
    const bool is_shared_out = index < of_thread * std::ssize(workers_);
    const std::int64_t nth =
        is_shared_out ? index % std::ssize(workers_) * of_thread + index / std::ssize(workers_) : index;
    return {outer.lower + nth, static_cast<std::size_t>(item / outer.extent)};
  }
  const auto tiles = static_cast<std::int64_t>(first.tiles.size());
  return {outer.lower + item / tiles, static_cast<std::size_t>(item % tiles)};
}

/// The tile of the worker's stage that it is likely to run next, if all threads are as fast.
template <class Real>
std::optional<typename Pipeline<Real>::Spot> Pipeline<Real>::next_spot(const Worker& worker) const {
  if (worker.tile + 1 < worker.end_tile) {
    return Spot{worker.outer, worker.tile + 1};
  }
  const Pass& pass = schedule_.passes[worker.pass];
  const std::int64_t item = worker.item + std::ssize(workers_);
  return item < items_of(pass) ? std::optional(spot_of(pass, item)) : std::nullopt;
}

// Bound by memory: a tile is read once from where it comes from, and written once to where it goes; between the two it
// stays in cache. No allocation, lock or system call, but for what messages take.
template <class Real>
void Pipeline<Real>::run_tile(Worker& worker, Scratch& scratch) {
  const Stage& stage = schedule_.passes[worker.pass].stages[worker.stage];
  const End& source = stage.source;
  const End& sink = stage.sink;
  StageTime& time = worker.times[stage.number];
  trace::Track* const track = trace::this_track();
  if (track != nullptr) {
    track->set_place(place_of(worker, stage));
  }
  const double begin_s = seconds();
  const auto copy = [&](const End& end, auto move_tile) {
    const Section& section = end.sections[end.section_of(worker.outer)];
    for (const Move& move : section.tiles[worker.tile].moves) {
      move_tile(move, far_of(end, move.far, worker.outer - section.first, scratch));
    }
  };

  std::byte* after = scratch.before;
  copy(source, [&](const Move& move, const std::byte* far) { move.mover(far, scratch.before + move.tile_offset); });
  const double gathered_s = seconds();
  time.gather_s += gathered_s - begin_s;

  double transformed_s = gathered_s;
  if (stage.kind) {
    after = transform_tile(stage, worker, scratch);
    transformed_s = seconds();
    time.transform_s += transformed_s - gathered_s;
  }
  if (source.place == Place::user) {
    unread_tiles_->fetch_sub(1, std::memory_order_release);
  }

  copy(sink, [&](const Move& move, std::byte* far) { move.mover(after + move.tile_offset, far); });
  if (sink.place != Place::plane) {
    mover::finish_streaming();
    complete_tile(worker.pass, sink, sink.sections[sink.section_of(worker.outer)].group);
  }
  const double scattered_s = seconds();
  time.scatter_s += scattered_s - transformed_s;
  if (track != nullptr) {
    record_tile(*track, worker, stage, {begin_s, gathered_s, transformed_s, scattered_s});
  }
  poll_network(worker, scattered_s);
}

/// What a tile's copies and transform took, in a timeline: `times_s` are when they began and ended.
template <class Real>
void Pipeline<Real>::record_tile(trace::Track& track, const Worker& worker, const Stage& stage,
                                 const std::array<double, 4>& times_s) {
  const auto tile_of = [&](const End& end) -> const TileEnd& {
    return end.sections[end.section_of(worker.outer)].tiles[worker.tile];
  };
  const auto add = [&](const char* name, trace::Category category, std::size_t begin, std::int64_t bytes) {
    track.add(
        {.name = name, .begin_s = times_s[begin], .end_s = times_s[begin + 1], .bytes = bytes, .category = category});
  };
  if (const TileEnd& tile = tile_of(stage.source); !tile.moves.empty()) {
    add("gather", trace::Category::move, 0, tile.bytes);
  }
  if (stage.kind) {
    add(names_[stage.number], trace::Category::transform, 1, -1);
  }
  if (const TileEnd& tile = tile_of(stage.sink); !tile.moves.empty()) {
    add("scatter", trace::Category::move, 2, tile.bytes);
  }
  track.set_place({});
}

/// Transforms a tile, from and to where its pencils lie: returns the tile that it leaves them in, where it does.
template <class Real>
std::byte* Pipeline<Real>::transform_tile(const Stage& stage, const Worker& worker, Scratch& scratch) {
  const auto& [there, back] = transforms_[worker.pass][worker.stage];
  const Range& range = stage.tiles[worker.tile];
  const End& source = stage.source;
  const End& sink = stage.sink;
  const double factor = stage.is_last_transform ? static_cast<double>(run_.factor) : 1;
  const auto in_tile = [](const End& end, std::byte* tile, std::int64_t points, std::int64_t* offsets) {
    list_points(offsets, points, end.element_bytes);
    return transform::Pencils<std::byte>{tile, offsets, end.pitch_bytes};
  };
  const auto pencils_of = [&](const End& end, std::byte* tile, std::int64_t points, std::int64_t* offsets) {
    return end.is_direct ? pencils_at(end, {worker.outer, worker.tile}, scratch, offsets)
                         : in_tile(end, tile, points, offsets);
  };
  const auto run = [&](const LocalTransform& transform, const transform::Pencils<std::byte>& from,
                       const transform::Pencils<std::byte>& to, double by, transform::Access access) {
    transform.run({from.base, from.offsets, from.pencil_stride}, to, range.extent, scratch.lent, by, access);
  };
  std::byte* after = scratch.after;
  const auto from = pencils_of(source, scratch.before, stage.before_points, scratch.source_offsets);
  if (stage.turns_back) {
    // Rows for the user's function, and back from them.
    const std::int64_t pitch = stage.there->destination_stride;
    const transform::Pencils<std::byte> rows{after, scratch.sink_offsets, pitch};
    list_points(scratch.sink_offsets, stage.after_points, stage.after_bytes);
    run(*there, from, rows, 1, {.is_from_memory = source.is_direct && source.place != Place::plane});
    const auto elements = static_cast<std::size_t>(stage.after_points * stage.components);
    for (std::int64_t i = 0; i < range.extent; ++i) {
      const bool is_outer_first = stage.outer < stage.across;
      const std::int64_t across = range.lower + i;
      (*run_.on_row)(is_outer_first ? worker.outer : across, is_outer_first ? across : worker.outer, after + i * pitch,
                     elements);
    }
    after = scratch.before;
    const auto to = pencils_of(sink, after, stage.before_points, scratch.source_offsets);
    run(*back, rows, to, factor, {.is_streaming = sink.is_direct && sink.may_stream});
    return after;
  }
  const auto to = pencils_of(sink, after, stage.after_points, scratch.sink_offsets);
  transform::Access access{.is_from_memory = source.is_direct && source.place != Place::plane,
                           .is_streaming = sink.is_direct && sink.may_stream};
  transform::Pencils<const std::byte> next_pencils;
  if (const auto next = access.is_from_memory ? next_spot(worker) : std::nullopt) {
    const auto pencils = pencils_at(source, *next, scratch, scratch.next_offsets);
    next_pencils = {pencils.base, pencils.offsets, pencils.pencil_stride};
    access.next = &next_pencils;
    access.next_pencils = stage.tiles[next->tile].extent;
  }
  run(*there, from, to, factor, access);
  return after;
}

/// Counts a tile of a sink, and sends what it makes complete.
template <class Real>
void Pipeline<Real>::complete_tile(std::size_t pass, const End& sink, std::size_t group) {
  const auto is_last = [](std::atomic<std::int64_t>& open) {
    return open.fetch_sub(1, std::memory_order_acq_rel) == 1;
  };
  if (!is_last(open_tiles_[pass][group])) {
    return;
  }
  for (const std::size_t message : sink.groups[group].messages) {
    exchanges_[sink.exchange].send(message);
  }
  if (is_last(open_groups_[pass])) {
    for (const std::size_t message : sink.deferred_messages) {
      exchanges_[sink.exchange].send(message);
    }
  }
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace penstock::fft
