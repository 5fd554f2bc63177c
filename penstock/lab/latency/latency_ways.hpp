// The ways in which two ranks exchange messages for the benchmark of latency. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::lab {

/// A way between ranks 0 and 1 of a team, which both call the same members in the same order.
class LatencyContender {
 public:
  virtual ~LatencyContender() = default;
  virtual const char* name() const = 0;
  /// Whether rank 0 alone acts, so that a repetition is one operation and not a message and its answer.
  virtual bool is_one_sided() const { return false; }
  virtual bool serves(std::size_t) const { return true; }
  virtual void set_size(std::size_t) {}
  /// One repetition. Where only rank 0 acts, rank 1 is not called but serves what comes.
  virtual void repeat(int rank) = 0;
};

/// A message and its answer.
class PingPong : public LatencyContender {
 public:
  explicit PingPong(std::size_t max_bytes) : data_(max_bytes) {}
  void set_size(std::size_t bytes) final { bytes_ = bytes; }
  void repeat(int rank) final {
    ++count_;
    rank == 0 ? send(1) : receive(0);
    rank == 0 ? receive(1) : send(0);
  }

 protected:
  virtual void send(int peer) = 0;
  virtual void receive(int peer) = 0;

  std::vector<std::byte> data_;
  std::size_t bytes_ = 0;
  std::uint64_t count_ = 0;  ///< of repetitions, with the present one
};

/// Collective over the team: the ways that there are for messages of up to `max_bytes` bytes. The ranks beyond the
/// first two get them as well and use none. What cannot be had is told in `left_out`.
std::vector<std::unique_ptr<LatencyContender>> make_latency_ways(const gas::Team& team, std::size_t max_bytes,
                                                                 bool has_mpi, std::vector<std::string>& left_out);

#if PENSTOCK_HAS_MPI
/// Those of MPI_COMM_WORLD, whose ranks the team's are.
void add_mpi_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, std::size_t max_bytes,
                  std::vector<std::string>& left_out);
#endif

#if PENSTOCK_HAS_UCX
/// Collective: those of UCX alone, with none of our code around them.
void add_ucx_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, const gas::Team& team, std::size_t max_bytes);
#endif

}  // namespace penstock::lab
