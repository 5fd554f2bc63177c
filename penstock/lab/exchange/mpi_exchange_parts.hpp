// The common parts of the exchanges by MPI's own calls. Private to the module.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gas/gas.hpp"

namespace penstock::lab {

/// Throws Error with MPI's own text where `code` is not success; `call` names what was called.
void check_exchange(int code, const char* call);

/// `bytes` in units of `unit`, as an int for MPI. Throws Error where it does not fit.
int count_of(std::size_t bytes, std::size_t unit = 1);

bool has_mpi_ended();

/// A communicator of a team's ranks, in their order.
class Communicator {
 public:
  /// Collective over the team, which must stay (but may be moved); throws Error on every rank where its ranks are not
  /// all of `world`.
  Communicator(const gas::Team& team, MPI_Comm world);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const noexcept { return comm_; }
  /// Runs `work`, which calls MPI, while no other thread of the rank calls MPI.
  void in_turn(const std::function<void()>& work) const { in_turn_(work); }
  /// Whether the request is complete.
  bool is_done(MPI_Request& request) const;

 private:
  std::function<void(const std::function<void()>&)> in_turn_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// The offsets of messages in a buffer, one after the other; those to rank `in_place` take no room. The last number is
/// the length of the buffer.
std::vector<std::size_t> offsets_of(const std::vector<gas::Outgoing>& outgoing, int in_place = -1);

/// Collective: memory of `bytes` bytes, which may differ between ranks.
Memory take_memory(const gas::Team& team, std::size_t bytes);

/// The number of each message among those between the same two ranks.
template <class Message>
std::vector<std::size_t> numbers_of(const std::vector<Message>& messages) {
  std::vector<std::size_t> numbers;
  std::map<int, std::size_t> by_peer;
  for (const Message& message : messages) {
    numbers.push_back(by_peer[message.peer]++);
  }
  return numbers;
}

/// Collective: the backends of mpi_exchange.
std::unique_ptr<gas::ExchangeBackend> exchange_by_mpi_messages(const gas::Team& team, const gas::Segment& segment,
                                                               std::vector<gas::Outgoing> outgoing,
                                                               const std::vector<gas::Incoming>& incoming,
                                                               MPI_Comm world);
std::unique_ptr<gas::ExchangeBackend> exchange_by_mpi_calls(const gas::Team& team, const gas::Segment& segment,
                                                            const std::vector<gas::Outgoing>& outgoing,
                                                            const std::vector<gas::Incoming>& incoming, MPI_Comm world,
                                                            bool is_blocking);

}  // namespace penstock::lab
