#include "penstock/interpose/requests.hpp"

#include <utility>

namespace penstock::interpose {

std::int64_t received_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
  if (PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) {
    return 0;
  }
  return bytes;
}

bool has_received(int result) noexcept {
  int error_class = MPI_SUCCESS;
  return result == MPI_SUCCESS ||
         (PMPI_Error_class(result, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE);
}

void PendingMessage::pack() noexcept {
  if (side == Side::send) {
    message.pack(*type, user);
  }
}

void PendingMessage::unpack(const MPI_Status& status, int result) noexcept {
  if (side == Side::send || !has_received(result)) {
    return;
  }
  int is_cancelled = 0;
  PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled == 0) {
    message.unpack(*type, user, received_bytes(status));
  }
}

void deliver(Pending& pending, const MPI_Status& status, int result) noexcept {
  if (std::exchange(pending.is_active, false)) {
    pending.unpack(status, result);
  }
}

Requests::~Requests() {
  for (Bucket& bucket : buckets_) {
    while (bucket.first != nullptr) {
      const std::unique_ptr<Pending> gone(std::exchange(bucket.first, bucket.first->next));
    }
  }
}

Requests::Bucket& Requests::bucket_of(MPI_Request request) noexcept {
  const auto key = (std::uint64_t)request;  // a pointer in Open MPI, a number in MPICH
  return buckets_[(key * 0x9e3779b97f4a7c15) >> 56];
}

void Requests::add(MPI_Request request, std::unique_ptr<Pending> pending) {
  pending->request = request;
  Bucket& bucket = bucket_of(request);
  const std::lock_guard lock(bucket.mutex);
  pending->next = bucket.first;
  bucket.first = pending.release();
  held_.fetch_add(1, std::memory_order_relaxed);
}

/// The link that points to the entry, or the last one.
Pending** Requests::link_to(Bucket& bucket, MPI_Request request) noexcept {
  Pending** link = &bucket.first;
  while (*link != nullptr && (*link)->request != request) {
    link = &(*link)->next;
  }
  return link;
}

Pending* Requests::search(MPI_Request request) noexcept {
  Bucket& bucket = bucket_of(request);
  const std::lock_guard lock(bucket.mutex);
  return *link_to(bucket, request);
}

std::unique_ptr<Pending> Requests::take_out(MPI_Request request) noexcept {
  Bucket& bucket = bucket_of(request);
  const std::lock_guard lock(bucket.mutex);
  Pending** const link = link_to(bucket, request);
  Pending* const pending = *link;
  if (pending != nullptr) {
    *link = pending->next;
    held_.fetch_sub(1, std::memory_order_relaxed);
  }
  return std::unique_ptr<Pending>(pending);
}

void Requests::orphan(std::unique_ptr<Pending> pending) noexcept {
  const std::lock_guard lock(orphans_mutex_);
  orphans_.push_back(std::move(pending));
  orphan_count_.fetch_add(1, std::memory_order_relaxed);
}

void Requests::test_orphans() noexcept {
  const std::lock_guard lock(orphans_mutex_);
  std::erase_if(orphans_, [this](const std::unique_ptr<Pending>& pending) {
    MPI_Status status;
    int is_complete = 0;
    const int result = PMPI_Test(&pending->request, &is_complete, &status);
    if (result == MPI_SUCCESS && is_complete == 0) {
      return false;
    }
    deliver(*pending, status, result);
    if (pending->request != MPI_REQUEST_NULL) {
      PMPI_Request_free(&pending->request);
    }
    orphan_count_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  });
}

void Requests::release_orphans() noexcept {
  tend_orphans();
  const std::lock_guard lock(orphans_mutex_);
  for (const std::unique_ptr<Pending>& pending : orphans_) {
    PMPI_Request_free(&pending->request);
  }
  // Their buffers stay, as MPI may still be sending from them.
}

}  // namespace penstock::interpose
