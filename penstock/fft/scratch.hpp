// A thread's scratch memory, which stays in cache: its tiles and planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/base/base.hpp"
#include "penstock/fft/schedule.hpp"

namespace penstock::fft {

/// A thread's memory in cache: what its tiles need.
struct Scratch {
  Memory memory;
  std::byte* before = nullptr;
  std::byte* after = nullptr;
  std::byte* plane = nullptr;
  std::span<std::byte> lent;
  std::int64_t* source_offsets = nullptr;
  std::int64_t* next_offsets = nullptr;
  std::int64_t* sink_offsets = nullptr;

  explicit Scratch(const ScratchNeed& need);
  /// The bytes that such a scratch takes.
  static std::uint64_t bytes(const ScratchNeed& need) noexcept;
};

}  // namespace penstock::fft
