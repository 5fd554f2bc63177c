#include "penstock/lab/pack/pack_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <numeric>

#include "penstock/base/base.hpp"

namespace penstock::lab {
namespace {

// What all places together touch, where they can: several times what a core's caches hold today.
constexpr std::int64_t enough_bytes = std::int64_t{256} << 20;

/// The cache lines that a layout touches, ascending.
std::vector<std::int64_t> touched_lines(const layout::Layout& touched) {
  std::vector<std::int64_t> lines;
  for (layout::RunWalk walk(touched); !walk.is_done(); walk.next()) {
    const auto [offset, bytes] = walk.run();
    for (std::int64_t line = offset / cache_line_bytes; line <= (offset + bytes - 1) / cache_line_bytes; ++line) {
      lines.push_back(line);
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

/// Displacements, in lines and at most `most`, at which the lines fall on untouched ones but for a tenth; 0 is the
/// first. Array follows array, so that the lines of one slot wrap around.
std::vector<std::int64_t> free_displacements(const std::vector<std::int64_t>& lines, std::int64_t slot_lines,
                                             std::size_t most) {
  constexpr std::int64_t max_tries = 8192;
  std::vector<bool> is_touched(static_cast<std::size_t>(slot_lines), false);
  std::vector<std::int64_t> displacements;
  const auto place = [&](std::int64_t line, std::int64_t displacement) {
    return static_cast<std::size_t>((line + displacement) % slot_lines);
  };
  for (std::int64_t d = 0; d < std::min(slot_lines, max_tries) && displacements.size() < most; ++d) {
    std::size_t taken = 0;
    for (std::size_t i = 0; i < lines.size() && taken * 10 <= lines.size(); ++i) {
      taken += is_touched[place(lines[i], d)] ? 1 : 0;
    }
    if (taken * 10 <= lines.size()) {
      displacements.push_back(d);
      for (const std::int64_t line : lines) {
        is_touched[place(line, d)] = true;
      }
    }
  }
  return displacements;
}

}  // namespace

void Arena::Unmap::operator()(std::byte* data) const noexcept {
  munmap(data, bytes);
}

Arena::Arena(std::size_t bytes) : bytes_(static_cast<std::int64_t>(bytes)) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(fmt::format("cannot have {} of memory to measure packing with", format_bytes(bytes)));
  }
  data_ = {static_cast<std::byte*>(mapped), Unmap{bytes}};
  // Where the system has no huge pages it has no advice against them to take either.
  static_cast<void>(madvise(mapped, bytes, MADV_NOHUGEPAGE));
  // Written, as pages that were only read are all the same one; and no constant, which some memory compresses.
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    std::copy_n(reinterpret_cast<const std::byte*>(&state), 8, data_.get() + i);
  }
}

std::vector<std::int64_t> cold_places(const layout::Layout& touched, std::int64_t array_bytes,
                                      std::int64_t arena_bytes) {
  const std::vector<std::int64_t> lines = touched_lines(touched);
  const std::int64_t slot_bytes = divide_up(array_bytes, small_page_bytes) * small_page_bytes;
  const std::int64_t use_bytes = static_cast<std::int64_t>(lines.size()) * cache_line_bytes;
  std::int64_t slots = arena_bytes / slot_bytes;
  std::vector<std::int64_t> displacements{0};
  if (slots * use_bytes < enough_bytes && slots > 1) {
    --slots;  // room for the displaced of the last
    displacements = free_displacements(lines, slot_bytes / cache_line_bytes,
                                       static_cast<std::size_t>(divide_up(enough_bytes, slots * use_bytes)));
  }
  // Not one line after the other: hardware fetches neighbours ahead. The golden ratio scatters them, a step without
  // common divisor visits all.
  const auto count = static_cast<std::int64_t>(displacements.size());
  auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(0.618 * static_cast<double>(count)));
  while (std::gcd(step, count) != 1) {
    ++step;
  }
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t displacement = displacements[static_cast<std::size_t>(i * step % count)] * cache_line_bytes;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      places.push_back(slot * slot_bytes + displacement);
    }
  }
  return places;
}

}  // namespace penstock::lab
