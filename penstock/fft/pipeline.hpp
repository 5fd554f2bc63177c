// Runs a schedule: the one loop that gathers tiles, transforms them in cache, scatters them and signals the peers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/base/trace.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/fft/problem.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/fft/scratch.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// A call of the user's function for a row of `elements` elements, at indices of the two other directions, the lower
/// direction first.
using RowCall = std::function<void(std::int64_t first, std::int64_t second, std::byte* row, std::size_t elements)>;

/// What one run is about.
template <class Real>
struct Run {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::int64_t field = 0;           ///< which of the batch, counted from `out`
  Real factor = 1;                  ///< on the result
  const RowCall* on_row = nullptr;  ///< of a schedule with a stage that turns back
};

/// A schedule, ready to run. `team` (which may be moved), `regions` and `result` must outlive it.
template <class Real>
class Pipeline {
 public:
  /// Collective. `regions` are the segments that the schedule's exchanges go through, `result` that of the arrays that
  /// an exchange into arrays ends in (else nullptr); the problem is what it was made from.
  Pipeline(const gas::Team& team, Schedule schedule, const std::vector<gas::Segment>& regions,
           const gas::Segment* result, const Problem& problem);

  /// What a thread's scratch must hold: of transforms as they are planned, which a schedule has by estimate.
  ScratchNeed scratch_need() const noexcept;

  /// Begins a run; collective. The one before has ended. Whoever begins calls `advance` until it is true, then `end`.
  /// Where either throws, so it does on the other ranks, and the pipeline is of no more use: its team is revoked.
  void begin(const Run<Real>& run);

  /// Runs tiles on the threads of `thread pool`, with a scratch for each. With `may_wait` it waits for peers and
  /// returns true when all is done; else it returns where what comes next has not arrived, and whether all is done.
  bool advance(const gas::Team& team, ThreadPool& pool, std::vector<Scratch>& scratch, bool may_wait);

  /// Ends a run that is done. Returns the time by kind, averaged over the threads.
  Breakdown end();

 private:
  /// One thread's part of a run, and where it stands: at a tile of an item of a pass. An item is a tile, or, where two
  /// stages are joined, all tiles of both at one outer index.
  struct Worker {
    std::size_t pass = 0;
    bool has_item = false;
    std::int64_t item = 0;
    std::size_t stage = 0;
    std::int64_t outer = 0;
    std::size_t tile = 0;
    std::size_t end_tile = 0;                   // of the item, in this stage
    std::array<StageTime, max_stages> times{};  // in the order in which the stages run
    std::vector<char> has_all;                  // by exchange: every incoming message of this round was seen
    double polled_s = 0;                        // when it polled the network last
  };

  /// A tile of a stage.
  struct Spot {
    std::int64_t outer = 0;
    std::size_t tile = 0;
  };

  bool work(const gas::Team& team, Worker& worker, Scratch& scratch, bool may_wait);
  bool is_ready(Worker& worker);
  bool may_overwrite_input(const Worker& worker) const;
  void wait_for_peers(const gas::Team& team, Worker& worker);
  bool has_result(bool may_wait);
  std::byte* far_of(const End& end, const Far& far, std::int64_t outers, const Scratch& scratch);
  transform::Pencils<std::byte> pencils_at(const End& end, const Spot& spot, const Scratch& scratch,
                                           std::int64_t* offsets);
  static std::int64_t items_of(const Pass& pass);
  Spot spot_of(const Pass& pass, std::int64_t item) const;
  std::optional<Spot> next_spot(const Worker& worker) const;
  void run_tile(Worker& worker, Scratch& scratch);
  std::byte* transform_tile(const Stage& stage, const Worker& worker, Scratch& scratch);
  void complete_tile(std::size_t pass, const End& sink, std::size_t group);
  void poll_network(Worker& worker, double now_s);
  static trace::Place place_of(const Worker& worker, const Stage& stage) noexcept;
  void record_tile(trace::Track& track, const Worker& worker, const Stage& stage, const std::array<double, 4>& times_s);

  Schedule schedule_;
  std::vector<gas::Exchange> exchanges_;
  std::vector<std::byte*> regions_;  // this rank's memory of each exchange
  struct Transforms {
    std::unique_ptr<LocalTransform> there, back;
  };
  std::vector<std::vector<Transforms>> transforms_;                 // by pass and stage
  std::vector<std::atomic<std::int64_t>> next_items_;               // by pass
  std::vector<std::vector<std::atomic<std::int64_t>>> open_tiles_;  // by pass and group of its sink
  std::vector<std::atomic<std::int64_t>> open_groups_;              // by pass
  std::unique_ptr<std::atomic<std::int64_t>> unread_tiles_;         // of the user's input
  bool polls_network_;                                              // between tiles
  std::vector<Worker> workers_;                                     // by thread
  std::vector<const char*> names_;                                  // by stage: of its events in a timeline
  Run<Real> run_;
  double begin_s_ = 0;
};

extern template class Pipeline<float>;
extern template class Pipeline<double>;

}  // namespace penstock::fft
