// A collective call with its sides packed, in two modes of MPI: at once, and started.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "penstock/interpose/library.hpp"
#include "penstock/interpose/requests.hpp"

namespace penstock::interpose {

/// What the receiving side's buffer holds beforehand that the call needs: nothing, this rank's own part, or all parts.
enum class Holds : unsigned char { nothing, own_part, all_parts };

/// The two sides of a collective call, each packed or left to MPI. Movable, not copyable. The user's buffers, counts
/// and displacements must live until the call is complete.
template <class Sent, class Received>
struct Transfer {
  const void* from;
  void* to;
  Sent sent;
  Received received;
  Holds holds = Holds::nothing;
  int own = 0;  // the part that is this rank's

  bool is_served() const noexcept { return sent.is_served() || received.is_served(); }
  /// To be called before MPI sends anything.
  void pack() noexcept {
    if (sent.is_served()) {
      sent.pack(from);
    }
    if (received.is_served() && holds == Holds::own_part) {
      received.pack(to, own);
    }
    if (received.is_served() && holds == Holds::all_parts) {
      received.pack(to);
    }
  }
  /// To be called when MPI has received everything.
  void unpack() noexcept {
    if (received.is_served()) {
      received.unpack(to);
    }
  }
};

/// A transfer that MPI has under way.
template <class AnyTransfer>
class PendingTransfer : public Pending {
 public:
  explicit PendingTransfer(AnyTransfer transfer) noexcept : transfer_(std::move(transfer)) {}
  void pack() noexcept override { transfer_.pack(); }
  void unpack(const MPI_Status& /*status*/, int result) noexcept override {
    if (result == MPI_SUCCESS) {
      transfer_.unpack();
    }
  }

 private:
  AnyTransfer transfer_;
};

/// The mode of MPI_Alltoall and its like. As in the other mode, `call` hands the user's arguments through, and `run`
/// takes those of the transfer's sides.
struct AtOnce {
  static constexpr Worth& is_worth = is_worth_packing_collectively;

  template <class Call, class... Arguments>
  int call(Call& function, Arguments... arguments) const {
    return function(arguments...);
  }
  template <class AnyTransfer, class Call, class... Arguments>
  int run(AnyTransfer& transfer, Call& function, Arguments... arguments) const {
    transfer.pack();
    const int result = function(arguments...);
    if (result == MPI_SUCCESS) {
      transfer.unpack();
    }
    return result;
  }
};

/// The mode of MPI_Ialltoall and its like.
struct Started {
  // Long runs, which MPI moves while it waits, would only be moved once more.
  static constexpr Worth& is_worth = is_worth_packing;
  MPI_Request* request;

  template <class Call, class... Arguments>
  int call(Call& function, Arguments... arguments) const {
    return function(arguments..., request);
  }
  template <class AnyTransfer, class Call, class... Arguments>
  int run(AnyTransfer& transfer, Call& function, Arguments... arguments) const {
    if (!transfer.is_served()) {
      return function(arguments..., request);
    }
    auto pending = std::make_unique<PendingTransfer<AnyTransfer>>(std::move(transfer));
    pending->pack();
    const int result = function(arguments..., request);
    if (result != MPI_SUCCESS) {
      return result;
    }
    // MPICH gives all that are complete by now one handle.
    int is_complete = 0;
    MPI_Status status;
    PMPI_Request_get_status(*request, &is_complete, &status);
    if (is_complete != 0) {
      pending->unpack(status, MPI_SUCCESS);
    } else {
      Library::get().requests.add(*request, std::move(pending));
    }
    return result;
  }
};

}  // namespace penstock::interpose
