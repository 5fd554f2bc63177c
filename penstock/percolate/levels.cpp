// Slots are cut from their level's memory one after another, each from the beginning of a page.
#include "penstock/percolate/levels.hpp"

#include <fmt/format.h>

#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/base/numbers.hpp"
#include "penstock/base/units.hpp"

namespace penstock::percolate {

std::size_t Slots::taken_bytes(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096;  // also what files that pass by the page cache want of memory
  return round_up(bytes, page);
}

Slots::Slots(std::vector<Level> levels) {
  for (Level& level : levels) {
    Memory memory(level.capacity_bytes);
    rooms_.push_back({.level = std::move(level), .memory = std::move(memory)});
  }
}

Slot Slots::take(const std::string& level, const std::string& name, std::size_t bytes) {
  for (Room& room : rooms_) {
    if (room.level.name != level) {
      continue;
    }
    const std::size_t left = room.level.capacity_bytes - room.taken_bytes;
    if (taken_bytes(bytes) > left) {
      throw Error(fmt::format("{} for {} do not fit into the level '{}': {} of {} are left", format_bytes(bytes), name,
                              level, format_bytes(left), format_bytes(room.level.capacity_bytes)));
    }
    slots_.push_back({.name = name, .bytes = {room.memory.data() + room.taken_bytes, bytes}});
    room.taken_bytes += taken_bytes(bytes);
    return {count() - 1};
  }
  throw Error(fmt::format("there is no memory level '{}' for {}", level, name));
}

Slot Slots::token(const std::string& name) {
  slots_.push_back({.name = name, .bytes = {}});
  return {count() - 1};
}

}  // namespace penstock::percolate
