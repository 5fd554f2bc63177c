// MPI's collectives at once.
#include "penstock/interpose/collectives.hpp"

#include <mpi.h>

#include <optional>

#include "penstock/interpose/node_exchange.hpp"

using namespace penstock::interpose;

extern "C" {

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return bcast(AtOnce(), PMPI_Bcast, buffer, count, datatype, root, comm);
}

int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gather(AtOnce(), PMPI_Gather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return gatherv(AtOnce(), PMPI_Gatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                 comm);
}

int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatter(AtOnce(), PMPI_Scatter, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return scatterv(AtOnce(), PMPI_Scatterv, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                  comm);
}

int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(AtOnce(), everyone_in, PMPI_Allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                   comm);
}

int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv(AtOnce(), everyone_in, PMPI_Allgatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype, comm);
}

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(AtOnce(), everyone_in, PMPI_Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                  comm);
}

int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(AtOnce(), everyone_in, PMPI_Alltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm);
}

int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm) {
  if (sendbuf != MPI_IN_PLACE && is_intracommunicator(comm)) {
    NodeExchange* const exchange = NodeExchange::of(comm);
    const std::optional<int> result = exchange != nullptr
                                          ? exchange->run(side_to_send(sendbuf, sendcounts, sdispls, sendtypes),
                                                          WSide<int>{recvbuf, recvcounts, rdispls, recvtypes})
                                          : std::nullopt;
    if (result) {
      return *result;
    }
  }
  return alltoallw(AtOnce(), everyone_in, PMPI_Alltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm);
}

int MPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(AtOnce(), neighbours_in, PMPI_Neighbor_allgather, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                   recvtype, comm);
}

int MPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv(AtOnce(), neighbours_in, PMPI_Neighbor_allgatherv, sendbuf, sendcount, sendtype, recvbuf,
                    recvcounts, displs, recvtype, comm);
}

int MPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                          MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(AtOnce(), neighbours_in, PMPI_Neighbor_alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                  recvtype, comm);
}

int MPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                           void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return alltoallv(AtOnce(), neighbours_in, PMPI_Neighbor_alltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                   recvcounts, rdispls, recvtype, comm);
}

int MPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw(AtOnce(), neighbours_in, PMPI_Neighbor_alltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                   recvcounts, rdispls, recvtypes, comm);
}

}  // extern "C"
