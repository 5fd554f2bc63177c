// The state of the preloaded library, and which calls it serves.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/message.hpp"
#include "penstock/interpose/presence.hpp"
#include "penstock/interpose/requests.hpp"
#include "penstock/interpose/settings.hpp"
#include "penstock/interpose/tallies.hpp"
#include "penstock/interpose/type_table.hpp"
#include "penstock/interpose/windows.hpp"
#include "penstock/interpose/wire_types.hpp"

namespace penstock::interpose {

/// The state that the wrappers of MPI's functions share. There is one in a process, as MPI's functions take no object
/// of ours.
struct Library {
  Library();

  /// Made at the first use, never destroyed: MPI may be called until the very end of the process.
  static Library& get() noexcept {
    static Library& library = make();
    return library;
  }

  const Mode mode;
  Tallies tallies;
  TypeTable types;
  Bounces bounces;
  WireTypes wire_types;
  Requests requests;
  Windows windows;
  Presence presence;

 private:
  static Library& make() noexcept;
};

/// The type of `count` elements at `buffer`, if they are not contiguous; nullptr where MPI has to serve the call or to
/// report an error.
Type* find_mover_type(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// Whether elements of `datatype` are so many contiguous bytes, one after the other from the buffer's address; false
/// where MPI does not say.
bool are_plain_bytes(MPI_Datatype datatype, int& bytes) noexcept;

/// The bytes of `count` elements at `buffer`, contiguous or not; nothing where MPI has to serve the call or to report
/// an error. Throws Error beyond the limits of Layout.
std::optional<layout::Layout> elements_of(const void* buffer, int count, MPI_Datatype datatype);

/// Whether `count` elements are better packed beforehand than given to MPI as they are, by the length of their runs and
/// their bytes: in messages, and in a rank's side of a blocking collective call.
using Worth = bool(const Type& type, std::int64_t count) noexcept;
Worth is_worth_packing;
Worth is_worth_packing_collectively;

/// Whether a call with these datatypes may be served at all; costs hardly anything.
bool may_serve(MPI_Datatype one, MPI_Datatype other) noexcept;

/// The type that packs `count` elements at `buffer` faster than MPI does. nullptr where MPI itself should serve the
/// call, which includes all calls that MPI may report an error for.
Type* find_packer(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// As find_packer, for unpacking.
Type* find_unpacker(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// As find_packer and find_unpacker, for messages between two ranks. There MPI overlaps packing with unpacking when it
/// sends a datatype itself, which is faster than packing beforehand where runs are long.
Type* find_sender(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept;
Type* find_receiver(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept;

/// A message with room for `count` elements; nothing where there is no memory.
std::optional<Message> make_message(Type& type, int count) noexcept;

/// Blocking calls pack messages of up to this length into buffers on the stack. Messages of this length never travel
/// gapped.
inline constexpr std::int64_t max_bytes_on_stack = WireTypes::max_eager_bytes;

/// The packed message of a send that is served; nothing for any other send.
std::optional<Message> pack_message(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept;

/// A message for a receive that is served, and its type; nothing for any other receive.
struct Receiving {
  Message message;
  Type* type;
};
std::optional<Receiving> expect_message(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept;

}  // namespace penstock::interpose
