// The methods by which two ranks exchange messages in the benchmark of latency. Private to the module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/gas/gas.hpp"

namespace penstock::lab {

/// A method between ranks 0 and 1 of a team. Both ranks call the same members in the same order.
class LatencyContender {
 public:
  virtual ~LatencyContender() = default;
  virtual const char* name() const = 0;
  /// Whether rank 0 alone acts: a repetition is then one operation, not a message and its answer.
  virtual bool is_one_sided() const { return false; }
  virtual bool serves(std::size_t) const { return true; }
  virtual void set_size(std::size_t) {}
  /// One repetition. Where only rank 0 acts, `repeat` is not called on rank 1, which serves its peer meanwhile.
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
  std::uint64_t count_ = 0;  ///< repetitions so far, the present one included
};

/// Collective over the team: the methods that are possible, for messages of up to `max_bytes` bytes. Ranks beyond the
/// first two get them too, and do not use them. `left_out` gets a sentence for each method that is not possible.
std::vector<std::unique_ptr<LatencyContender>> make_latency_ways(const gas::Team& team, std::size_t max_bytes,
                                                                 bool has_mpi, std::vector<std::string>& left_out);

#if PENSTOCK_HAS_MPI
/// Adds the methods of MPI over MPI_COMM_WORLD, whose ranks are the team's.
void add_mpi_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, std::size_t max_bytes,
                  std::vector<std::string>& left_out);
#endif

#if PENSTOCK_HAS_UCX
/// Collective: adds the methods of UCX alone, without Penstock's code around them.
void add_ucx_ways(std::vector<std::unique_ptr<LatencyContender>>& ways, const gas::Team& team, std::size_t max_bytes);
#endif

}  // namespace penstock::lab
