#include "penstock/gas/exchange/waves.hpp"

#include <algorithm>

#include "penstock/base/numbers.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::gas {
namespace {

// Messages begin on pairs of cache lines.
constexpr std::size_t alignment = 128;

/// Waves that the messages name.
std::size_t count_waves(const std::vector<Outgoing>& outgoing) {
  std::size_t waves = 0;
  for (const Outgoing& message : outgoing) {
    waves = message.wave == no_wave ? waves : std::max(waves, message.wave + 1);
  }
  return waves;
}

}  // namespace

Staging lay_out_staging(const Team& team, const std::vector<Outgoing>& outgoing) {
  const auto is_staged = [&](const Outgoing& message) { return !team.is_local(message.peer); };
  std::vector<std::size_t> used(count_waves(outgoing));
  for (const Outgoing& message : outgoing) {
    if (is_staged(message) && message.wave < used.size()) {
      used[message.wave] += round_up(message.bytes, alignment);
    }
  }
  const std::size_t most = used.empty() ? 0 : *std::ranges::max_element(used);
  std::vector<std::size_t> next(used.size());
  for (std::size_t wave = 0; wave < next.size(); ++wave) {
    next[wave] = wave % waves_at_once * most;
  }
  Staging staging{.offsets = {}, .bytes = std::min(used.size(), waves_at_once) * most};
  for (const Outgoing& message : outgoing) {
    if (!is_staged(message)) {
      staging.offsets.push_back(0);
      continue;
    }
    std::size_t& place = message.wave < next.size() ? next[message.wave] : staging.bytes;
    staging.offsets.push_back(place);
    place += round_up(message.bytes, alignment);
  }
  return staging;
}

Waves::Waves(const std::vector<Outgoing>& outgoing, const std::vector<char>& is_staged)
    : messages_(count_waves(outgoing)), unsent_(messages_.size()) {
  for (std::size_t i = 0; i < outgoing.size(); ++i) {
    if (is_staged[i] != 0 && outgoing[i].wave != no_wave) {
      messages_[outgoing[i].wave].push_back(i);
    }
  }
}

void Waves::begin_round() noexcept {
  left_.store(0, std::memory_order_relaxed);
  for (std::size_t wave = 0; wave < unsent_.size(); ++wave) {
    unsent_[wave].store(std::ssize(messages_[wave]), std::memory_order_relaxed);
  }
}

}  // namespace penstock::gas
