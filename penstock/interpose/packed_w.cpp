#include "penstock/interpose/packed_w.hpp"

#include <cstring>
#include <exception>
#include <limits>
#include <utility>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {

template <class Displacement>
bool PackedW<Displacement>::add_part(const Side& users, std::size_t partner, Need need, std::int64_t& total) {
  const int count = users.counts[partner];
  if (count < 0) {
    return false;
  }
  PackedPart part{{}, users.displacements[partner], total, count, 0};
  if (count > 0) {
    const MPI_Datatype datatype = users.datatypes[partner];
    int bytes = 0;
    Type* const type = find_mover_type(users.at(static_cast<int>(partner)), count, datatype);
    if (type != nullptr) {
      if ((need != Need::unpack && !type->can_pack(count)) || (need != Need::pack && !type->can_unpack(count))) {
        return false;
      }
      part.type = type->shared_from_this();
      part.bytes = type->bytes() * count;
    } else if (are_plain_bytes(datatype, bytes)) {
      part.bytes = std::int64_t{bytes} * count;
    } else {
      return false;
    }
  }
  total += part.bytes;
  if (total > std::numeric_limits<int>::max()) {
    return false;
  }
  counts_.push_back(static_cast<int>(part.bytes));
  displacements_.push_back(static_cast<Displacement>(part.packed_offset));
  datatypes_.push_back(MPI_BYTE);
  parts_.push_back(std::move(part));
  return true;
}

template <class Displacement>
PackedW<Displacement> PackedW<Displacement>::make(Worth& is_worth, const Side& users, int partners,
                                                  Need need) noexcept {
  if (!users.has_arguments()) {
    return {};
  }
  TypeTable& types = Library::get().types;
  bool has_served = false;
  for (int i = 0; i < partners && !has_served; ++i) {
    Type* const type = users.counts[i] > 0 ? types.find(users.datatypes[i]) : nullptr;
    has_served = type != nullptr && !type->is_contiguous(users.counts[i]) && is_worth(*type, users.counts[i]);
  }
  if (!has_served) {
    return {};
  }
  try {
    PackedW packed;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(partners); ++i) {
      if (!packed.add_part(users, i, need, total)) {
        return {};
      }
    }
    packed.packed_ = Library::get().bounces.lend(total);
    return packed;
  } catch (const std::exception&) {
    return {};  // no memory to pack into
  }
}

template <class Displacement>
void PackedW<Displacement>::pack(const void* user, const PackedPart& part) noexcept {
  const std::byte* const from = static_cast<const std::byte*>(user) + part.user_offset;
  std::byte* const to = packed_.data() + part.packed_offset;
  if (part.type != nullptr) {
    part.type->pack(part.count, from, to);
  } else if (part.bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(part.bytes));
  }
}

template <class Displacement>
void PackedW<Displacement>::pack(const void* user) noexcept {
  for (const PackedPart& part : parts_) {
    pack(user, part);
  }
}

template <class Displacement>
void PackedW<Displacement>::pack(const void* user, int partner) noexcept {
  pack(user, parts_[static_cast<std::size_t>(partner)]);
}

template <class Displacement>
void PackedW<Displacement>::unpack(void* user) noexcept {
  for (const PackedPart& part : parts_) {
    std::byte* const to = static_cast<std::byte*>(user) + part.user_offset;
    const std::byte* const from = packed_.data() + part.packed_offset;
    if (part.type != nullptr) {
      part.type->unpack(part.count, from, to, part.bytes);
    } else if (part.bytes > 0) {
      std::memcpy(to, from, static_cast<std::size_t>(part.bytes));
    }
  }
}

template class PackedW<int>;
template class PackedW<MPI_Aint>;

}  // namespace penstock::interpose
