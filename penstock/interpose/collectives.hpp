// MPI's collectives with packed sides, each written once for the modes of transfer.hpp. `Call` is MPI's own function.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "penstock/interpose/library.hpp"
#include "penstock/interpose/packed_parts.hpp"
#include "penstock/interpose/packed_side.hpp"
#include "penstock/interpose/packed_w.hpp"
#include "penstock/interpose/partners.hpp"
#include "penstock/interpose/transfer.hpp"

namespace penstock::interpose {

/// Whether a collective of one group with these datatypes may be served at all.
inline bool may_serve(MPI_Datatype one, MPI_Datatype other, MPI_Comm comm) noexcept {
  return may_serve(one, other) && is_intracommunicator(comm);
}

/// Of one part, unless it is in place already.
template <class Mode>
EqualParts one_part_to_send(const void* buffer, int count, MPI_Datatype type) noexcept {
  return buffer == MPI_IN_PLACE ? EqualParts() : EqualParts::to_send(Mode::is_worth, buffer, 1, count, type);
}
template <class Mode>
EqualParts one_part_to_receive(const void* buffer, int count, MPI_Datatype type) noexcept {
  return buffer == MPI_IN_PLACE ? EqualParts() : EqualParts::to_receive(Mode::is_worth, buffer, 1, count, type);
}

// With a root. Only the root's arguments say what the root's side is.

template <class Mode, class Call>
int bcast(const Mode& mode, Call& call, void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  if (!may_serve(datatype, datatype, comm)) {
    return mode.call(call, buffer, count, datatype, root, comm);
  }
  Transfer<EqualParts, EqualParts> transfer{.from = buffer, .to = buffer, .sent = {}, .received = {}};
  EqualParts& side = rank_in(comm) == root ? transfer.sent : transfer.received;
  side = rank_in(comm) == root ? EqualParts::to_send(Mode::is_worth, buffer, 1, count, datatype)
                               : EqualParts::to_receive(Mode::is_worth, buffer, 1, count, datatype);
  return mode.run(transfer, call, side.buffer_or(buffer), count, side.datatype_or(datatype), root, comm);
}

template <class Mode, class Call>
int gather(const Mode& mode, Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype, comm)) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  Transfer<EqualParts, EqualParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = one_part_to_send<Mode>(sendbuf, sendcount, sendtype),
      .received = rank_in(comm) == root
                      ? EqualParts::to_receive(Mode::is_worth, recvbuf, size_of(comm), recvcount, recvtype)
                      : EqualParts(),
      .holds = sendbuf == MPI_IN_PLACE ? Holds::own_part : Holds::nothing,
      .own = rank_in(comm)};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcount, transfer.received.datatype_or(recvtype), root, comm);
}

template <class Mode, class Call>
int gatherv(const Mode& mode, Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype, comm)) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
  }
  Transfer<EqualParts, PackedParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = one_part_to_send<Mode>(sendbuf, sendcount, sendtype),
      .received = rank_in(comm) == root
                      ? PackedParts::to_receive(Mode::is_worth, recvbuf, size_of(comm), recvcounts, displs, recvtype)
                      : PackedParts(),
      .holds = sendbuf == MPI_IN_PLACE ? Holds::own_part : Holds::nothing,
      .own = rank_in(comm)};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcounts, transfer.received.displacements_or(displs),
                  transfer.received.datatype_or(recvtype), root, comm);
}

template <class Mode, class Call>
int scatter(const Mode& mode, Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
            int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype, comm)) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  Transfer<EqualParts, EqualParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = rank_in(comm) == root ? EqualParts::to_send(Mode::is_worth, sendbuf, size_of(comm), sendcount, sendtype)
                                    : EqualParts(),
      .received = one_part_to_receive<Mode>(recvbuf, recvcount, recvtype)};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcount, transfer.received.datatype_or(recvtype), root, comm);
}

template <class Mode, class Call>
int scatterv(const Mode& mode, Call& call, const void* sendbuf, const int sendcounts[], const int displs[],
             MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (!may_serve(sendtype, recvtype, comm)) {
    return mode.call(call, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
  }
  Transfer<PackedParts, EqualParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = rank_in(comm) == root
                  ? PackedParts::to_send(Mode::is_worth, sendbuf, size_of(comm), sendcounts, displs, sendtype)
                  : PackedParts(),
      .received = one_part_to_receive<Mode>(recvbuf, recvcount, recvtype)};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcounts, transfer.sent.displacements_or(displs),
                  transfer.sent.datatype_or(sendtype), transfer.received.buffer_or(recvbuf), recvcount,
                  transfer.received.datatype_or(recvtype), root, comm);
}

// Among partners: all ranks of a communicator, or the neighbours of a topology. `find` says who they are.

template <class Mode, class Call>
int allgather(const Mode& mode, FindPartners& find, Call& call, const void* sendbuf, int sendcount,
              MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const std::optional<Partners> partners = may_serve(sendtype, recvtype) ? find(comm) : std::nullopt;
  if (!partners) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  Transfer<EqualParts, EqualParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = one_part_to_send<Mode>(sendbuf, sendcount, sendtype),
      .received = EqualParts::to_receive(Mode::is_worth, recvbuf, partners->from, recvcount, recvtype),
      .holds = sendbuf == MPI_IN_PLACE ? Holds::own_part : partners->holds(),
      .own = partners->own};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcount, transfer.received.datatype_or(recvtype), comm);
}

template <class Mode, class Call>
int allgatherv(const Mode& mode, FindPartners& find, Call& call, const void* sendbuf, int sendcount,
               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
               MPI_Comm comm) {
  const std::optional<Partners> partners = may_serve(sendtype, recvtype) ? find(comm) : std::nullopt;
  if (!partners) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
  }
  Transfer<EqualParts, PackedParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = one_part_to_send<Mode>(sendbuf, sendcount, sendtype),
      .received = PackedParts::to_receive(Mode::is_worth, recvbuf, partners->from, recvcounts, displs, recvtype),
      .holds = sendbuf == MPI_IN_PLACE ? Holds::own_part : partners->holds(),
      .own = partners->own};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcounts, transfer.received.displacements_or(displs),
                  transfer.received.datatype_or(recvtype), comm);
}

template <class Mode, class Call>
int alltoall(const Mode& mode, FindPartners& find, Call& call, const void* sendbuf, int sendcount,
             MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const std::optional<Partners> partners = may_serve(sendtype, recvtype) ? find(comm) : std::nullopt;
  if (!partners) {
    return mode.call(call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  Transfer<EqualParts, EqualParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent =
          is_in_place ? EqualParts() : EqualParts::to_send(Mode::is_worth, sendbuf, partners->to, sendcount, sendtype),
      .received = EqualParts::to_receive(Mode::is_worth, recvbuf, partners->from, recvcount, recvtype),
      .holds = is_in_place ? Holds::all_parts : partners->holds()};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcount, transfer.sent.datatype_or(sendtype),
                  transfer.received.buffer_or(recvbuf), recvcount, transfer.received.datatype_or(recvtype), comm);
}

template <class Mode, class Call>
int alltoallv(const Mode& mode, FindPartners& find, Call& call, const void* sendbuf, const int sendcounts[],
              const int sdispls[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
              MPI_Datatype recvtype, MPI_Comm comm) {
  const std::optional<Partners> partners = may_serve(sendtype, recvtype) ? find(comm) : std::nullopt;
  if (!partners) {
    return mode.call(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  Transfer<PackedParts, PackedParts> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = is_in_place ? PackedParts()
                          : PackedParts::to_send(Mode::is_worth, sendbuf, partners->to, sendcounts, sdispls, sendtype),
      .received = PackedParts::to_receive(Mode::is_worth, recvbuf, partners->from, recvcounts, rdispls, recvtype),
      .holds = is_in_place ? Holds::all_parts : partners->holds()};
  return mode.run(transfer, call, transfer.sent.buffer_or(sendbuf), sendcounts, transfer.sent.displacements_or(sdispls),
                  transfer.sent.datatype_or(sendtype), transfer.received.buffer_or(recvbuf), recvcounts,
                  transfer.received.displacements_or(rdispls), transfer.received.datatype_or(recvtype), comm);
}

/// `Displacement` is int among all ranks, MPI_Aint among neighbours.
template <class Mode, class Call, class Displacement>
int alltoallw(const Mode& mode, FindPartners& find, Call& call, const void* sendbuf, const int sendcounts[],
              const Displacement sdispls[], const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
              const Displacement rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  using Packed = PackedW<Displacement>;
  const std::optional<Partners> partners = find(comm);
  if (!partners) {
    return mode.call(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
  }
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  const WSide<Displacement> from = side_to_send(sendbuf, sendcounts, sdispls, sendtypes);
  const WSide<Displacement> to{recvbuf, recvcounts, rdispls, recvtypes};
  const Holds holds = is_in_place ? Holds::all_parts : partners->holds();
  Transfer<Packed, Packed> transfer{
      .from = sendbuf,
      .to = recvbuf,
      .sent = is_in_place ? Packed() : Packed::to_send(Mode::is_worth, from, partners->to),
      .received = Packed::to_receive(Mode::is_worth, to, partners->from, holds != Holds::nothing),
      .holds = holds};
  const WSide<Displacement> sent = transfer.sent.side_or(from);
  const WSide<Displacement> received = transfer.received.side_or(to);
  return mode.run(transfer, call, sent.buffer, sent.counts, sent.displacements, sent.datatypes, received.buffer,
                  received.counts, received.displacements, received.datatypes, comm);
}

}  // namespace penstock::interpose
