// MPI_Pack and MPI_Unpack by movers. The packed form is MPI's own for ranks of one architecture: the bytes in order.
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
namespace {

/// Whether `bytes` more fit behind `position` in a buffer of `size` bytes; where not, MPI shall say so.
bool fits(std::int64_t bytes, const int* position, int size) noexcept {
  return position != nullptr && *position >= 0 && *position + bytes <= size;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

extern "C" {

int MPI_Pack(const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf, int outsize, int* position,
             MPI_Comm comm) {
  Type* const type = find_packer(inbuf, incount, datatype);
  if (type == nullptr || outbuf == nullptr || !fits(type->bytes() * incount, position, outsize)) {
    return PMPI_Pack(inbuf, incount, datatype, outbuf, outsize, position, comm);
  }
  if (comm != MPI_COMM_WORLD) {
    int nothing = *position;  // packed, so that MPI checks the communicator
    const int result = PMPI_Pack(inbuf, 0, datatype, outbuf, outsize, &nothing, comm);
    if (result != MPI_SUCCESS) {
      return result;
    }
  }
  type->pack(incount, inbuf, static_cast<std::byte*>(outbuf) + *position);
  *position += static_cast<int>(type->bytes() * incount);
  return MPI_SUCCESS;
}

int MPI_Unpack(const void* inbuf, int insize, int* position, void* outbuf, int outcount, MPI_Datatype datatype,
               MPI_Comm comm) {
  Type* const type = find_unpacker(outbuf, outcount, datatype);
  if (type == nullptr || inbuf == nullptr || !fits(type->bytes() * outcount, position, insize)) {
    return PMPI_Unpack(inbuf, insize, position, outbuf, outcount, datatype, comm);
  }
  if (comm != MPI_COMM_WORLD) {
    int nothing = *position;  // unpacked, so that MPI checks the communicator
    const int result = PMPI_Unpack(inbuf, insize, &nothing, outbuf, 0, datatype, comm);
    if (result != MPI_SUCCESS) {
      return result;
    }
  }
  const std::int64_t bytes = type->bytes() * outcount;
  type->unpack(outcount, static_cast<const std::byte*>(inbuf) + *position, outbuf, bytes);
  *position += static_cast<int>(bytes);
  return MPI_SUCCESS;
}

}  // extern "C"
