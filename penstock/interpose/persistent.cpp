// MPI's persistent requests, with datatypes packed at each start and unpacked at each completion; freeing of requests.
#include <mpi.h>

#include <memory>
#include <optional>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

using InitSend = int(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

void add(MPI_Request request, Message message, Type& type, void* user, PendingMessage::Side side) {
  auto pending = std::make_unique<PendingMessage>(std::move(message), side);
  pending->type = type.shared_from_this();
  pending->user = user;
  pending->is_persistent = true;
  pending->is_active = false;
  Library::get().requests.add(request, std::move(pending));
}

int init_send(InitSend& call, const void* buffer, int count, MPI_Datatype datatype, int destination, int tag,
              MPI_Comm comm, MPI_Request* request) {
  Type* type = find_sender(buffer, count, datatype, destination);
  std::optional<Message> message = type != nullptr ? make_message(*type, count) : std::nullopt;
  if (!message) {
    return call(buffer, count, datatype, destination, tag, comm, request);
  }
  const int result = call(message->buffer(), message->count(), message->datatype(), destination, tag, comm, request);
  if (result == MPI_SUCCESS) {
    // Only read through: MPI's own handle has no const either.
    add(*request, std::move(*message), *type, const_cast<void*>(buffer), PendingMessage::Side::send);
  }
  return result;
}

void prepare_start(MPI_Request request) {
  Pending* pending = Library::get().requests.find(request);
  if (pending != nullptr) {
    pending->pack();
    pending->is_active = true;
  }
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

extern "C" {

int MPI_Send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return init_send(PMPI_Send_init, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Bsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return init_send(PMPI_Bsend_init, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Ssend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return init_send(PMPI_Ssend_init, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Rsend_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return init_send(PMPI_Rsend_init, buf, count, datatype, dest, tag, comm, request);
}

int MPI_Recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  std::optional<Receiving> receiving = expect_message(buf, count, datatype, source);
  if (!receiving) {
    return PMPI_Recv_init(buf, count, datatype, source, tag, comm, request);
  }
  Message& message = receiving->message;
  const int result = PMPI_Recv_init(message.buffer(), message.count(), message.datatype(), source, tag, comm, request);
  if (result == MPI_SUCCESS) {
    add(*request, std::move(message), *receiving->type, buf, PendingMessage::Side::receive);
  }
  return result;
}

int MPI_Start(MPI_Request* request) {
  prepare_start(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (!Library::get().requests.is_empty()) {
    for (int i = 0; i < count; ++i) {
      prepare_start(requests[i]);
    }
  }
  return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
  Requests& requests = Library::get().requests;
  std::unique_ptr<Pending> pending = request != nullptr ? requests.take(*request) : nullptr;
  if (pending == nullptr || !pending->is_active) {
    return PMPI_Request_free(request);
  }
  requests.orphan(std::move(pending));
  *request = MPI_REQUEST_NULL;
  requests.tend_orphans();
  return MPI_SUCCESS;
}

}  // extern "C"
