// Memory levels of bounded capacity, and the slots in them that data pass through. Included by percolate.hpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/memory.hpp"

#pragma GCC visibility push(default)

namespace penstock::percolate {

/// A level nearer to the processors than storage: "memory", "cache".
struct Level {
  std::string name;
  std::size_t capacity_bytes = 0;
};

/// A piece of a level that holds one block of data at a time; or a token, which holds nothing and only orders parcels.
struct Slot {
  int number = 0;
  bool operator==(const Slot&) const = default;
};

/// The slots of a program. Blocks of one kind of data take turns in as many slots as are taken for that kind: with two,
/// one is filled while one is used; with three, one is emptied besides.
///
/// Movable, not copyable. The constructor takes and touches all memory of the levels.
class Slots {
 public:
  /// Throws Error where the system refuses the memory.
  explicit Slots(std::vector<Level> levels);

  /// A slot of `bytes` bytes in the level `level`, aligned to a page. Throws Error where the level is not known, or has
  /// too little room left; the Error says how much.
  Slot take(const std::string& level, const std::string& name, std::size_t bytes);
  /// A slot of no bytes, in no level.
  Slot token(const std::string& name);

  std::span<std::byte> bytes(Slot slot) const { return at(slot).bytes; }
  /// The slot's memory as whole elements.
  template <class T>
  std::span<T> as(Slot slot) const {
    return {reinterpret_cast<T*>(bytes(slot).data()), bytes(slot).size() / sizeof(T)};
  }
  const std::string& name(Slot slot) const { return at(slot).name; }
  int count() const noexcept { return static_cast<int>(slots_.size()); }
  /// The bytes of its level that a slot of `bytes` bytes takes: whole pages.
  static std::size_t taken_bytes(std::size_t bytes) noexcept;

 private:
  struct SlotMemory {
    std::string name;
    std::span<std::byte> bytes;
  };
  struct Room {
    Level level;
    Memory memory;
    std::size_t taken_bytes = 0;
  };
  const SlotMemory& at(Slot slot) const { return slots_[static_cast<std::size_t>(slot.number)]; }
  std::vector<Room> rooms_;
  std::vector<SlotMemory> slots_;
};

}  // namespace penstock::percolate

#pragma GCC visibility pop
