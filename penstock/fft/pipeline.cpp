#include "penstock/fft/pipeline.hpp"

#include <algorithm>
#include <complex>
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

/// One thread's part of one run.
template <class Real>
struct Pipeline<Real>::Worker {
  Scratch& scratch;
  const std::byte* in;
  std::byte* out;
  Real factor;
  std::array<StageTime, most_stages> times;  // in the order in which the stages run
  std::vector<bool> has_all;                 // by exchange: every incoming message of this round was seen
};

template <class Real>
Pipeline<Real>::Pipeline(const gas::Team& team, Schedule schedule, const std::vector<gas::Segment>& regions,
                         Effort effort)
    : schedule_(std::move(schedule)),
      next_items_(schedule_.passes.size()),
      unread_tiles_(std::make_unique<std::atomic<std::int64_t>>()) {
  for (ExchangePlan& plan : schedule_.exchanges) {
    const gas::Segment& region = regions[plan.region];
    exchanges_.emplace_back(team, region, plan.outgoing, plan.incoming);
    regions_.push_back(region.local().data());
  }
  team.together([&] {
    for (const Pass& pass : schedule_.passes) {
      auto& transforms = transforms_.emplace_back();
      for (const Stage& stage : pass.stages) {
        const bool is_needed = stage.shape && !stage.tiles.empty() && stage.outer_range.extent > 0;
        transforms.push_back(is_needed ? plan_with_fftw<Real>(*stage.shape, effort) : nullptr);
      }
      open_tiles_.emplace_back(pass.stages.back().sink.grains.size());
    }
  });
}

template <class Real>
Breakdown Pipeline<Real>::run(Crew& crew, std::vector<Scratch>& scratch, const std::byte* in, std::byte* out,
                              Real factor) {
  const double begin_s = seconds();
  for (gas::Exchange& exchange : exchanges_) {
    exchange.open();
  }
  for (std::size_t i = 0; i < schedule_.passes.size(); ++i) {
    next_items_[i].store(0, std::memory_order_relaxed);
    const End& sink = schedule_.passes[i].stages.back().sink;
    for (std::size_t j = 0; j < sink.grains.size(); ++j) {
      open_tiles_[i][j].store(sink.grains[j].tiles, std::memory_order_relaxed);
    }
  }
  const Stage& first = schedule_.passes.front().stages.front();
  unread_tiles_->store(first.outer_range.extent * static_cast<std::int64_t>(first.tiles.size()),
                       std::memory_order_relaxed);
  std::vector<Breakdown> times(static_cast<std::size_t>(crew.size()));
  crew.run([&](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    Worker worker{.scratch = scratch[index],
                  .in = in,
                  .out = out,
                  .factor = factor,
                  .times = {},
                  .has_all = std::vector<bool>(exchanges_.size())};
    work(worker);
    times[index].stages = worker.times;
  });
  for (gas::Exchange& exchange : exchanges_) {
    exchange.finish();
  }
  Breakdown mean;
  for (const Breakdown& time : times) {
    mean.add(time, 1.0 / crew.size());
  }
  mean.total_s = seconds() - begin_s;
  return mean;
}

// Threads take tiles in order, so that what they wait for is always under way: in the passes before on this rank, or on
// a peer.
template <class Real>
void Pipeline<Real>::work(Worker& worker) {
  for (std::size_t p = 0; p < schedule_.passes.size(); ++p) {
    const Pass& pass = schedule_.passes[p];
    const Range outer = pass.stages.front().outer_range;
    const bool is_joined = pass.stages.size() > 1;
    const auto tiles = static_cast<std::int64_t>(pass.stages.front().tiles.size());
    const std::int64_t tiles_per_item = is_joined ? tiles : 1;
    const std::int64_t items = outer.extent * tiles / std::max<std::int64_t>(tiles_per_item, 1);
    for (std::int64_t item = 0; (item = next_items_[p].fetch_add(1, std::memory_order_relaxed)) < items;) {
      if (is_joined) {
        for (std::size_t s = 0; s < pass.stages.size(); ++s) {
          for (std::size_t tile = 0; tile < pass.stages[s].tiles.size(); ++tile) {
            run_tile(worker, p, s, outer.lower + item, tile);
          }
        }
      } else {
        run_tile(worker, p, 0, outer.lower + item / tiles, static_cast<std::size_t>(item % tiles));
      }
    }
  }
}

// Bound by memory: a tile is read once from where it comes from, and written once to where it goes; between the two it
// stays in the second-level cache. No allocation, lock or system call but what waiting for a peer takes.
template <class Real>
void Pipeline<Real>::run_tile(Worker& worker, std::size_t pass, std::size_t stage_index, std::int64_t outer,
                              std::size_t tile) {
  const Stage& stage = schedule_.passes[pass].stages[stage_index];
  const Range& range = stage.tiles[tile];
  const End& source = stage.source;
  const End& sink = stage.sink;
  const double begin_s = seconds();
  double ready_s = begin_s;

  std::byte* before = worker.scratch.before;
  if (source.place == Place::plane) {
    before = worker.scratch.plane + (range.lower - stage.tiles.front().lower) * stage.in_pitch_bytes;
  } else {
    const Section& section = source.sections[source.section_of(outer)];
    const std::byte* far = worker.in;
    if (source.place == Place::exchange) {
      if (!worker.has_all[source.exchange]) {
        gas::Exchange& exchange = exchanges_[source.exchange];
        for (const std::size_t message : section.needs[tile]) {
          exchange.wait(message);
        }
        worker.has_all[source.exchange] =
            section.needs[tile].size() == schedule_.exchanges[source.exchange].incoming.size();
        ready_s = seconds();
      }
      far = regions_[source.exchange];
    }
    for (const Move& move : section.moves[tile]) {
      move.mover(far + move.far_offset + (outer - section.first) * move.far_stride, before + move.tile_offset);
    }
    if (source.place == Place::user) {
      unread_tiles_->fetch_sub(1, std::memory_order_release);
    }
  }
  const double gathered_s = seconds();

  std::byte* after = before;
  if (stage.shape) {
    after = worker.scratch.after;
    transforms_[pass][stage_index]->run(before, after, range.extent);
  }
  if (sink.place == Place::user && worker.factor != Real{1}) {
    scale(after, range.extent * stage.out_pitch_bytes, worker.factor);
  }
  const double transformed_s = seconds();

  double waited_s = 0;
  if (sink.place == Place::user && pass > 0) {
    // In place, what is written may lie where other threads still read. One pass alone is planned to work in place.
    wait_until([&] { return unread_tiles_->load(std::memory_order_acquire) == 0; });
  }
  if (sink.place != Place::plane || !sink.sections.empty()) {
    const Section& section = sink.sections[sink.section_of(outer)];
    std::byte* base = sink.place == Place::user ? worker.out : worker.scratch.plane;
    for (const Move& move : section.moves[tile]) {
      if (sink.place == Place::exchange) {
        const double asked_s = seconds();
        base = exchanges_[sink.exchange].destination(move.message);
        waited_s += seconds() - asked_s;
      }
      move.mover(after + move.tile_offset, base + move.far_offset + (outer - section.first) * move.far_stride);
    }
    if (sink.place != Place::plane) {
      mover::finish_streaming();
      if (open_tiles_[pass][section.grain].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        for (const std::size_t message : sink.grains[section.grain].messages) {
          exchanges_[sink.exchange].send(message);
        }
      }
    }
  }
  const double end_s = seconds();
  StageTime& time = worker.times[stage.number];
  time.wait_s += (ready_s - begin_s) + waited_s;
  time.gather_s += gathered_s - ready_s;
  time.transform_s += transformed_s - gathered_s;
  time.scatter_s += end_s - transformed_s - waited_s;
}

template class Pipeline<float>;
template class Pipeline<double>;

}  // namespace penstock::fft
