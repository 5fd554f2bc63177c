// A message of packed bytes, which MPI gets in place of the user's buffer, count and datatype.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/type.hpp"
#include "penstock/interpose/wire_types.hpp"

namespace penstock::interpose {

/// The packed form of `count` elements of a type, in a buffer on loan. Movable, not copyable.
class Message {
 public:
  Message() = default;
  /// Room for `count` elements of `type`. Throws Error without memory.
  Message(Bounces& bounces, WireTypes& wire_types, Type& type, int count);

  /// The arguments for MPI.
  void* buffer() const noexcept { return memory_.data(); }
  int count() const noexcept { return wire_count_; }
  MPI_Datatype datatype() const noexcept { return wire_type_; }

  /// Fills the buffer from the user's elements.
  void pack(Type& type, const void* user) noexcept;

  /// Unpacks the first `received` bytes of the message to the user's elements, at most the bytes that the message has.
  void unpack(Type& type, void* user, std::int64_t received) noexcept;

 private:
  Bounce memory_;
  std::int64_t bytes_ = 0;
  int elements_ = 0;
  bool has_gap_ = false;
  int wire_count_ = 0;
  MPI_Datatype wire_type_ = MPI_DATATYPE_NULL;
};

}  // namespace penstock::interpose
