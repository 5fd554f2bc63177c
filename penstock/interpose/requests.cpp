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

void deliver(Pending& pending, const MPI_Status& status) noexcept {
  if (!std::exchange(pending.is_active, false) || pending.way == Pending::Way::send) {
    return;
  }
  int is_cancelled = 0;
  PMPI_Test_cancelled(&status, &is_cancelled);
  if (is_cancelled == 0) {
    pending.message.unpack(*pending.type, pending.user, received_bytes(status));
  }
}

Requests::~Requests() {
  for (Bucket& bucket : buckets_) {
    while (bucket.newest != nullptr) {
      const std::unique_ptr<Pending> oldest(std::exchange(bucket.newest, bucket.newest->next));
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
  pending->next = bucket.newest;
  bucket.newest = pending.release();
  held_.fetch_add(1, std::memory_order_relaxed);
}

Pending* Requests::look_up(MPI_Request request) noexcept {
  Bucket& bucket = bucket_of(request);
  const std::lock_guard lock(bucket.mutex);
  Pending* pending = bucket.newest;
  while (pending != nullptr && pending->request != request) {
    pending = pending->next;
  }
  return pending;
}

std::unique_ptr<Pending> Requests::remove(Pending& pending) noexcept {
  Bucket& bucket = bucket_of(pending.request);
  const std::lock_guard lock(bucket.mutex);
  Pending** link = &bucket.newest;
  while (*link != &pending) {
    link = &(*link)->next;
  }
  *link = pending.next;
  held_.fetch_sub(1, std::memory_order_relaxed);
  return std::unique_ptr<Pending>(&pending);
}

void Requests::finish(Pending& pending, MPI_Request request, const MPI_Status& status, int result) noexcept {
  if (has_received(result)) {
    deliver(pending, status);
  }
  pending.is_active = false;
  if (!pending.is_persistent && request == MPI_REQUEST_NULL) {
    remove(pending);
  }
}

void Requests::orphan(Pending& pending) noexcept {
  std::unique_ptr<Pending> owned = remove(pending);
  const std::lock_guard lock(orphans_mutex_);
  orphans_.push_back(std::move(owned));
  orphan_count_.fetch_add(1, std::memory_order_relaxed);
}

void Requests::test_orphans() noexcept {
  const std::lock_guard lock(orphans_mutex_);
  std::erase_if(orphans_, [this](const std::unique_ptr<Pending>& pending) {
    MPI_Status status;
    int is_complete = 0;
    if (PMPI_Test(&pending->request, &is_complete, &status) == MPI_SUCCESS && is_complete == 0) {
      return false;
    }
    deliver(*pending, status);
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
