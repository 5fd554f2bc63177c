// What one rank knows about the revocation of a team (see Team::revoke). Private to the module.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/gas/core/engine.hpp"
#include "penstock/gas/core/team.hpp"

namespace penstock::gas {

/// What one rank knows of the revocation of a team. Shared by all that waits for the team's ranks.
class Revocation {
 public:
  explicit Revocation(const Engine& engine) : engine_(engine) {}

  bool is_set() const noexcept { return is_set_.load(std::memory_order_acquire); }

  /// Throws TeamFailure where the team has been revoked; costs a load where it has not.
  void check() const {
    if (is_set()) {
      engine_.check_peers_now();  // a rank that ends a call because another has died would seem the cause
      throw TeamFailure(why_, false);
    }
  }

  /// How many of the transport's collective calls the rank that revoked had completed: those that it had left complete
  /// on every rank, as all ranks had entered them.
  std::uint64_t completed_before() const noexcept { return is_set() ? completed_before_ : 0; }

  /// With the engine's progress lock held. The first reason counts.
  void set(std::string_view why, std::uint64_t completed_before) {
    if (!is_set()) {
      why_ = why;
      completed_before_ = completed_before;
      is_set_.store(true, std::memory_order_release);
    }
  }

 private:
  const Engine& engine_;
  std::string why_;
  std::uint64_t completed_before_ = 0;
  std::atomic<bool> is_set_ = false;
};

}  // namespace penstock::gas
