#include "penstock/fft/scratch.hpp"

#include <array>

#include "penstock/base/numbers.hpp"

namespace penstock::fft {
namespace {

// What is read and written at once lies half a page apart modulo 4096, or loads from one would be taken to depend on
// stores to the other.
constexpr std::uint64_t gap = 2048;

/// Where the parts of a scratch begin, in the order of its members, and its end.
std::array<std::uint64_t, 8> begins(const ScratchNeed& need) {
  const std::uint64_t offsets = need.points * sizeof(std::int64_t);
  std::array<std::uint64_t, 8> begins{};
  std::size_t i = 0;
  for (const std::uint64_t bytes : {need.before, need.after, need.plane, need.lent, offsets, offsets, offsets}) {
    begins[i + 1] = begins[i] + (bytes == 0 ? 0 : round_up(bytes, 4096) + gap);
    ++i;
  }
  return begins;
}

}  // namespace

Scratch::Scratch(const ScratchNeed& need) : memory(bytes(need)) {
  const auto at = begins(need);
  before = memory.data();
  after = before + at[1];
  plane = before + at[2];
  lent = {before + at[3], need.lent};
  source_offsets = reinterpret_cast<std::int64_t*>(before + at[4]);
  next_offsets = reinterpret_cast<std::int64_t*>(before + at[5]);
  sink_offsets = reinterpret_cast<std::int64_t*>(before + at[6]);
}

std::uint64_t Scratch::bytes(const ScratchNeed& need) noexcept {
  return begins(need).back();
}

}  // namespace penstock::fft
