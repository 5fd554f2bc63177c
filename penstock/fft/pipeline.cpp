#include "penstock/fft/pipeline.hpp"

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <utility>

namespace penstock::fft {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// The two tiles lie half a page apart modulo 4096, or loads from one would be taken to depend on stores to the other.
constexpr std::uint64_t tile_gap = 2048;

template <class Real>
void scale(std::byte* rows, std::int64_t bytes, Real factor) noexcept {
  auto* values = reinterpret_cast<Real*>(rows);
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(Real));
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] *= factor;
  }
}

}  // namespace

Scratch::Scratch(std::uint64_t tile_bytes, std::uint64_t plane_bytes) : memory(bytes(tile_bytes, plane_bytes)) {
  before = memory.data();
  after = before + round_up(tile_bytes, 4096) + tile_gap;
  plane = after + round_up(tile_bytes, 4096) + tile_gap;
}

std::uint64_t Scratch::bytes(std::uint64_t tile_bytes, std::uint64_t plane_bytes) noexcept {
  return 2 * (round_up(tile_bytes, 4096) + tile_gap) + round_up(plane_bytes, 4096);
}

template <class Real>
Pipeline<Real>::Pipeline(const gas::Team& team, Schedule schedule, const std::vector<gas::Segment>& regions,
                         gas::Carrier carrier, Effort effort, int threads)
    : schedule_(std::move(schedule)),
      next_items_(schedule_.passes.size()),
      open_grains_(schedule_.passes.size()),
      unread_tiles_(std::make_unique<std::atomic<std::int64_t>>()),
      workers_(static_cast<std::size_t>(threads)) {
  for (ExchangePlan& plan : schedule_.exchanges) {
    const gas::Segment& region = regions[plan.region];
    exchanges_.emplace_back(team, region, plan.outgoing, plan.incoming, carrier);
    regions_.push_back(region.local().data());
    // MPI's own ways are left to what MPI does by itself.
    const auto is_far = [&](const auto& message) { return !team.is_local(message.peer); };
    needs_looks_.push_back((carrier == gas::Carrier::fastest || carrier == gas::Carrier::packets) &&
                           (std::ranges::any_of(plan.outgoing, is_far) || std::ranges::any_of(plan.incoming, is_far)));
  }
  team.together([&] {
    const auto make = [&](const Stage& stage, const std::optional<RowShape>& shape) {
      const bool is_needed = shape && !stage.tiles.empty() && stage.outer_range.extent > 0;
      return is_needed ? plan_with_fftw<Real>(*shape, effort) : nullptr;
    };
    for (const Pass& pass : schedule_.passes) {
      auto& transforms = transforms_.emplace_back();
      for (const Stage& stage : pass.stages) {
        transforms.push_back({.there = make(stage, stage.shape), .back = make(stage, stage.back)});
      }
      open_tiles_.emplace_back(pass.stages.back().sink.grains.size());
    }
  });
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
    open_grains_[i].store(std::ssize(sink.grains), std::memory_order_relaxed);
    for (std::size_t j = 0; j < sink.grains.size(); ++j) {
      open_tiles_[i][j].store(sink.grains[j].tiles, std::memory_order_relaxed);
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
bool Pipeline<Real>::advance(const gas::Team& team, Crew& crew, std::vector<Scratch>& scratch, bool may_wait) {
  std::atomic<bool> is_done{true};
  crew.run([&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    // Each by itself, as the other threads of the rank may wait for what this one was to do.
    if (!team.run_or_revoke([&] { return work(team, workers_[i], scratch[i], may_wait); })) {
      is_done.store(false, std::memory_order_relaxed);
    }
  });
  for (gas::Exchange& exchange : exchanges_) {
    if (may_wait) {
      exchange.finish();
    } else if (is_done.load(std::memory_order_relaxed) && !exchange.has_finished()) {
      is_done.store(false, std::memory_order_relaxed);
    }
  }
  return is_done.load(std::memory_order_relaxed);
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
    const Range outer = pass.stages.front().outer_range;
    const bool is_joined = pass.stages.size() > 1;
    const auto tiles = static_cast<std::int64_t>(pass.stages.front().tiles.size());
    const std::int64_t items = tiles == 0 ? 0 : outer.extent * (is_joined ? 1 : tiles);
    for (;;) {
      if (!worker.has_item) {
        const std::int64_t item = next_items_[worker.pass].fetch_add(1, std::memory_order_relaxed);
        if (item >= items) {
          break;
        }
        worker.has_item = true;
        worker.stage = 0;
        worker.outer = outer.lower + (is_joined ? item : item / tiles);
        worker.tile = is_joined ? 0 : static_cast<std::size_t>(item % tiles);
        worker.end_tile = is_joined ? static_cast<std::size_t>(tiles) : worker.tile + 1;
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

/// Whether what the worker's tile is gathered from has arrived, and the places that it is scattered to may be written.
template <class Real>
bool Pipeline<Real>::is_ready(Worker& worker) {
  const Stage& stage = schedule_.passes[worker.pass].stages[worker.stage];
  const End& source = stage.source;
  const End& sink = stage.sink;
  if (source.place == Place::exchange && worker.has_all[source.exchange] == 0) {
    gas::Exchange& exchange = exchanges_[source.exchange];
    const auto& needs = source.sections[source.section_of(worker.outer)].needs[worker.tile];
    for (const std::size_t message : needs) {
      if (!exchange.has_arrived(message)) {
        return false;
      }
    }
    worker.has_all[source.exchange] = needs.size() == schedule_.exchanges[source.exchange].incoming.size() ? 1 : 0;
  }
  if (sink.place == Place::exchange) {
    for (const Move& move : sink.sections[sink.section_of(worker.outer)].moves[worker.tile]) {
      if (!exchanges_[sink.exchange].is_open(move.message)) {
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
  if (stage.source.place == Place::exchange) {
    for (const std::size_t message : stage.source.sections[stage.source.section_of(worker.outer)].needs[worker.tile]) {
      exchanges_[stage.source.exchange].wait(message);
    }
  }
  if (stage.sink.place == Place::exchange) {
    for (const Move& move : stage.sink.sections[stage.sink.section_of(worker.outer)].moves[worker.tile]) {
      exchanges_[stage.sink.exchange].destination(move.message);
    }
  }
  if (may_overwrite_input(worker)) {
    wait_until([&] {
      team.check_revoked();  // by another thread of this rank, which was to read some
      return unread_tiles_->load(std::memory_order_acquire) == 0;
    });
  }
  worker.times[stage.number].wait_s += seconds() - begin_s;
}

/// Messages go on while the rank computes. A look that finds nothing takes 1 to 2 us.
template <class Real>
void Pipeline<Real>::look_after_network(Worker& worker, double now_s) {
  constexpr double pause_s = 2e-4;
  if (now_s - worker.looked_s < pause_s) {
    return;
  }
  worker.looked_s = now_s;
  const Pass& pass = schedule_.passes[worker.pass];
  for (const End* end : {&pass.stages.back().sink, &pass.stages.front().source}) {
    if (end->place == Place::exchange && needs_looks_[end->exchange] != 0) {
      exchanges_[end->exchange].progress();
    }
  }
}

// Bound by memory: a tile is read once from where it comes from, and written once to where it goes; between the two it
// stays in cache. No allocation, lock or system call, but for what messages take.
template <class Real>
void Pipeline<Real>::run_tile(Worker& worker, Scratch& scratch) {
  const Stage& stage = schedule_.passes[worker.pass].stages[worker.stage];
  const Range& range = stage.tiles[worker.tile];
  const End& source = stage.source;
  const End& sink = stage.sink;
  const double begin_s = seconds();

  std::byte* before = scratch.before;
  if (source.place == Place::plane) {
    before = scratch.plane + (range.lower - stage.tiles.front().lower) * stage.in_pitch_bytes;
  } else {
    const Section& section = source.sections[source.section_of(worker.outer)];
    const std::byte* base = source.place == Place::exchange ? regions_[source.exchange] : run_.in;
    const bool reads_rows = stage.shape && stage.shape->is_in_memory;
    for (const Move& move : section.moves[worker.tile]) {
      const std::byte* const far = base + move.far_offset + (worker.outer - section.first) * move.far_stride;
      if (reads_rows && reinterpret_cast<std::uintptr_t>(far) % row_alignment == 0) {
        before = const_cast<std::byte*>(far);  // a transform of rows in memory keeps them
      } else {
        move.mover(far, before + move.tile_offset);
      }
    }
  }
  const double gathered_s = seconds();

  std::byte* after = before;
  if (stage.shape) {
    const Transforms& transforms = transforms_[worker.pass][worker.stage];
    after = scratch.after;
    transforms.there->run(before, after, range.extent);
    if (stage.back) {
      const auto length = static_cast<std::size_t>(stage.shape->length);
      for (std::int64_t i = 0; i < range.extent; ++i) {
        auto* row = reinterpret_cast<std::complex<Real>*>(after + i * stage.out_pitch_bytes);
        const bool is_x_outer = stage.outer == 0;
        const std::int64_t across = range.lower + i;
        (*run_.on_spectrum)(is_x_outer ? worker.outer : across, is_x_outer ? across : worker.outer,
                            std::span(row, length));
      }
      transforms.back->run(after, before, range.extent);
      after = before;
    }
  }
  if (source.place == Place::user) {
    unread_tiles_->fetch_sub(1, std::memory_order_release);
  }
  if (sink.place == Place::user && run_.factor != Real{1}) {
    scale(after, range.extent * stage.out_pitch_bytes, run_.factor);
  }
  const double transformed_s = seconds();

  const Section& section = sink.sections[sink.section_of(worker.outer)];
  std::byte* base = sink.place == Place::user ? run_.out : scratch.plane;
  for (const Move& move : section.moves[worker.tile]) {
    if (sink.place == Place::exchange) {
      base = exchanges_[sink.exchange].destination(move.message);
    }
    move.mover(after + move.tile_offset, base + move.far_offset + (worker.outer - section.first) * move.far_stride);
  }
  if (sink.place != Place::plane) {
    mover::finish_streaming();
    complete_tile(worker.pass, sink, section.grain);
  }
  StageTime& time = worker.times[stage.number];
  time.gather_s += gathered_s - begin_s;
  time.transform_s += transformed_s - gathered_s;
  const double scattered_s = seconds();
  time.scatter_s += scattered_s - transformed_s;
  look_after_network(worker, scattered_s);
}

/// Counts a tile of a sink, and sends what it makes complete.
template <class Real>
void Pipeline<Real>::complete_tile(std::size_t pass, const End& sink, std::size_t grain) {
  const auto is_last = [](std::atomic<std::int64_t>& open) {
    return open.fetch_sub(1, std::memory_order_acq_rel) == 1;
  };
  if (!is_last(open_tiles_[pass][grain])) {
    return;
  }
  for (const std::size_t message : sink.grains[grain].messages) {
    exchanges_[sink.exchange].send(message);
  }
  if (is_last(open_grains_[pass])) {
    for (const std::size_t message : sink.late_messages) {
      exchanges_[sink.exchange].send(message);
    }
  }
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace penstock::fft
