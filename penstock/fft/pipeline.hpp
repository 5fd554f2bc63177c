// Runs a schedule: the one loop that gathers tiles, transforms them in cache, scatters them and signals the peers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/fft/local_transform.hpp"
#include "penstock/fft/schedule.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::fft {

/// A thread's memory in cache: a tile before its transform, a tile after it, a plane between two stages.
struct Scratch {
  Memory memory;
  std::byte* before = nullptr;
  std::byte* after = nullptr;
  std::byte* plane = nullptr;

  Scratch(std::uint64_t tile_bytes, std::uint64_t plane_bytes);
  /// The bytes that such a scratch takes.
  static std::uint64_t bytes(std::uint64_t tile_bytes, std::uint64_t plane_bytes) noexcept;
};

/// One direction of a transform, ready to run. `team` and `regions` must outlive it.
template <class Real>
class Pipeline {
 public:
  /// Collective. `regions` are the segments that the schedule's exchanges go through.
  Pipeline(const gas::Team& team, Schedule schedule, const std::vector<gas::Segment>& regions, Effort effort);

  /// Transforms a field from `in` to `out` and multiplies the result by `factor`; collective. `scratch` holds one for
  /// each thread of `crew`. Returns the time by kind, averaged over the threads.
  Breakdown run(Crew& crew, std::vector<Scratch>& scratch, const std::byte* in, std::byte* out, Real factor);

 private:
  struct Progress;
  struct Worker;
  void run_tile(Worker& worker, std::size_t pass, std::size_t stage, std::int64_t outer, std::size_t tile);
  void work(Worker& worker);

  Schedule schedule_;
  std::vector<gas::Exchange> exchanges_;
  std::vector<const std::byte*> regions_;                                 // this rank's memory of each exchange
  std::vector<std::vector<std::unique_ptr<LocalTransform>>> transforms_;  // by pass and stage
  std::vector<std::atomic<std::int64_t>> next_items_;                     // by pass
  std::vector<std::vector<std::atomic<std::int64_t>>> open_tiles_;        // by pass and grain of its sink
  std::unique_ptr<std::atomic<std::int64_t>> unread_tiles_;               // of the user's input
};

extern template class Pipeline<float>;
extern template class Pipeline<double>;

}  // namespace penstock::fft
