// MPI_Put, MPI_Accumulate and MPI_Get with the origin packed by movers, and the calls that complete them there. The
// target's datatype stays MPI's affair.
#include <mpi.h>

#include <exception>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

/// The buffer of an operation that is served, with MPI's count and type for it.
struct Origin {
  Operation operation;
  int count;
  MPI_Datatype datatype;
};

std::optional<Origin> make_origin(Type* type, int count, int target, MPI_Win window, void* user) noexcept {
  if (type == nullptr) {
    return std::nullopt;
  }
  try {
    Library& library = Library::get();
    const MPI_Datatype twin = library.wire_types.contiguous(type->bytes());
    if (twin == MPI_DATATYPE_NULL) {
      return std::nullopt;
    }
    Bounce packed = library.bounces.lend(type->bytes() * count);
    return Origin{{window, target, std::move(packed), type->shared_from_this(), count, user}, count, twin};
  } catch (const std::exception&) {
    return std::nullopt;  // no memory to pack into
  }
}

/// For MPI_Accumulate, which has to know of which numbers its bytes are.
std::optional<Origin> make_origin_of_numbers(Type* type, int count, int target, MPI_Win window) noexcept {
  int bytes = 0;
  if (type == nullptr || type->basic() == MPI_DATATYPE_NULL || PMPI_Type_size(type->basic(), &bytes) != MPI_SUCCESS ||
      type->bytes() * count / bytes > std::numeric_limits<int>::max()) {
    return std::nullopt;
  }
  std::optional<Origin> origin = make_origin(type, count, target, window, nullptr);
  if (origin) {
    origin->count = static_cast<int>(type->bytes() * count / bytes);
    origin->datatype = type->basic();
  }
  return origin;
}

/// Calls MPI, and where that succeeds what was under way to `target` is complete at the origin.
template <class Call>
int complete_one(int target, MPI_Win window, Call call) {
  Windows& windows = Library::get().windows;
  std::vector<Operation> operations = windows.take(window, target);
  const int result = call();
  if (result == MPI_SUCCESS) {
    Windows::complete(operations);
  } else {
    for (Operation& operation : operations) {
      windows.add(std::move(operation));
    }
  }
  return result;
}

/// The same for every rank of the window.
template <class Call>
int complete_all(MPI_Win window, Call call) {
  return complete_one(Windows::every_target, window, call);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

extern "C" {

int MPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Type* const type = find_sender(origin_addr, origin_count, origin_datatype, target_rank);
  std::optional<Origin> origin = make_origin(type, origin_count, target_rank, win, nullptr);
  if (!origin) {
    return PMPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
  }
  Operation& put = origin->operation;
  type->pack(origin_count, origin_addr, put.packed.data());
  const int result = PMPI_Put(put.packed.data(), origin->count, origin->datatype, target_rank, target_disp,
                              target_count, target_datatype, win);
  if (result == MPI_SUCCESS) {
    Library::get().windows.add(std::move(put));
  }
  return result;
}

int MPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  Type* const type = find_sender(origin_addr, origin_count, origin_datatype, target_rank);
  std::optional<Origin> origin = make_origin_of_numbers(type, origin_count, target_rank, win);
  if (!origin) {
    return PMPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                           target_datatype, op, win);
  }
  Operation& accumulate = origin->operation;
  type->pack(origin_count, origin_addr, accumulate.packed.data());
  const int result = PMPI_Accumulate(accumulate.packed.data(), origin->count, origin->datatype, target_rank,
                                     target_disp, target_count, target_datatype, op, win);
  if (result == MPI_SUCCESS) {
    Library::get().windows.add(std::move(accumulate));
  }
  return result;
}

int MPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Type* const type = find_receiver(origin_addr, origin_count, origin_datatype, target_rank);
  std::optional<Origin> origin = make_origin(type, origin_count, target_rank, win, origin_addr);
  if (!origin) {
    return PMPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
  }
  Operation& get = origin->operation;
  const int result = PMPI_Get(get.packed.data(), origin->count, origin->datatype, target_rank, target_disp,
                              target_count, target_datatype, win);
  if (result == MPI_SUCCESS) {
    Library::get().windows.add(std::move(get));
  }
  return result;
}

int MPI_Win_fence(int assertion, MPI_Win win) {
  return complete_all(win, [&] { return PMPI_Win_fence(assertion, win); });
}

int MPI_Win_complete(MPI_Win win) {
  return complete_all(win, [&] { return PMPI_Win_complete(win); });
}

int MPI_Win_unlock(int rank, MPI_Win win) {
  return complete_one(rank, win, [&] { return PMPI_Win_unlock(rank, win); });
}

int MPI_Win_unlock_all(MPI_Win win) {
  return complete_all(win, [&] { return PMPI_Win_unlock_all(win); });
}

int MPI_Win_flush(int rank, MPI_Win win) {
  return complete_one(rank, win, [&] { return PMPI_Win_flush(rank, win); });
}

int MPI_Win_flush_all(MPI_Win win) {
  return complete_all(win, [&] { return PMPI_Win_flush_all(win); });
}

int MPI_Win_flush_local(int rank, MPI_Win win) {
  return complete_one(rank, win, [&] { return PMPI_Win_flush_local(rank, win); });
}

int MPI_Win_flush_local_all(MPI_Win win) {
  return complete_all(win, [&] { return PMPI_Win_flush_local_all(win); });
}

}  // extern "C"
