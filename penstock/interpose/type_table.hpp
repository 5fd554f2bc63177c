// The table of committed datatypes that are not predefined, by handle.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>

#include "penstock/interpose/type.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::interpose {

/// Committed datatypes by handle. MPI uses handles again after a datatype is freed, so freeing drops the entry. Where
/// MPI frees a type past this library (by a function that a program took from MPI itself), an attribute of each type
/// that was read reports it. Thread-safe.
class TypeTable {
 public:
  explicit TypeTable(Tallies* tallies) : tallies_(tallies), movers_(max_movers) {}

  /// The type of a handle, read; nullptr where MPI itself has to serve the type. Valid until the datatype is freed, and
  /// as long as a share of it is held.
  std::shared_ptr<Type> share(MPI_Datatype type) noexcept;
  Type* find(MPI_Datatype type) noexcept {
    Seen& seen = last_seen[slot_of(type)];
    if (seen.type == type && seen.generation == generation_.load(std::memory_order_acquire)) {
      return seen.entry;
    }
    return search(type, seen);
  }

  /// The mover between two layouts, made at most once. Throws as Mover::compile does.
  mover::Mover mover(const layout::Layout& source, const layout::Layout& destination, mover::Hint hint) {
    return movers_.compile(source, destination, hint);
  }

  /// Differs whenever a datatype was added or forgotten.
  std::uint64_t generation() const noexcept { return generation_.load(std::memory_order_acquire); }

  /// Notes that `type` is committed; it is read when first used.
  void add(MPI_Datatype type);
  /// Whether `type` was added and not forgotten.
  bool holds(MPI_Datatype type);
  void forget(MPI_Datatype type) noexcept;

 private:
  // What a thread looked up last, as programs use few types at a time and mostly predefined ones. Good as long as no
  // type was added or forgotten since.
  struct Seen {
    MPI_Datatype type;
    std::uint64_t generation;  // 0: nothing seen
    Type* entry;
  };
  static constexpr std::size_t seen_slots = 16;
  static constinit thread_local Seen last_seen[seen_slots];

  // Movers of layouts that differ; each of some hundred bytes plus its index lists.
  static constexpr std::size_t max_movers = 4096;

  // A pointer in Open MPI, a number in MPICH: only this cast takes both.
  static std::uint64_t key_of(MPI_Datatype type) noexcept { return (std::uint64_t)type; }
  static std::size_t slot_of(MPI_Datatype type) noexcept {
    return static_cast<std::size_t>((key_of(type) * 0x9e3779b97f4a7c15) >> 60);
  }

  Type* search(MPI_Datatype type, Seen& seen) noexcept;
  void watch(MPI_Datatype type) noexcept;

  Tallies* tallies_;
  mover::Cache movers_;
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Type>> types_;
  std::atomic<std::uint64_t> generation_{1};
  std::atomic<int> keyval_{MPI_KEYVAL_INVALID};
};

}  // namespace penstock::interpose
