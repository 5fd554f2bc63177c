// XXH64 as its specification has it: four lanes of 8 bytes, then what is left, then an avalanche.
#include "penstock/base/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace penstock {
namespace {

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;

std::uint64_t mix(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * prime2, 31) * prime1;
}

template <class Word>
Word take(std::span<const std::byte>& bytes) noexcept {
  Word word;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes = bytes.subspan(sizeof word);
  return word;
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  const auto length = static_cast<std::uint64_t>(bytes.size());
  std::uint64_t sum = prime5;
  if (bytes.size() >= 32) {
    std::array<std::uint64_t, 4> lanes = {prime1 + prime2, prime2, 0, std::uint64_t{0} - prime1};
    while (bytes.size() >= 32) {
      for (std::uint64_t& lane : lanes) {
        lane = mix(lane, take<std::uint64_t>(bytes));
      }
    }
    sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) {
      sum = (sum ^ mix(0, lane)) * prime1 + prime4;
    }
  }
  sum += length;
  while (bytes.size() >= 8) {
    sum = std::rotl(sum ^ mix(0, take<std::uint64_t>(bytes)), 27) * prime1 + prime4;
  }
  if (bytes.size() >= 4) {
    sum = std::rotl(sum ^ take<std::uint32_t>(bytes) * prime1, 23) * prime2 + prime3;
  }
  while (!bytes.empty()) {
    sum = std::rotl(sum ^ take<std::uint8_t>(bytes) * prime5, 11) * prime1;
  }
  sum = (sum ^ sum >> 33) * prime2;
  sum = (sum ^ sum >> 29) * prime3;
  return sum ^ sum >> 32;
}

}  // namespace penstock
