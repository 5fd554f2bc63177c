// One-sided operations with a packed origin, and the unpacking when MPI has completed them at the origin.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/type.hpp"

namespace penstock::interpose {

/// A put or get under way.
struct Operation {
  MPI_Win window;
  int target;
  Bounce packed;
  std::shared_ptr<Type> type;
  int count;
  void* user;  // where a get is unpacked to; nullptr for a put
};

/// The operations under way on all windows. Thread-safe.
class Windows {
 public:
  void add(Operation operation);

  /// Removes and returns the operations under way to `target`, or to every rank of the window. Call it before MPI is
  /// asked to complete them: what other threads begin meanwhile may stay incomplete.
  std::vector<Operation> take(MPI_Win window, int target) noexcept;
  static constexpr int every_target = -1;

  /// To be called when MPI has completed these operations at the origin: unpacks gets into the user's buffers.
  static void complete(std::vector<Operation>& operations) noexcept;

 private:
  std::atomic<std::int64_t> held_{0};
  std::mutex mutex_;
  std::vector<Operation> operations_;
};

}  // namespace penstock::interpose
