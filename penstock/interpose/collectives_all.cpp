// MPI's collectives in which every rank has a part for every other: allgather and alltoall.
#include <mpi.h>

#include <optional>

#include "penstock/interpose/library.hpp"
#include "penstock/interpose/node_exchange.hpp"
#include "penstock/interpose/packed_parts.hpp"
#include "penstock/interpose/packed_side.hpp"
#include "penstock/interpose/packed_w.hpp"

using namespace penstock::interpose;

extern "C" {

int MPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const std::int64_t all = std::int64_t{recvcount} * size_of(comm);
  PackedSide sent = is_in_place ? PackedSide() : PackedSide::to_send(sendbuf, sendcount, sendcount, sendtype);
  PackedSide received = PackedSide::to_receive(recvbuf, all, recvcount, recvtype);
  if (sent.is_served()) {
    sent.pack(sendbuf, 0, 0, sendcount);
    sendbuf = sent.buffer();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  if (is_in_place) {
    const std::int64_t own = std::int64_t{rank_in(comm)} * recvcount;
    received.pack(recvbuf, own, own, recvcount);
  }
  const int result =
      PMPI_Allgather(sendbuf, sendcount, sendtype, received.buffer(), recvcount, received.datatype(), comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf, 0, 0, all);
  }
  return result;
}

int MPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                   const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  PackedSide sent = is_in_place ? PackedSide() : PackedSide::to_send(sendbuf, sendcount, sendcount, sendtype);
  PackedParts received = PackedParts::to_receive(recvbuf, size_of(comm), recvcounts, displs, recvtype);
  if (sent.is_served()) {
    sent.pack(sendbuf, 0, 0, sendcount);
    sendbuf = sent.buffer();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  }
  if (is_in_place) {
    received.pack(recvbuf, rank_in(comm));
  }
  const int result = PMPI_Allgatherv(sendbuf, sendcount, sendtype, received.buffer(), recvcounts,
                                     received.displacements(), received.datatype(), comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf);
  }
  return result;
}

int MPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const int ranks = size_of(comm);
  const std::int64_t all_sent = std::int64_t{sendcount} * ranks;
  const std::int64_t all_received = std::int64_t{recvcount} * ranks;
  PackedSide sent = is_in_place ? PackedSide() : PackedSide::to_send(sendbuf, all_sent, sendcount, sendtype);
  PackedSide received = PackedSide::to_receive(recvbuf, all_received, recvcount, recvtype);
  if (sent.is_served()) {
    sent.pack(sendbuf, 0, 0, all_sent);
    sendbuf = sent.buffer();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  if (is_in_place) {
    received.pack(recvbuf, 0, 0, all_received);
  }
  const int result =
      PMPI_Alltoall(sendbuf, sendcount, sendtype, received.buffer(), recvcount, received.datatype(), comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf, 0, 0, all_received);
  }
  return result;
}

int MPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                  void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype) || !is_intracommunicator(comm)) {
    return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const int ranks = size_of(comm);
  PackedParts sent;
  if (!is_in_place) {
    sent = PackedParts::to_send(sendbuf, ranks, sendcounts, sdispls, sendtype);
  }
  PackedParts received = PackedParts::to_receive(recvbuf, ranks, recvcounts, rdispls, recvtype);
  if (sent.is_served()) {
    sent.pack(sendbuf);
    sendbuf = sent.buffer();
    sdispls = sent.displacements();
    sendtype = sent.datatype();
  }
  if (!received.is_served()) {
    return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  }
  if (is_in_place) {
    received.pack(recvbuf);
  }
  const int result = PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, received.buffer(), recvcounts,
                                    received.displacements(), received.datatype(), comm);
  if (result == MPI_SUCCESS) {
    received.unpack(recvbuf);
  }
  return result;
}

int MPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
                  void* recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
                  MPI_Comm comm) {
  const WSide users_from{const_cast<void*>(sendbuf), sendcounts, sdispls, sendtypes};  // only read through
  const WSide users_to{recvbuf, recvcounts, rdispls, recvtypes};
  if (!is_intracommunicator(comm)) {
    return call_mpi(users_from, users_to, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  NodeExchange* const exchange = is_in_place ? nullptr : NodeExchange::of(comm);
  if (exchange != nullptr) {
    if (const std::optional<int> result = exchange->run(users_from, users_to)) {
      return *result;
    }
  }
  const int ranks = size_of(comm);
  PackedW sent = is_in_place ? PackedW() : PackedW::to_send(users_from, ranks);
  PackedW received = PackedW::to_receive(users_to, ranks, is_in_place);
  if (sent.is_served()) {
    sent.pack(sendbuf);
  }
  if (received.is_served() && is_in_place) {
    received.pack(recvbuf);
  }
  const int result =
      call_mpi(sent.is_served() ? sent.side() : users_from, received.is_served() ? received.side() : users_to, comm);
  if (received.is_served() && result == MPI_SUCCESS) {
    received.unpack(recvbuf);
  }
  return result;
}

}  // extern "C"
