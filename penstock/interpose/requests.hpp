// The pending requests whose messages are packed, and the unpacking when MPI reports that they are complete.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "penstock/interpose/message.hpp"

namespace penstock::interpose {

/// A request of MPI's whose data is packed.
struct Pending {
  Pending() = default;
  Pending(const Pending&) = delete;
  virtual ~Pending() = default;

  /// To be called before MPI is started, again at each start.
  virtual void pack() noexcept = 0;
  /// To be called when MPI has completed a start with `status` and the return code `result`.
  virtual void unpack(const MPI_Status& status, int result) noexcept = 0;

  bool is_persistent = false;
  bool is_active = true;  // started and not yet seen complete; a persistent request begins inactive

  // The table's own.
  MPI_Request request = MPI_REQUEST_NULL;
  Pending* next = nullptr;
};

/// A message between two ranks.
struct PendingMessage : Pending {
  enum class Side : unsigned char { send, receive };

  PendingMessage(Message packed, Side of) noexcept : message(std::move(packed)), side(of) {}
  void pack() noexcept override;
  /// Nothing for a send, and for a receive that was cancelled.
  void unpack(const MPI_Status& status, int result) noexcept override;

  Message message;
  std::shared_ptr<Type> type;
  void* user = nullptr;  // only read for a send
  Side side;
};

/// The pending requests by handle. The user's handle is MPI's own. MPI may give a handle out again, perhaps to another
/// thread, as soon as its request is complete. So a thread that completes a request takes the entry out first, and puts
/// it back where the request stays alive. Thread-safe.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  ~Requests();

  void add(MPI_Request request, std::unique_ptr<Pending> pending);

  /// The entry of `request`, or nullptr; it stays in the table. Costs one load while no request is pending.
  Pending* find(MPI_Request request) noexcept { return is_empty() ? nullptr : search(request); }
  /// As `find`, and removes the entry from the table.
  std::unique_ptr<Pending> take(MPI_Request request) noexcept { return is_empty() ? nullptr : take_out(request); }
  bool is_empty() const noexcept { return held_.load(std::memory_order_relaxed) == 0; }

  /// Takes over an active request that the user has freed (an orphan): the message is freed when the request is
  /// complete.
  void orphan(std::unique_ptr<Pending> pending) noexcept;
  /// Completes the orphans that can be completed. Costs one load where there are none.
  void tend_orphans() noexcept {
    if (orphan_count_.load(std::memory_order_relaxed) != 0) {
      test_orphans();
    }
  }
  /// For the end of the program: leaves the remaining orphans to MPI.
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

/// Completes orphans at the end of a call that may have waited for them: from then on the program may know that they
/// are complete.
class OrphanTender {
 public:
  explicit OrphanTender(Requests& requests) noexcept : requests_(requests) {}
  ~OrphanTender() { requests_.tend_orphans(); }
  OrphanTender(const OrphanTender&) = delete;

 private:
  Requests& requests_;
};

/// To be called when MPI has completed the request with `status` and the return code `result`. Unpacks what was
/// received, and makes the request inactive. Nothing is unpacked for an inactive one.
void deliver(Pending& pending, const MPI_Status& status, int result) noexcept;

/// Whether a receive with this return code has put data into its buffer. A message that was too long has, in part.
bool has_received(int result) noexcept;

/// The bytes that a completed receive put into its buffer.
std::int64_t received_bytes(const MPI_Status& status) noexcept;

}  // namespace penstock::interpose
