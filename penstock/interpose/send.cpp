// MPI's sends, with datatypes packed by movers.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

using Send = int(const void*, int, MPI_Datatype, int, int, MPI_Comm);
using StartSend = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

int send(Send& call, const void* buffer, int count, MPI_Datatype datatype, int destination, int tag, MPI_Comm comm) {
  Type* const type = find_sender(buffer, count, datatype, destination);
  if (type == nullptr) {
    return call(buffer, count, datatype, destination, tag, comm);
  }
  const std::int64_t bytes = type->bytes() * count;
  if (bytes <= max_bytes_on_stack) {
    alignas(64) std::byte packed[max_bytes_on_stack];
    type->pack(count, buffer, packed);
    return call(packed, static_cast<int>(bytes), MPI_PACKED, destination, tag, comm);
  }
  std::optional<Message> message = make_message(*type, count);
  if (!message) {
    return call(buffer, count, datatype, destination, tag, comm);
  }
  message->pack(*type, buffer);
  return call(message->buffer(), message->count(), message->datatype(), destination, tag, comm);
}

int start_send(StartSend& call, const void* buffer, int count, MPI_Datatype type, int destination, int tag,
               MPI_Comm comm, MPI_Request* request) {
  std::optional<Message> message = pack_message(buffer, count, type, destination);
  if (!message) {
    return call(buffer, count, type, destination, tag, comm, request);
  }
  const int status = call(message->buffer(), message->count(), message->datatype(), destination, tag, comm, request);
  if (status != MPI_SUCCESS) {
    return status;
  }
  // Short messages are mostly gone by now, and MPICH gives all of these one handle.
  int is_complete = 0;
  PMPI_Request_get_status(*request, &is_complete, MPI_STATUS_IGNORE);
  if (is_complete == 0) {
    Library::get().requests.add(*request,
                                std::make_unique<PendingMessage>(std::move(*message), PendingMessage::Side::send));
  }
  return status;
}

}  // namespace
}  // namespace penstock::interpose

using penstock::interpose::send;
using penstock::interpose::start_send;

extern "C" {

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Send, buf, count, datatype, dest, tag, comm);
}

int MPI_Bsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Bsend, buf, count, datatype, dest, tag, comm);
}

int MPI_Ssend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Ssend, buf, count, datatype, dest, tag, comm);
}

int MPI_Rsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  return send(PMPI_Rsend, buf, count, datatype, dest, tag, comm);
}

int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return start_send(PMPI_Isend, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Ibsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return start_send(PMPI_Ibsend, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Issend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return start_send(PMPI_Issend, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Irsend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return start_send(PMPI_Irsend, buf, count, datatype, dest, tag, comm, request);
}

}  // extern "C"
