// MPI's collectives with a root: broadcast, gather, scatter. Only the root's arguments say what the root's side is.
#include <mpi.h>

#include "penstock/interpose/library.hpp"
#include "penstock/interpose/packed_parts.hpp"
#include "penstock/interpose/packed_side.hpp"

using namespace penstock::interpose;

extern "C" {

int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  if (Library::get().types.find(datatype) == nullptr || !is_intracommunicator(comm)) {
    return PMPI_Bcast(buffer, count, datatype, root, comm);
  }
  const bool is_root = rank_in(comm) == root;
  PackedSide side = is_root ? PackedSide::to_send(buffer, count, count, datatype)
                            : PackedSide::to_receive(buffer, count, count, datatype);
  if (!side.is_served()) {
    return PMPI_Bcast(buffer, count, datatype, root, comm);
  }
  if (is_root) {
    side.pack(buffer, 0, 0, count);
  }
  const int result = PMPI_Bcast(side.buffer(), count, side.datatype(), root, comm);
  if (!is_root && result == MPI_SUCCESS) {
    side.unpack(buffer, 0, 0, count);
  }
  return result;
}

int MPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  const int rank = rank_in(comm);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  PackedSide sent = is_in_place ? PackedSide() : PackedSide::to_send(sendbuf, sendcount, sendcount, sendtype);
  PackedSide received;
  const std::int64_t all = rank == root ? std::int64_t{recvcount} * size_of(comm) : 0;
  if (rank == root) {
    received = PackedSide::to_receive(recvbuf, all, recvcount, recvtype);
  }
  if (sent.is_served()) {
    sent.pack(sendbuf, 0, 0, sendcount);
    sendbuf = sent.buffer();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  if (is_in_place) {
    const std::int64_t own = std::int64_t{rank} * recvcount;
    received.pack(recvbuf, own, own, recvcount);
  }
  const int result =
      PMPI_Gather(sendbuf, sendcount, sendtype, received.buffer(), recvcount, received.datatype(), root, comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf, 0, 0, all);
  }
  return result;
}

int MPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  }
  const int rank = rank_in(comm);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  PackedSide sent = is_in_place ? PackedSide() : PackedSide::to_send(sendbuf, sendcount, sendcount, sendtype);
  PackedParts received;
  if (rank == root) {
    received = PackedParts::to_receive(recvbuf, size_of(comm), recvcounts, displs, recvtype);
  }
  if (sent.is_served()) {
    sent.pack(sendbuf, 0, 0, sendcount);
    sendbuf = sent.buffer();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  }
  if (is_in_place) {
    received.pack(recvbuf, rank);
  }
  const int result = PMPI_Gatherv(sendbuf, sendcount, sendtype, received.buffer(), recvcounts, received.displacements(),
                                  received.datatype(), root, comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf);
  }
  return result;
}

int MPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  PackedSide sent;
  if (rank_in(comm) == root) {
    const std::int64_t all = std::int64_t{sendcount} * size_of(comm);
    sent = PackedSide::to_send(sendbuf, all, sendcount, sendtype);
    if (sent.is_served()) {
      sent.pack(sendbuf, 0, 0, all);
      sendbuf = sent.buffer();
      sendtype = sent.datatype();
    }
  }
  PackedSide received =
      recvbuf == MPI_IN_PLACE ? PackedSide() : PackedSide::to_receive(recvbuf, recvcount, recvcount, recvtype);
  if (!received.is_served()) {
    return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  const int result =
      PMPI_Scatter(sendbuf, sendcount, sendtype, received.buffer(), recvcount, received.datatype(), root, comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf, 0, 0, recvcount);
  }
  return result;
}

int MPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  PackedParts sent;
  if (rank_in(comm) == root) {
    sent = PackedParts::to_send(sendbuf, size_of(comm), sendcounts, displs, sendtype);
    if (sent.is_served()) {
      sent.pack(sendbuf);
      sendbuf = sent.buffer();
      displs = sent.displacements();
      sendtype = sent.datatype();
    }
  }
  PackedSide received =
      recvbuf == MPI_IN_PLACE ? PackedSide() : PackedSide::to_receive(recvbuf, recvcount, recvcount, recvtype);
  if (!received.is_served()) {
    return PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  const int result = PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, received.buffer(), recvcount,
                                   received.datatype(), root, comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf, 0, 0, recvcount);
  }
  return result;
}

}  // extern "C"
