// MPI's receives, also of probed messages and together with a send, with datatypes unpacked by movers.
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

/// Calls `receive(buffer, count, datatype, status)` on what stands for the user's buffer, and unpacks.
template <class Receive>
int receive(void* buffer, int count, MPI_Datatype datatype, int source, MPI_Status* status, Receive call) {
  const OrphanTender tender(Library::get().requests);
  Type* const type = find_receiver(buffer, count, datatype, source);
  if (type == nullptr) {
    return call(buffer, count, datatype, status);
  }
  MPI_Status own;
  MPI_Status* const seen = status != MPI_STATUS_IGNORE ? status : &own;
  const std::int64_t bytes = type->bytes() * count;
  if (bytes <= max_bytes_on_stack) {
    alignas(64) std::byte packed[max_bytes_on_stack];
    const int result = call(packed, static_cast<int>(bytes), MPI_PACKED, seen);
    if (has_received(result)) {
      type->unpack(count, packed, buffer, std::min(bytes, received_bytes(*seen)));
    }
    return result;
  }
  std::optional<Message> message = make_message(*type, count);
  if (!message) {
    return call(buffer, count, datatype, status);
  }
  const int result = call(message->buffer(), message->count(), message->datatype(), seen);
  if (has_received(result)) {
    message->unpack(*type, buffer, received_bytes(*seen));
  }
  return result;
}

/// Calls `start(buffer, count, datatype)` on what stands for the user's buffer, and notes to unpack on completion.
template <class Start>
int start_receive(void* buffer, int count, MPI_Datatype type, int source, MPI_Request* request, Start call) {
  std::optional<Receiving> receiving = expect_message(buffer, count, type, source);
  if (!receiving) {
    return call(buffer, count, type);
  }
  Message& message = receiving->message;
  const int result = call(message.buffer(), message.count(), message.datatype());
  if (result == MPI_SUCCESS) {
    auto pending = std::make_unique<PendingMessage>(std::move(message), PendingMessage::Side::receive);
    pending->type = receiving->type->shared_from_this();
    pending->user = buffer;
    Library::get().requests.add(*request, std::move(pending));
  }
  return result;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

extern "C" {

int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return receive(buf, count, datatype, source, status, [&](void* to, int n, MPI_Datatype type, MPI_Status* seen) {
    return PMPI_Recv(to, n, type, source, tag, comm, seen);
  });
}

int MPI_Mrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  const int source = *message == MPI_MESSAGE_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE;
  return receive(buf, count, datatype, source, status, [&](void* to, int n, MPI_Datatype type, MPI_Status* seen) {
    return PMPI_Mrecv(to, n, type, message, seen);
  });
}

int MPI_Irecv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return start_receive(buf, count, datatype, source, request, [&](void* to, int n, MPI_Datatype type) {
    return PMPI_Irecv(to, n, type, source, tag, comm, request);
  });
}

int MPI_Imrecv(void* buf, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  const int source = *message == MPI_MESSAGE_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE;
  return start_receive(buf, count, datatype, source, request,
                       [&](void* to, int n, MPI_Datatype type) { return PMPI_Imrecv(to, n, type, message, request); });
}

int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  const std::optional<Message> sent = pack_message(sendbuf, sendcount, sendtype, dest);
  const void* const from = sent ? sent->buffer() : sendbuf;
  const int sent_count = sent ? sent->count() : sendcount;
  const MPI_Datatype sent_type = sent ? sent->datatype() : sendtype;
  return receive(
      recvbuf, recvcount, recvtype, source, status, [&](void* to, int n, MPI_Datatype type, MPI_Status* seen) {
        return PMPI_Sendrecv(from, sent_count, sent_type, dest, sendtag, to, n, type, source, recvtag, comm, seen);
      });
}

int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status* status) {
  // One buffer both ways, so that both have to be served.
  const std::optional<Message> sent = pack_message(buf, count, datatype, dest);
  if (!sent) {
    return PMPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
  }
  return receive(buf, count, datatype, source, status, [&](void* to, int n, MPI_Datatype type, MPI_Status* seen) {
    return PMPI_Sendrecv(sent->buffer(), sent->count(), sent->datatype(), dest, sendtag, to, n, type, source, recvtag,
                         comm, seen);
  });
}

}  // extern "C"
