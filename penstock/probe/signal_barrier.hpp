// How the ranks of a benchmark begin together, and let one act while the others serve. Included by probe.hpp.
#pragma once

#include <cstdint>

#include "penstock/gas/gas.hpp"

namespace penstock::probe {

/// A barrier of the first `ranks` ranks of a team by signals alone: who waits serves what its peers ask for.
class SignalBarrier {
 public:
  /// Collective over the team.
  SignalBarrier(const gas::Team& team, int ranks) : rank_(team.rank()), ranks_(ranks), signals_(team, 0, 1) {}

  /// Of each of those ranks.
  void wait() {
    if (rank_ != 0) {
      signals_.notify(0, 0);
      signals_.wait(0, ++waits_);
      return;
    }
    waits_ += static_cast<std::uint64_t>(ranks_ - 1);
    signals_.wait(0, waits_);
    for (int peer = 1; peer < ranks_; ++peer) {
      signals_.notify(peer, 0);
    }
  }

 private:
  int rank_;
  int ranks_;
  gas::Segment signals_;
  std::uint64_t waits_ = 0;
};

}  // namespace penstock::probe
