// Buffers for an exchange's messages that are not written in place; the waves of a round take the buffers in turn.
// Private to the module.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "penstock/gas/exchange/exchange.hpp"

namespace penstock::gas {

/// Where messages that are not written in place lie until they have left.
struct Staging {
  std::vector<std::size_t> offsets;  ///< by outgoing message; 0 of those that are written in place
  std::size_t bytes = 0;
};

/// Buffers as large as the largest wave, then the memory of messages of no wave.
Staging lay_out_staging(const Team& team, const std::vector<Outgoing>& outgoing);

/// Which waves of a round have left their buffers. May be asked by several threads.
class Waves {
 public:
  /// Of the messages for which `is_staged` is set.
  Waves(const std::vector<Outgoing>& outgoing, const std::vector<char>& is_staged);

  /// All have left, and none is sent in the round that begins.
  void begin_round() noexcept;

  /// A message of the wave is on its way.
  void count_sent(std::size_t wave) noexcept {
    if (wave != no_wave) {
      unsent_[wave].fetch_sub(1, std::memory_order_release);
    }
  }

  /// Whether messages of the wave may be written: what was in their buffer has left it, as `has_left(message)` tells of
  /// one that was sent.
  template <class HasLeft>
  bool is_free(std::size_t wave, const HasLeft& has_left) {
    if (wave == no_wave || wave < waves_at_once) {
      return true;
    }
    const std::size_t wanted = wave - waves_at_once + 1;
    std::size_t left = left_.load(std::memory_order_acquire);
    while (left < wanted) {
      if (unsent_[left].load(std::memory_order_acquire) > 0) {
        return false;
      }
      for (const std::size_t message : messages_[left]) {
        if (!has_left(message)) {
          return false;
        }
      }
      if (left_.compare_exchange_strong(left, left + 1, std::memory_order_acq_rel)) {
        ++left;
      }
    }
    return true;
  }

 private:
  std::vector<std::vector<std::size_t>> messages_;   // by wave
  std::vector<std::atomic<std::ptrdiff_t>> unsent_;  // by wave, in this round
  std::atomic<std::size_t> left_ = 0;                // all waves before it have left
};

}  // namespace penstock::gas
