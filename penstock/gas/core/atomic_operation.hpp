// Atomic operations on words of a segment that this process maps: its own rank's and its peers'. Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "penstock/gas/core/message.hpp"

namespace penstock::gas {

enum class AtomicKind : std::uint8_t { fetch_add, compare_swap };

/// An operation on a word of 4 or 8 bytes; smaller values lie in the low half.
struct AtomicOperation {
  AtomicKind kind;
  std::uint8_t bytes;
  std::uint64_t operand;       ///< added, or stored
  std::uint64_t expected = 0;  ///< of compare_swap
};

/// Carries it out on the word at `address`, which is aligned to its size; returns what was there before.
std::uint64_t carry_out(const AtomicOperation& operation, std::byte* address) noexcept;

Header header_of(const AtomicOperation& operation) noexcept;
AtomicOperation atomic_from(const Header& header) noexcept;

}  // namespace penstock::gas
