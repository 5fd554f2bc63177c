// Collective calls that one rank of three makes with what cannot be used, or does not make as it has failed.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "penstock/gas/gas.hpp"

namespace penstock {

/// One way in which a collective call fails.
struct Case {
  /// The call, by which tests/house/check_collectives.py knows it, then what is wrong.
  const char* name;
  /// Makes the call over the team; rank 1 is bad.
  std::function<void(const gas::Team& team, bool is_bad)> call;
  bool may_complete = false;  ///< on rank 2, which needs nothing of rank 1
};

/// Has rank 1 throw in the middle of a call: a handler does, where the rank waits.
class Trap {
 public:
  /// Collective.
  explicit Trap(const gas::Team& team);
  /// To be called before each of the calls.
  void set();

 private:
  int rank_;
  bool is_set_ = false;
  gas::ActiveMessages messages_;
};

/// On worlds of three ranks: every case throws the same Error on every rank, within five seconds, over a team of its
/// own; the world is of use afterwards.
void expect_all_ranks_throw(std::span<const Case> cases);

}  // namespace penstock
