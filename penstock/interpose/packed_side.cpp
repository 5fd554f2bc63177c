#include "penstock/interpose/packed_side.hpp"

#include <exception>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {

PackedSide PackedSide::make(Worth& is_worth, Type* type, std::int64_t count) noexcept {
  PackedSide side;
  if (type == nullptr || !is_worth(*type, count)) {
    return side;
  }
  try {
    Library& library = Library::get();
    side.twin_ = library.wire_types.contiguous(type->bytes());
    if (side.twin_ != MPI_DATATYPE_NULL) {
      side.packed_ = library.bounces.lend(type->bytes() * count);
      side.type_ = type->shared_from_this();
    }
  } catch (const std::exception&) {
    side.type_ = nullptr;  // no memory to pack into
  }
  return side;
}

PackedSide PackedSide::to_send(Worth& is_worth, const void* user, std::int64_t count, int part_count,
                               MPI_Datatype datatype) noexcept {
  Type* const type = find_packer(user, part_count, datatype);
  return type != nullptr && type->can_pack(count) ? make(is_worth, type, count) : PackedSide();
}

PackedSide PackedSide::to_receive(Worth& is_worth, const void* user, std::int64_t count, int part_count,
                                  MPI_Datatype datatype) noexcept {
  Type* const type = find_unpacker(user, part_count, datatype);
  // Where the user's own part is in place already, it is packed as well.
  return type != nullptr && type->can_unpack(count) && type->can_pack(part_count) ? make(is_worth, type, count)
                                                                                  : PackedSide();
}

void PackedSide::pack(const void* user, std::int64_t user_offset, std::int64_t packed_offset,
                      std::int64_t count) noexcept {
  if (count > 0 && type_->can_pack(count)) {
    type_->pack(count, static_cast<const std::byte*>(user) + user_offset * type_->extent(),
                packed_.data() + packed_offset * type_->bytes());
  }
}

void PackedSide::unpack(void* user, std::int64_t user_offset, std::int64_t packed_offset, std::int64_t count) noexcept {
  if (count > 0 && type_->can_unpack(count)) {
    type_->unpack(count, packed_.data() + packed_offset * type_->bytes(),
                  static_cast<std::byte*>(user) + user_offset * type_->extent(), count * type_->bytes());
  }
}

bool is_intracommunicator(MPI_Comm comm) noexcept {
  int is_inter = 1;
  return comm == MPI_COMM_WORLD ||
         (comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter == 0);
}

int rank_in(MPI_Comm comm) noexcept {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) noexcept {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

}  // namespace penstock::interpose
