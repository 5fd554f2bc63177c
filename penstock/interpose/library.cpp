#include "penstock/interpose/library.hpp"

#include <exception>
#include <memory>
#include <utility>

#include "penstock/datatype/datatype.hpp"

namespace penstock::interpose {
namespace {

// What is packed ahead is held twice for a while, and beyond the caches each pass over it costs as much as the message.
constexpr std::int64_t max_packed_bytes = std::int64_t{64} << 20;

// MPI's own engines copy longer runs than these as fast as memory does, and overlap packing with unpacking: measured on
// a Zen 5 server, 2026-11, with runs of 8 bytes to 16 KiB.
constexpr std::int64_t longest_packed_run_bytes = 512;

// An absolute address in a datatype, for use with MPI_BOTTOM, lies above the first page.
constexpr std::int64_t min_address = 4096;

bool may_be_packed(const Type& type, std::int64_t count) noexcept {
  return type.bytes() <= max_packed_bytes / count;
}

}  // namespace

Library::Library() : mode(mode_from_environment()), types(mode == Mode::stats ? &tallies : nullptr) {}

Library& Library::make() noexcept {
  return *std::make_unique<Library>().release();
}

Type* find_mover_type(const void* buffer, int count, MPI_Datatype datatype) noexcept {
  Type* type = Library::get().types.find(datatype);
  if (type == nullptr || count <= 0 || type->is_contiguous(count)) {
    return nullptr;
  }
  if (buffer == nullptr && type->lower_bound() < min_address) {
    return nullptr;
  }
  return type;
}

bool are_plain_bytes(MPI_Datatype datatype, int& bytes) noexcept {
  if (datatype == MPI_DATATYPE_NULL) {
    return false;
  }
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  return datatype::combiner_of(datatype) == MPI_COMBINER_NAMED && PMPI_Type_size(datatype, &bytes) == MPI_SUCCESS &&
         PMPI_Type_get_extent(datatype, &lower_bound, &extent) == MPI_SUCCESS && lower_bound == 0 && extent == bytes;
}

std::optional<layout::Layout> elements_of(const void* buffer, int count, MPI_Datatype datatype) {
  if (count == 0) {
    return layout::Layout();
  }
  const Type* const type = Library::get().types.find(datatype);
  const std::int64_t lower_bound = type != nullptr ? type->lower_bound() : 0;
  if (count < 0 || (buffer == nullptr && lower_bound < min_address)) {
    return std::nullopt;
  }
  if (type != nullptr) {
    return type->elements(count);
  }
  int bytes = 0;
  if (!are_plain_bytes(datatype, bytes)) {
    return std::nullopt;
  }
  return layout::Layout::contiguous(std::int64_t{bytes} * count);
}

bool is_worth_packing(const Type& type, std::int64_t count) noexcept {
  if (!may_be_packed(type, count)) {
    return false;
  }
#ifdef OPEN_MPI
  // Its engine takes some 6 ns a run, and few runs cost less than our own way round.
  constexpr std::int64_t fewest_runs = 8;
  return type.run_bytes() <= longest_packed_run_bytes && type.bytes() * count >= fewest_runs * type.run_bytes();
#else
  // MPICH over UCX packs short messages in small steps, whatever their runs.
  return type.run_bytes() <= longest_packed_run_bytes || type.bytes() * count <= WireTypes::max_eager_bytes;
#endif
}

bool is_worth_packing_collectively(const Type& type, std::int64_t count) noexcept {
#ifdef OPEN_MPI
  return is_worth_packing(type, count);
#else
  // Whatever the runs: an all-to-all of rows of 2 to 12 KiB gains a tenth to a quarter.
  return may_be_packed(type, count);
#endif
}

bool may_serve(MPI_Datatype one, MPI_Datatype other) noexcept {
  TypeTable& types = Library::get().types;
  return types.find(one) != nullptr || types.find(other) != nullptr;
}

Type* find_packer(const void* buffer, int count, MPI_Datatype datatype) noexcept {
  Type* type = find_mover_type(buffer, count, datatype);
  return type != nullptr && type->can_pack(count) ? type : nullptr;
}

Type* find_unpacker(const void* buffer, int count, MPI_Datatype datatype) noexcept {
  Type* type = find_mover_type(buffer, count, datatype);
  return type != nullptr && type->can_unpack(count) ? type : nullptr;
}

Type* find_sender(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept {
  Type* type = destination >= 0 ? find_packer(buffer, count, datatype) : nullptr;
  return type != nullptr && is_worth_packing(*type, count) ? type : nullptr;
}

Type* find_receiver(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept {
  Type* type = source >= 0 || source == MPI_ANY_SOURCE ? find_unpacker(buffer, count, datatype) : nullptr;
  return type != nullptr && is_worth_packing(*type, count) ? type : nullptr;
}

std::optional<Message> make_message(Type& type, int count) noexcept {
  try {
    Library& library = Library::get();
    return Message(library.bounces, library.wire_types, type, count);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<Message> pack_message(const void* buffer, int count, MPI_Datatype datatype, int destination) noexcept {
  Type* type = find_sender(buffer, count, datatype, destination);
  std::optional<Message> message = type != nullptr ? make_message(*type, count) : std::nullopt;
  if (message) {
    message->pack(*type, buffer);
  }
  return message;
}

std::optional<Receiving> expect_message(const void* buffer, int count, MPI_Datatype datatype, int source) noexcept {
  Type* type = find_receiver(buffer, count, datatype, source);
  std::optional<Message> message = type != nullptr ? make_message(*type, count) : std::nullopt;
  if (!message) {
    return std::nullopt;
  }
  return Receiving{std::move(*message), type};
}

}  // namespace penstock::interpose
