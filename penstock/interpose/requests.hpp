// The pending requests whose messages are packed: what has to be done when MPI says that they are complete.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "penstock/interpose/message.hpp"

namespace penstock::interpose {

/// A request of MPI's and the packed message that it sends or receives.
struct Pending {
  enum class Side : unsigned char { send, receive };

  Message message;
  std::shared_ptr<Type> type;
  void* user = nullptr;  // only read for a send
  Side side = Side::send;
  bool is_persistent = false;
  bool is_active = true;  // started, and completion not yet seen; a persistent one is made inactive

  // The table's own.
  MPI_Request request = MPI_REQUEST_NULL;
  Pending* next = nullptr;
};

/// Pending requests by handle. The user's handle stays MPI's own, and MPI gives a handle out again, perhaps to another
/// thread, as soon as its request is complete: whoever completes a request takes its entry first, and puts it back
/// where the request lives on. Thread-safe.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  ~Requests();

  void add(MPI_Request request, std::unique_ptr<Pending> pending);

  /// The entry of `request`, or nullptr; it stays in the table. Costs one load while no request is pending.
  Pending* find(MPI_Request request) noexcept { return is_empty() ? nullptr : search(request); }
  /// The same, out of the table.
  std::unique_ptr<Pending> take(MPI_Request request) noexcept { return is_empty() ? nullptr : take_out(request); }
  bool is_empty() const noexcept { return held_.load(std::memory_order_relaxed) == 0; }

  /// Takes over an active request that the user frees: it is freed when it is complete.
  void orphan(std::unique_ptr<Pending> pending) noexcept;
  /// Completes the orphans that can be completed. Cheap without any.
  void tend_orphans() noexcept {
    if (orphan_count_.load(std::memory_order_relaxed) != 0) {
      test_orphans();
    }
  }
  /// For the end of the program: leaves the last orphans to MPI.
  void release_orphans() noexcept;

 private:
  struct Bucket {
    std::mutex mutex;
    Pending* first = nullptr;
  };

  Bucket& bucket_of(MPI_Request request) noexcept;
  static Pending** link_to(Bucket& bucket, MPI_Request request) noexcept;
  Pending* search(MPI_Request request) noexcept;
  std::unique_ptr<Pending> take_out(MPI_Request request) noexcept;
  void test_orphans() noexcept;

  std::array<Bucket, 256> buckets_;
  std::atomic<std::int64_t> held_{0};
  std::atomic<std::int64_t> orphan_count_{0};
  std::mutex orphans_mutex_;
  std::vector<std::unique_ptr<Pending>> orphans_;
};

/// Tends the orphans when a call that may have waited for them ends: the program can know by now that they are
/// complete.
class OrphanTender {
 public:
  explicit OrphanTender(Requests& requests) noexcept : requests_(requests) {}
  ~OrphanTender() { requests_.tend_orphans(); }
  OrphanTender(const OrphanTender&) = delete;

 private:
  Requests& requests_;
};

/// MPI has completed the request with `status` and the return code `result`: unpacks what was received and makes the
/// request inactive. Nothing more for a send, a cancelled or an inactive request.
void deliver(Pending& pending, const MPI_Status& status, int result) noexcept;

/// Whether a receive with this return code has put something into its buffer: also a part of a message too long.
bool has_received(int result) noexcept;

/// The bytes that a completed receive put into its buffer.
std::int64_t received_bytes(const MPI_Status& status) noexcept;

}  // namespace penstock::interpose
