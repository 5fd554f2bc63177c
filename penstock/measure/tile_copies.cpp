// Arrays transposed plane by plane through tiles in cache: how the passes of a transform move data, without transforms.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/measure/calibration.hpp"
#include "penstock/measure/sampling.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::measure {
namespace {

// A tile as a plan has it: chunks of 256 bytes, gathered into rows that begin a line more than their length apart.
constexpr std::int64_t element_bytes = 16;
constexpr std::int64_t chunk = 256 / element_bytes;

/// A square plane of `n` x `n` elements: read in columns, a chunk of them at a time, written in rows.
class Plane {
 public:
  Plane(std::int64_t n, mover::Hint hint) : n_(n), pitch_(n * element_bytes + 64) {
    using layout::Layout;
    using layout::Level;
    const Layout columns =
        Layout::nest(0, std::array{Level{chunk, element_bytes}, Level{n, n * element_bytes}}, element_bytes);
    const Layout tile = Layout::nest(0, std::array{Level{chunk, pitch_}}, n * element_bytes);
    const Layout rows = Layout::contiguous(chunk * n * element_bytes);
    gather_ = mover::Mover::compile(columns, tile, mover::Hint::from_memory, mover::Code::at_once);
    scatter_ = mover::Mover::compile(tile, rows, hint, mover::Code::at_once);
  }

  std::int64_t bytes() const { return n_ * n_ * element_bytes; }
  std::int64_t tile_bytes() const { return chunk * pitch_; }

  void transpose(const std::byte* from, std::byte* tile, std::byte* to) const noexcept {
    for (std::int64_t column = 0; column < n_; column += chunk) {
      gather_(from + column * element_bytes, tile);
      scatter_(tile, to + column * n_ * element_bytes);
      mover::finish_streaming();
    }
  }

 private:
  std::int64_t n_;
  std::int64_t pitch_;
  mover::Mover gather_;
  mover::Mover scatter_;
};

}  // namespace

std::vector<TileFigures> measure_tile_copies(const machine::Node& node, const CalibrationOptions& options) {
  std::vector<TileFigures> figures;
  const std::int64_t least = node.cache_l2_bytes / 8;
  const std::int64_t most = 8 * node.cache_bytes;
  std::vector<std::int64_t> sets;
  for (std::int64_t bytes = least; bytes < most; bytes *= 2) {
    sets.push_back(bytes);
  }
  sets.push_back(most);
  const Memory memory(static_cast<std::size_t>(most));
  for (const int threads : thread_counts(options.threads)) {
    PinnedCrew crew(threads);
    for (const std::int64_t set : sets) {
      // Each thread has planes of its own, an array is half of the set; planes of 256 x 256, smaller for small sets.
      std::int64_t n = 256;
      while (n > chunk && n * n * element_bytes * threads > set / 2) {
        n /= 2;
      }
      // As a plan decides, stores bypass the cache where the destination would not stay in it.
      const Plane plane(n, set > node.cache_bytes ? mover::Hint::streaming : mover::Hint::reuse);
      const std::int64_t planes = std::max<std::int64_t>(set / 2 / threads / plane.bytes(), 1);
      const std::int64_t part = planes * plane.bytes();
      const bool is_known = !figures.empty() && figures.back().threads == threads &&
                            figures.back().working_set_bytes >= 2 * part * threads;
      if (is_known || 2 * part * threads > most) {
        continue;
      }
      std::byte* const destination = memory.data() + part * threads;
      std::vector<Memory> tiles;
      for (int thread = 0; thread < threads; ++thread) {
        tiles.emplace_back(static_cast<std::size_t>(plane.tile_bytes()));
      }
      auto times_s = sample(options, crew, [&](int thread, std::int64_t times) {
        for (std::int64_t i = 0; i < times; ++i) {
          for (std::int64_t at = thread * part; at < (thread + 1) * part; at += plane.bytes()) {
            plane.transpose(memory.data() + at, tiles[static_cast<std::size_t>(thread)].data(), destination + at);
          }
        }
      });
      figures.push_back({.threads = threads,
                         .working_set_bytes = 2 * part * threads,
                         .bytes_per_s = rate_of(2 * static_cast<double>(part * threads), std::move(times_s))});
    }
  }
  return figures;
}

}  // namespace penstock::measure
