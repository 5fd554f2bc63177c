// MPI's ways of waiting and testing: what is complete is unpacked before the program hears of it.
#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

/// An array of as many values as a program has requests: on the stack for the usual few.
template <class Value>
class Array {
 public:
  explicit Array(int count) {
    if (static_cast<std::size_t>(count) > few_.size()) {
      many_.resize(static_cast<std::size_t>(count));
    }
  }
  Value* data() noexcept { return many_.empty() ? few_.data() : many_.data(); }
  Value& operator[](int i) noexcept { return data()[i]; }

 private:
  std::array<Value, 32> few_{};
  std::vector<Value> many_;
};

/// The entries of an array of requests, taken before MPI completes any; those whose requests live on go back in the
/// end.
class Entries {
 public:
  Entries(int count, const MPI_Request* requests) : count_(count), requests_(requests), entries_(count) {
    for (int i = 0; i < count; ++i) {
      entries_[i] = Library::get().requests.take(requests[i]);
      has_any_ = has_any_ || entries_[i] != nullptr;
    }
  }
  ~Entries() {
    for (int i = 0; i < count_ && has_any_; ++i) {
      if (entries_[i] != nullptr && requests_[i] != MPI_REQUEST_NULL) {
        Library::get().requests.add(requests_[i], std::move(entries_[i]));
      }
    }
  }
  Entries(const Entries&) = delete;

  bool has_any() const noexcept { return has_any_; }

  /// MPI says that request `i` is complete.
  void finish(int i, const MPI_Status& status, int result) noexcept {
    if (entries_[i] != nullptr) {
      deliver(*entries_[i], status, result);
    }
  }

  /// A call for all requests has returned `result`.
  void finish_all(const MPI_Status* statuses, int result) noexcept {
    for (int i = 0; i < count_; ++i) {
      if (result == MPI_SUCCESS) {
        finish(i, statuses[i], MPI_SUCCESS);
      } else if (result == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
        finish(i, statuses[i], statuses[i].MPI_ERROR);
      }
    }
  }

  /// A call has completed the `completed` requests of `indices`.
  void finish_some(int completed, const int* indices, const MPI_Status* statuses, int result) noexcept {
    if (completed == MPI_UNDEFINED || (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS)) {
      return;
    }
    for (int k = 0; k < completed; ++k) {
      const int error = result == MPI_SUCCESS ? MPI_SUCCESS : statuses[k].MPI_ERROR;
      if (error != MPI_ERR_PENDING) {
        finish(indices[k], statuses[k], error);
      }
    }
  }

 private:
  int count_;
  const MPI_Request* requests_;
  Array<std::unique_ptr<Pending>> entries_;
  bool has_any_ = false;
};

/// Where MPI writes statuses: the user's own, or ours where the user wants none.
class Statuses {
 public:
  Statuses(int count, MPI_Status* users) : own_(users == MPI_STATUSES_IGNORE ? count : 0), users_(users) {}
  MPI_Status* data() noexcept { return users_ == MPI_STATUSES_IGNORE ? own_.data() : users_; }

 private:
  Array<MPI_Status> own_;
  MPI_Status* users_;
};

bool has_nothing_pending(int count, const MPI_Request* requests) noexcept {
  return Library::get().requests.is_empty() || count <= 0 || requests == nullptr;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(1, request)) {
    return PMPI_Wait(request, status);
  }
  std::unique_ptr<Pending> pending = Library::get().requests.take(*request);
  if (pending == nullptr) {
    return PMPI_Wait(request, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  const int result = PMPI_Wait(request, seen);
  deliver(*pending, *seen, result);
  if (*request != MPI_REQUEST_NULL) {
    Library::get().requests.add(*request, std::move(pending));
  }
  return result;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(1, request)) {
    return PMPI_Test(request, flag, status);
  }
  std::unique_ptr<Pending> pending = Library::get().requests.take(*request);
  if (pending == nullptr) {
    return PMPI_Test(request, flag, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  *flag = 0;
  const int result = PMPI_Test(request, flag, seen);
  if (*flag != 0 || result != MPI_SUCCESS) {
    deliver(*pending, *seen, result);
  }
  if (*request != MPI_REQUEST_NULL) {
    Library::get().requests.add(*request, std::move(pending));
  }
  return result;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  Pending* const pending = has_nothing_pending(1, &request) ? nullptr : Library::get().requests.find(request);
  if (pending == nullptr) {
    return PMPI_Request_get_status(request, flag, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  const int result = PMPI_Request_get_status(request, flag, seen);
  if (result == MPI_SUCCESS && *flag != 0) {
    deliver(*pending, *seen, result);
  }
  return result;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(count, requests)) {
    return PMPI_Waitall(count, requests, statuses);
  }
  Entries entries(count, requests);
  if (!entries.has_any()) {
    return PMPI_Waitall(count, requests, statuses);
  }
  Statuses seen(count, statuses);
  const int result = PMPI_Waitall(count, requests, seen.data());
  entries.finish_all(seen.data(), result);
  return result;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(count, requests)) {
    return PMPI_Testall(count, requests, flag, statuses);
  }
  Entries entries(count, requests);
  if (!entries.has_any()) {
    return PMPI_Testall(count, requests, flag, statuses);
  }
  Statuses seen(count, statuses);
  const int result = PMPI_Testall(count, requests, flag, seen.data());
  if (result != MPI_SUCCESS || *flag != 0) {
    entries.finish_all(seen.data(), result);
  }
  return result;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(count, requests)) {
    return PMPI_Waitany(count, requests, index, status);
  }
  Entries entries(count, requests);
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  *index = MPI_UNDEFINED;
  const int result = PMPI_Waitany(count, requests, index, seen);
  if (*index != MPI_UNDEFINED) {
    entries.finish(*index, *seen, result);
  }
  return result;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(count, requests)) {
    return PMPI_Testany(count, requests, index, flag, status);
  }
  Entries entries(count, requests);
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  *index = MPI_UNDEFINED;
  const int result = PMPI_Testany(count, requests, index, flag, seen);
  if (*index != MPI_UNDEFINED && (*flag != 0 || result != MPI_SUCCESS)) {
    entries.finish(*index, *seen, result);
  }
  return result;
}

int MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(incount, requests)) {
    return PMPI_Waitsome(incount, requests, outcount, indices, statuses);
  }
  Entries entries(incount, requests);
  if (!entries.has_any()) {
    return PMPI_Waitsome(incount, requests, outcount, indices, statuses);
  }
  Statuses seen(incount, statuses);
  const int result = PMPI_Waitsome(incount, requests, outcount, indices, seen.data());
  entries.finish_some(*outcount, indices, seen.data(), result);
  return result;
}

int MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(incount, requests)) {
    return PMPI_Testsome(incount, requests, outcount, indices, statuses);
  }
  Entries entries(incount, requests);
  if (!entries.has_any()) {
    return PMPI_Testsome(incount, requests, outcount, indices, statuses);
  }
  Statuses seen(incount, statuses);
  const int result = PMPI_Testsome(incount, requests, outcount, indices, seen.data());
  entries.finish_some(*outcount, indices, seen.data(), result);
  return result;
}

int MPI_Barrier(MPI_Comm comm) {
  const OrphanTender tender(Library::get().requests);
  return PMPI_Barrier(comm);
}

}  // extern "C"
