// A profiling library between a program and MPI: counts what MPI's sends carry. With PENSTOCK_SENDS set to a path, each
// rank writes PATH.RANK at MPI_Finalize: the most bytes that one send or call has carried, and its name.
//
// One-sided calls are not counted: they are what a transport is to use instead.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Most {
  std::int64_t bytes = 0;
  const char* call = "nothing";
};

std::mutex mutex;
Most most;
std::map<MPI_Request, std::int64_t> persistent;

std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return count * static_cast<std::int64_t>(size);
}

void count_bytes(const char* call, std::int64_t bytes) {
  const std::scoped_lock lock(mutex);
  if (bytes > most.bytes) {
    most = {bytes, call};
  }
}

void count(const char* call, std::int64_t elements, MPI_Datatype type) {
  count_bytes(call, bytes_of(elements, type));
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}

std::int64_t sum(const int* counts, MPI_Comm comm) {
  std::int64_t all = 0;
  for (int rank = 0; rank < ranks_of(comm); ++rank) {
    all += counts[rank];
  }
  return all;
}

}  // namespace

extern "C" {

int MPI_Send(const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  count("MPI_Send", n, type);
  return PMPI_Send(data, n, type, peer, tag, comm);
}
int MPI_Ssend(const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  count("MPI_Ssend", n, type);
  return PMPI_Ssend(data, n, type, peer, tag, comm);
}
int MPI_Isend(const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  count("MPI_Isend", n, type);
  return PMPI_Isend(data, n, type, peer, tag, comm, request);
}
int MPI_Issend(const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  count("MPI_Issend", n, type);
  return PMPI_Issend(data, n, type, peer, tag, comm, request);
}
int MPI_Sendrecv(const void* data, int n, MPI_Datatype type, int to, int tag, void* place, int places,
                 MPI_Datatype place_type, int from, int its_tag, MPI_Comm comm, MPI_Status* status) {
  count("MPI_Sendrecv", n, type);
  return PMPI_Sendrecv(data, n, type, to, tag, place, places, place_type, from, its_tag, comm, status);
}
int MPI_Send_init(const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int status = PMPI_Send_init(data, n, type, peer, tag, comm, request);
  const std::scoped_lock lock(mutex);
  persistent[*request] = bytes_of(n, type);
  return status;
}
int MPI_Request_free(MPI_Request* request) {
  {
    const std::scoped_lock lock(mutex);
    persistent.erase(*request);
  }
  return PMPI_Request_free(request);
}
int MPI_Start(MPI_Request* request) {
  std::int64_t bytes = 0;
  {
    const std::scoped_lock lock(mutex);
    const auto found = persistent.find(*request);
    bytes = found == persistent.end() ? 0 : found->second;
  }
  count_bytes("MPI_Start", bytes);
  return PMPI_Start(request);
}
int MPI_Startall(int n, MPI_Request* requests) {
  for (int i = 0; i < n; ++i) {
    if (const int status = MPI_Start(requests + i); status != MPI_SUCCESS) {
      return status;
    }
  }
  return MPI_SUCCESS;
}
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  count("MPI_Bcast", n, type);
  return PMPI_Bcast(data, n, type, root, comm);
}
int MPI_Allreduce(const void* data, void* place, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count("MPI_Allreduce", n, type);
  return PMPI_Allreduce(data, place, n, type, op, comm);
}
int MPI_Allgather(const void* data, int n, MPI_Datatype type, void* place, int places, MPI_Datatype place_type,
                  MPI_Comm comm) {
  count("MPI_Allgather", n, type);
  return PMPI_Allgather(data, n, type, place, places, place_type, comm);
}
int MPI_Iallgather(const void* data, int n, MPI_Datatype type, void* place, int places, MPI_Datatype place_type,
                   MPI_Comm comm, MPI_Request* request) {
  count("MPI_Iallgather", n, type);
  return PMPI_Iallgather(data, n, type, place, places, place_type, comm, request);
}
int MPI_Alltoall(const void* data, int n, MPI_Datatype type, void* place, int places, MPI_Datatype place_type,
                 MPI_Comm comm) {
  count("MPI_Alltoall", std::int64_t{n} * ranks_of(comm), type);
  return PMPI_Alltoall(data, n, type, place, places, place_type, comm);
}
int MPI_Alltoallv(const void* data, const int* n, const int* at, MPI_Datatype type, void* place, const int* places,
                  const int* places_at, MPI_Datatype place_type, MPI_Comm comm) {
  count("MPI_Alltoallv", sum(n, comm), type);
  return PMPI_Alltoallv(data, n, at, type, place, places, places_at, place_type, comm);
}
int MPI_Ialltoallv(const void* data, const int* n, const int* at, MPI_Datatype type, void* place, const int* places,
                   const int* places_at, MPI_Datatype place_type, MPI_Comm comm, MPI_Request* request) {
  count("MPI_Ialltoallv", sum(n, comm), type);
  return PMPI_Ialltoallv(data, n, at, type, place, places, places_at, place_type, comm, request);
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (const char* const path = std::getenv("PENSTOCK_SENDS")) {
    if (std::FILE* const file = std::fopen((std::string(path) + "." + std::to_string(rank)).c_str(), "w")) {
      std::fprintf(file, "%lld %s\n", static_cast<long long>(most.bytes), most.call);
      std::fclose(file);
    }
  }
  return PMPI_Finalize();
}

}  // extern "C"
