// At what rate do movers move the shapes of a distributed FFT, beside the loop that one would write by hand and beside
// memcpy of as many bytes? Each round runs all three once, in turn; the table has the least and the median of the
// rounds.
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/mover/mover.hpp"

namespace {

using penstock::layout::Layout;
using penstock::layout::Level;
using penstock::mover::Hint;
using penstock::mover::Mover;

/// One question: three ways to move `bytes` bytes, the mover's verified against the loop's before any timing.
struct Case {
  std::string name;
  std::int64_t bytes;
  int repetitions;  // in one timed round, for moves too short for the clock
  std::function<void()> by_mover;
  std::function<void()> by_loop;
  std::function<void()> by_memcpy;
};

double time_of(const std::function<void()>& move, int repetitions) {
  const double start_s = penstock::seconds();
  for (int i = 0; i < repetitions; ++i) {
    move();
  }
  penstock::mover::finish_streaming();
  return (penstock::seconds() - start_s) / repetitions;
}

void report(const Case& c, int rounds) {
  std::vector<double> times_s[3];
  for (int i = 0; i < rounds; ++i) {
    times_s[0].push_back(time_of(c.by_mover, c.repetitions));
    times_s[1].push_back(time_of(c.by_loop, c.repetitions));
    times_s[2].push_back(time_of(c.by_memcpy, c.repetitions));
  }
  std::string line = fmt::format("| {:<52} ", c.name);
  for (std::vector<double>& times : times_s) {
    std::ranges::sort(times);
    const double median_s = times[times.size() / 2];
    line += fmt::format("| {:>7} {:>7} {:5.1f} ", penstock::format_seconds(times[0]),
                        penstock::format_seconds(median_s), static_cast<double>(c.bytes) / median_s * 1e-9);
  }
  const auto ratio = [&](int other) {
    return times_s[other][times_s[other].size() / 2] / times_s[0][times_s[0].size() / 2];
  };
  fmt::print("{}| {:5.2f} | {:5.2f} |\n", line, ratio(1), ratio(2));
}

/// Memory that is larger than the caches, and a tile that is not.
struct Buffers {
  static constexpr std::int64_t field_bytes = std::int64_t{256} << 20;
  penstock::Memory field{field_bytes};
  penstock::Memory other{field_bytes};
  penstock::Memory tile{std::size_t{4} << 20};
  Buffers() {
    std::memset(field.data(), 1, field.size());
    std::memset(other.data(), 2, other.size());
  }
};

/// A pass over the whole field, tile by tile: `rows` pencils of `n` elements, whose neighbours in the field lie one
/// after the other, while successive elements of a pencil lie `stride` bytes apart.
struct Pass {
  std::int64_t element_bytes;
  std::int64_t rows;
  std::int64_t n;
  std::int64_t stride;

  std::int64_t chunk() const { return rows * element_bytes; }
  std::int64_t pitch() const { return (n + 64 / element_bytes) * element_bytes; }
  Layout in_field() const { return Layout::nest(0, {{{n, stride}, {rows, element_bytes}}}, element_bytes); }
  Layout in_tile() const { return Layout::nest(0, {{{n, element_bytes}, {rows, pitch()}}}, element_bytes); }
  /// Where each tile of the field begins.
  std::vector<std::int64_t> places() const {
    std::vector<std::int64_t> places;
    for (std::int64_t slab = 0; slab + n * stride <= Buffers::field_bytes; slab += n * stride) {
      for (std::int64_t column = 0; column + chunk() <= stride; column += chunk()) {
        places.push_back(slab + column);
      }
    }
    return places;
  }
};

template <class Element>
void transpose_by_loop(const std::byte* from, std::int64_t from_pitch, std::byte* to, std::int64_t to_pitch,
                       std::int64_t ps, std::int64_t qs) {
  for (std::int64_t p = 0; p < ps; ++p) {
    for (std::int64_t q = 0; q < qs; ++q) {
      *reinterpret_cast<Element*>(to + p * to_pitch + q * static_cast<std::int64_t>(sizeof(Element))) =
          *reinterpret_cast<const Element*>(from + q * from_pitch + p * static_cast<std::int64_t>(sizeof(Element)));
    }
  }
}

template <class Element>
Case scatter_case(Buffers& buffers, Pass pass, Hint hint) {
  const auto places = pass.places();
  const Mover mover = Mover::compile(pass.in_tile(), pass.in_field(), hint);
  std::byte* field = buffers.field.data();
  const std::byte* tile = buffers.tile.data();
  const auto bytes = static_cast<std::int64_t>(places.size()) * pass.n * pass.chunk();
  return {fmt::format("scatter {} x {} of {} B, stride {}{}", pass.rows, pass.n, pass.element_bytes,
                      penstock::format_bytes(static_cast<std::uint64_t>(pass.stride)),
                      hint == Hint::streaming ? ", streaming" : ""),
          bytes,
          1,
          [=] {
            for (const std::int64_t place : places) {
              mover(tile, field + place);
            }
          },
          [=] {
            for (const std::int64_t place : places) {
              transpose_by_loop<Element>(tile, pass.pitch(), field + place, pass.stride, pass.n, pass.rows);
            }
          },
          [=] {
            for (std::int64_t done = 0; done < bytes; done += pass.n * pass.chunk()) {
              std::memcpy(field + done, tile, static_cast<std::size_t>(pass.n * pass.chunk()));
            }
          }};
}

template <class Element>
Case gather_case(Buffers& buffers, Pass pass) {
  const auto places = pass.places();
  const Mover mover = Mover::compile(pass.in_field(), pass.in_tile());
  const std::byte* field = buffers.field.data();
  std::byte* tile = buffers.tile.data();
  const auto bytes = static_cast<std::int64_t>(places.size()) * pass.n * pass.chunk();
  return {fmt::format("gather {} x {} of {} B, stride {}", pass.rows, pass.n, pass.element_bytes,
                      penstock::format_bytes(static_cast<std::uint64_t>(pass.stride))),
          bytes,
          1,
          [=] {
            for (const std::int64_t place : places) {
              mover(field + place, tile);
            }
          },
          [=] {
            for (const std::int64_t place : places) {
              transpose_by_loop<Element>(field + place, pass.stride, tile, pass.pitch(), pass.rows, pass.n);
            }
          },
          [=] {
            for (std::int64_t done = 0; done < bytes; done += pass.n * pass.chunk()) {
              std::memcpy(tile, field + done, static_cast<std::size_t>(pass.n * pass.chunk()));
            }
          }};
}

/// Rows between a contiguous field and a padded tile; chunks of `row_bytes` lie `stride` apart in the field.
Case rows_case(Buffers& buffers, std::int64_t rows, std::int64_t row_bytes, std::int64_t stride, bool is_to_field) {
  const std::int64_t pitch = row_bytes + 64;
  const Layout in_field = Layout::nest(0, {{{rows, stride}}}, row_bytes);
  const Layout in_tile = Layout::nest(0, {{{rows, pitch}}}, row_bytes);
  const Mover mover =
      is_to_field ? Mover::compile(in_tile, in_field, Hint::streaming) : Mover::compile(in_field, in_tile);
  std::byte* field = buffers.field.data();
  std::byte* tile = buffers.tile.data();
  std::vector<std::int64_t> places;
  for (std::int64_t slab = 0; slab + rows * stride <= Buffers::field_bytes; slab += rows * stride) {
    for (std::int64_t column = 0; column < stride; column += row_bytes) {
      places.push_back(slab + column);
    }
  }
  const auto move = [=](auto&& copy) {
    for (const std::int64_t place : places) {
      is_to_field ? copy(tile, field + place, pitch, stride) : copy(field + place, tile, stride, pitch);
    }
  };
  return {fmt::format("{} {} rows of {}, stride {}", is_to_field ? "tile to field (streaming)," : "field to tile,",
                      rows, penstock::format_bytes(static_cast<std::uint64_t>(row_bytes)),
                      penstock::format_bytes(static_cast<std::uint64_t>(stride))),
          static_cast<std::int64_t>(places.size()) * rows * row_bytes,
          1,
          [=] { move([&](const std::byte* from, std::byte* to, std::int64_t, std::int64_t) { mover(from, to); }); },
          [=] {
            move([&](const std::byte* from, std::byte* to, std::int64_t from_pitch, std::int64_t to_pitch) {
              for (std::int64_t i = 0; i < rows; ++i) {
                for (std::int64_t k = 0; k < row_bytes; k += 16) {
                  *reinterpret_cast<std::complex<double>*>(to + i * to_pitch + k) =
                      *reinterpret_cast<const std::complex<double>*>(from + i * from_pitch + k);
                }
              }
            });
          },
          [=] {
            move([&](const std::byte* from, std::byte* to, std::int64_t from_pitch, std::int64_t to_pitch) {
              for (std::int64_t i = 0; i < rows; ++i) {
                std::memcpy(to + i * to_pitch, from + i * from_pitch, static_cast<std::size_t>(row_bytes));
              }
            });
          }};
}

/// One matrix, again and again between the same two places.
template <class Element>
Case matrix_case(Buffers& buffers, std::int64_t rows, std::int64_t columns, std::int64_t padding, Hint hint,
                 int repetitions) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(Element));
  const std::int64_t from_pitch = (columns + padding) * element;
  const std::int64_t to_pitch = (rows + padding) * element;
  const Layout source = Layout::nest(0, {{{rows, from_pitch}, {columns, element}}}, element);
  const Layout destination = Layout::nest(0, {{{rows, element}, {columns, to_pitch}}}, element);
  const Mover mover = Mover::compile(source, destination, hint);
  const std::byte* from = buffers.field.data();
  std::byte* to = buffers.other.data();
  return {fmt::format("transpose {} x {} of {} B, padded by {}{}", rows, columns, element, padding,
                      hint == Hint::streaming ? ", streaming" : ""),
          rows * columns * element,
          repetitions,
          [=] { mover(from, to); },
          [=] { transpose_by_loop<Element>(from, from_pitch, to, to_pitch, columns, rows); },
          [=] { std::memcpy(to, from, static_cast<std::size_t>(rows * columns * element)); }};
}

/// Elements that lie `stride` apart, packed: MPI's vector type.
template <class Element>
Case pack_case(Buffers& buffers, std::int64_t count, std::int64_t stride, int repetitions) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(Element));
  const Mover mover =
      Mover::compile(Layout::nest(0, {{{count, stride}}}, element), Layout::contiguous(count * element));
  const std::byte* from = buffers.field.data();
  std::byte* to = buffers.other.data();
  return {fmt::format("pack {} of {} B, stride {} B", count, element, stride),
          count * element,
          repetitions,
          [=] { mover(from, to); },
          [=] { transpose_by_loop<Element>(from, stride, to, 0, 1, count); },
          [=] { std::memcpy(to, from, static_cast<std::size_t>(count * element)); }};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  const std::string filter = argc > 2 ? argv[2] : "";
  Buffers buffers;
  using Double = std::complex<double>;
  using Float = std::complex<float>;
  std::vector<Case> cases{
      scatter_case<Double>(buffers, {16, 16, 256, 4096}, Hint::streaming),
      scatter_case<Double>(buffers, {16, 16, 256, 1 << 20}, Hint::streaming),
      scatter_case<Double>(buffers, {16, 16, 1024, 16384}, Hint::streaming),
      scatter_case<Double>(buffers, {16, 16, 256, 4080}, Hint::streaming),
      scatter_case<Double>(buffers, {16, 16, 256, 4096}, Hint::reuse),
      scatter_case<Double>(buffers, {16, 16, 256, 1 << 20}, Hint::reuse),
      scatter_case<Float>(buffers, {8, 16, 256, 4096}, Hint::streaming),
      scatter_case<Float>(buffers, {8, 32, 256, 4096}, Hint::streaming),
      gather_case<Double>(buffers, {16, 16, 256, 2048}),
      gather_case<Double>(buffers, {16, 16, 256, 4096}),
      gather_case<Double>(buffers, {16, 16, 256, 1 << 20}),
      gather_case<Double>(buffers, {16, 16, 1024, 16384}),
      gather_case<Double>(buffers, {16, 15, 255, 4080}),
      gather_case<Float>(buffers, {8, 32, 256, 4096}),
      rows_case(buffers, 16, 4096, 4096, false),
      rows_case(buffers, 16, 4096, 1 << 20, false),
      rows_case(buffers, 16, 16384, 16384, false),
      rows_case(buffers, 16, 4096, 4096, true),
      rows_case(buffers, 16, 4096, 1 << 20, true),
      rows_case(buffers, 16, 2048, 1 << 20, true),
      rows_case(buffers, 16, 16384, 16384, true),
      matrix_case<Double>(buffers, 256, 256, 4, Hint::streaming, 20),
      matrix_case<Double>(buffers, 256, 256, 4, Hint::reuse, 20),
      matrix_case<Double>(buffers, 64, 64, 0, Hint::reuse, 500),
      matrix_case<Double>(buffers, 63, 61, 0, Hint::reuse, 500),
      matrix_case<Float>(buffers, 64, 64, 0, Hint::reuse, 1000),
      matrix_case<Float>(buffers, 63, 61, 0, Hint::reuse, 1000),
      matrix_case<float>(buffers, 64, 64, 0, Hint::reuse, 1000),
      matrix_case<float>(buffers, 63, 61, 0, Hint::reuse, 1000),
      matrix_case<Double>(buffers, 4096, 4096, 0, Hint::streaming, 1),
      matrix_case<Double>(buffers, 4095, 4093, 0, Hint::streaming, 1),
      matrix_case<Double>(buffers, 4096, 4096, 0, Hint::reuse, 1),
      matrix_case<Float>(buffers, 4096, 4096, 0, Hint::streaming, 1),
      matrix_case<float>(buffers, 4096, 4096, 0, Hint::streaming, 1),
      matrix_case<Double>(buffers, 1, 16, 0, Hint::reuse, 10000),
      matrix_case<Double>(buffers, 16, 2, 0, Hint::reuse, 10000),
      pack_case<Double>(buffers, 256, 64, 10000),
      pack_case<Float>(buffers, 1024, 64, 1000),
      pack_case<float>(buffers, 1024, 64, 1000),
      pack_case<Float>(buffers, 1 << 22, 64, 1),
  };
  fmt::print("Each column: least time, median time, GB/s (bytes moved once, over the median).\n");
  fmt::print("| {:<52} | {:<21} | {:<21} | {:<21} | loop/ | memcpy/ |\n", "move", "mover", "loop", "memcpy");
  for (const Case& c : cases) {
    if (c.name.find(filter) != std::string::npos) {
      report(c, rounds);
    }
  }
}
