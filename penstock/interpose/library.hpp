// The state of the preloaded library, and which calls it serves.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "penstock/interpose/bounce.hpp"
#include "penstock/interpose/message.hpp"
#include "penstock/interpose/requests.hpp"
#include "penstock/interpose/settings.hpp"
#include "penstock/interpose/tallies.hpp"
#include "penstock/interpose/type_table.hpp"
#include "penstock/interpose/windows.hpp"
#include "penstock/interpose/wire_types.hpp"

namespace penstock::interpose {

/// What the wrappers of MPI's functions share. One for the process, as MPI's functions have nothing to hang it on.
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

 private:
  static Library& make() noexcept;
};

/// The type of `count` elements at `buffer` that are not contiguous; nullptr for what MPI has to serve or to complain
/// of.
Type* find_mover_type(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// Whether so many elements are better packed ahead than given to MPI as they are, by the length of their runs and by
/// their bytes: in a message, and in a rank's side of a collective.
bool is_worth_packing(const Type& type, std::int64_t count) noexcept;
bool is_worth_packing_collectively(const Type& type, std::int64_t count) noexcept;

/// Whether a call with these datatypes may be served at all; costs next to nothing.
bool may_serve(MPI_Datatype one, MPI_Datatype other) noexcept;

/// The type that packs `count` elements at `buffer` faster than MPI; nullptr where MPI itself should serve the call,
/// which includes all that MPI may have to complain of.
Type* find_packer(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// The same for unpacking.
Type* find_unpacker(const void* buffer, int count, MPI_Datatype datatype) noexcept;

/// As above for messages between two ranks: MPI's own way of sending a datatype overlaps packing with unpacking, which
/// is faster than packing ahead where runs are long.
Type* find_sender(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept;
Type* find_receiver(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept;

/// Room for a message of `count` elements; nothing where there is no memory.
std::optional<Message> make_message(Type& type, int count) noexcept;

/// Blocking calls pack messages of up to so many bytes, which never travel gapped, into buffers on the stack.
inline constexpr std::int64_t max_bytes_on_stack = WireTypes::max_eager_bytes;

/// The packed message of a send that is served, and nothing for any other.
std::optional<Message> pack_message(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept;

/// Room for the message of a receive that is served, and nothing for any other.
struct Receiving {
  Message message;
  Type* type;
};
std::optional<Receiving> expect_message(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept;

}  // namespace penstock::interpose
