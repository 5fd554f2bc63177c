// Fields moved as the two passes of a transform move them, without transforms: through tiles in cache, transposed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"
#include "penstock/probe/calibration.hpp"
#include "penstock/probe/pinned_pool.hpp"
#include "penstock/shape/shape.hpp"

namespace penstock::probe {
namespace {

// As a plan has them: strips of a chunk, tiles of as many rows.
constexpr std::int64_t element_bytes = 16;
constexpr std::int64_t strip_bytes = shape::tile_chunk_bytes;
constexpr std::int64_t strip = strip_bytes / element_bytes;

/// A field of n x n x n elements; n is a multiple of a strip. The first pass takes rows of x to strips over z, the
/// second these strips, transposed, to rows of z.
class Cube {
 public:
  Cube(std::int64_t n, mover::Hint hint) : n_(n), row_(n * element_bytes), pitch_(shape::tile_pitch(row_)) {
    using layout::Layout;
    using layout::Level;
    const std::int64_t strips = n / strip;
    const Layout tile = Layout::nest(0, std::array{Level{strip, pitch_}}, row_);
    const Layout tile_in_strips =
        Layout::nest(0, std::array{Level{strip, pitch_}, Level{strips, strip_bytes}}, strip_bytes);
    const Layout to_strips = Layout::nest(
        0, std::array{Level{strip, strips * n * strip_bytes}, Level{strips, n * strip_bytes}}, strip_bytes);
    const Layout columns =
        Layout::nest(0, std::array{Level{strip, element_bytes}, Level{n, strip_bytes}}, element_bytes);
    const Layout rows = Layout::contiguous(strip * row_);
    gather_rows_ = compile(rows, tile, mover::Hint::from_memory);
    scatter_strips_ = compile(tile_in_strips, to_strips, hint);
    gather_columns_ = compile(columns, tile, mover::Hint::from_memory);
    scatter_rows_ = compile(tile, rows, hint);
  }

  std::int64_t bytes() const { return n_ * n_ * row_; }
  std::int64_t tile_bytes() const { return strip * pitch_; }

  /// A thread's share of the first pass, planes in a row. The seconds that gathering and
  /// scattering took: a plan keeps that account as well, and in small transforms its readings of the clock show.
  double take_rows(const std::byte* field, std::byte* tile, std::byte* exchange, int thread,
                   int threads) const noexcept {
    const std::int64_t tiles = n_ / strip;
    double moved_s = 0;
    for (std::int64_t z = n_ * thread / threads; z < n_ * (thread + 1) / threads; ++z) {
      for (std::int64_t i = 0; i < tiles; ++i) {
        moved_s += move_tile(gather_rows_, field + (z * tiles + i) * strip * row_, tile, scatter_strips_,
                             exchange + (i * strip * tiles * n_ + z) * strip_bytes);
      }
    }
    return moved_s;
  }
  /// Of the second pass.
  double take_strips(std::byte* field, std::byte* tile, const std::byte* exchange, int thread,
                     int threads) const noexcept {
    double moved_s = 0;
    const std::int64_t strips = n_ * n_ / strip;
    for (std::int64_t i = strips * thread / threads; i < strips * (thread + 1) / threads; ++i) {
      moved_s +=
          move_tile(gather_columns_, exchange + i * n_ * strip_bytes, tile, scatter_rows_, field + i * strip * row_);
    }
    return moved_s;
  }

 private:
  static double move_tile(const mover::Mover& gather, const std::byte* from, std::byte* tile,
                          const mover::Mover& scatter, std::byte* to) noexcept {
    const double begin_s = seconds();
    gather(from, tile);
    const double gathered_s = seconds();
    const double transformed_s = seconds();
    scatter(tile, to);
    mover::finish_streaming();
    return (gathered_s - begin_s) + (seconds() - transformed_s);
  }

  static mover::Mover compile(const layout::Layout& from, const layout::Layout& to, mover::Hint hint) {
    return mover::Mover::compile(from, to, hint, mover::Code::at_once);
  }

  std::int64_t n_;
  std::int64_t row_;
  std::int64_t pitch_;
  mover::Mover gather_rows_;
  mover::Mover scatter_strips_;
  mover::Mover gather_columns_;
  mover::Mover scatter_rows_;
};

constexpr std::array<std::int64_t, 12> copied_lengths{32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384};

}  // namespace

std::vector<TileRates> measure_tile_copies(const machine::Node& node, const CalibrationOptions& options) {
  const std::int64_t most = std::max<std::int64_t>(8 * node.cache_bytes, std::int64_t{64} << 20);
  const Memory memory(static_cast<std::size_t>(most));
  std::vector<TileRates> figures;
  for (const int threads : thread_counts(options.threads)) {
    PinnedPool pool(threads);
    for (const std::int64_t n : copied_lengths) {
      const std::int64_t bytes = n * n * n * element_bytes;
      if (2 * bytes > most) {
        break;
      }
      // As a plan decides: stores bypass the cache where the field would not stay in half of it.
      const Cube cube(n, 2 * bytes > node.cache_bytes ? mover::Hint::streaming : mover::Hint::reuse);
      std::vector<Memory> tiles;
      for (int thread = 0; thread < threads; ++thread) {
        tiles.emplace_back(static_cast<std::size_t>(cube.tile_bytes()));
      }
      std::byte* const field = memory.data();
      std::byte* const exchange = field + bytes;
      std::vector<double> moved_s(static_cast<std::size_t>(threads));
      auto times_s = sample(options, [&](std::int64_t times) {
        const double begin_s = seconds();
        for (std::int64_t i = 0; i < times; ++i) {
          pool.run([&](int thread) {
            const auto index = static_cast<std::size_t>(thread);
            moved_s[index] += cube.take_rows(field, tiles[index].data(), exchange, thread, threads);
          });
          pool.run([&](int thread) {
            const auto index = static_cast<std::size_t>(thread);
            moved_s[index] += cube.take_strips(field, tiles[index].data(), exchange, thread, threads);
          });
        }
        return seconds() - begin_s;
      });
      figures.push_back({.threads = threads,
                         .working_set_bytes = 2 * bytes,
                         .bytes_per_s = rate_of(4 * static_cast<double>(bytes), std::move(times_s))});
    }
  }
  return figures;
}

}  // namespace penstock::probe
