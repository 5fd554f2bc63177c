// MPI's ways of waiting and testing: what is complete is unpacked before the program hears of it.
#include <mpi.h>

#include <array>
#include <cstddef>
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

/// The entries of an array of requests, found before MPI completes any and may give their handles out again.
class Entries {
 public:
  Entries(int count, const MPI_Request* requests) : entries_(count) {
    for (int i = 0; i < count; ++i) {
      entries_[i] = Library::get().requests.find(requests[i]);
      has_any_ = has_any_ || entries_[i] != nullptr;
    }
  }
  bool has_any() const noexcept { return has_any_; }

  /// MPI says that request `i` is complete.
  void finish(int i, const MPI_Request* requests, const MPI_Status& status, int result) noexcept {
    if (entries_[i] != nullptr) {
      Library::get().requests.finish(*entries_[i], requests[i], status, result);
    }
  }

  /// Some call for all `count` requests has returned `result`.
  void finish_all(int count, const MPI_Request* requests, const MPI_Status* statuses, int result) noexcept {
    for (int i = 0; i < count; ++i) {
      if (result == MPI_SUCCESS) {
        finish(i, requests, statuses[i], MPI_SUCCESS);
      } else if (result == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_ERR_PENDING) {
        finish(i, requests, statuses[i], statuses[i].MPI_ERROR);
      }
    }
  }

  /// Some call has completed the `count` requests of `indices`.
  void finish_some(int count, const int* indices, const MPI_Request* requests, const MPI_Status* statuses,
                   int result) noexcept {
    if (count == MPI_UNDEFINED || (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS)) {
      return;
    }
    for (int k = 0; k < count; ++k) {
      const int error = result == MPI_SUCCESS ? MPI_SUCCESS : statuses[k].MPI_ERROR;
      if (error != MPI_ERR_PENDING) {
        finish(indices[k], requests, statuses[k], error);
      }
    }
  }

 private:
  Array<Pending*> entries_;
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
  Pending* const pending = Library::get().requests.find(*request);
  if (pending == nullptr) {
    return PMPI_Wait(request, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  const int result = PMPI_Wait(request, seen);
  Library::get().requests.finish(*pending, *request, *seen, result);
  return result;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const OrphanTender tender(Library::get().requests);
  if (has_nothing_pending(1, request)) {
    return PMPI_Test(request, flag, status);
  }
  Pending* const pending = Library::get().requests.find(*request);
  if (pending == nullptr) {
    return PMPI_Test(request, flag, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  *flag = 0;
  const int result = PMPI_Test(request, flag, seen);
  if (*flag != 0 || result != MPI_SUCCESS) {
    Library::get().requests.finish(*pending, *request, *seen, result);
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
    deliver(*pending, *seen);
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
  entries.finish_all(count, requests, seen.data(), result);
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
    entries.finish_all(count, requests, seen.data(), result);
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
    entries.finish(*index, requests, *seen, result);
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
    entries.finish(*index, requests, *seen, result);
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
  entries.finish_some(*outcount, indices, requests, seen.data(), result);
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
  entries.finish_some(*outcount, indices, requests, seen.data(), result);
  return result;
}

int MPI_Barrier(MPI_Comm comm) {
  const OrphanTender tender(Library::get().requests);
  return PMPI_Barrier(comm);
}

}  // extern "C"
