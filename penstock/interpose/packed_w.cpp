#include "penstock/interpose/packed_w.hpp"

#include <cstring>
#include <exception>
#include <limits>

#include "penstock/interpose/library.hpp"

namespace penstock::interpose {
bool PackedW::add_part(const WSide& users, std::size_t rank, Need need, std::int64_t& total) noexcept {
  const int count = users.counts[rank];
  if (count < 0) {
    return false;
  }
  PackedPart part{nullptr, users.displacements[rank], total, count, 0};
  if (count > 0) {
    const MPI_Datatype datatype = users.datatypes[rank];
    int bytes = 0;
    part.type = find_mover_type(users.at(static_cast<int>(rank)), count, datatype);
    if (part.type != nullptr) {
      if ((need != Need::unpack && !part.type->can_pack(count)) ||
          (need != Need::pack && !part.type->can_unpack(count))) {
        return false;
      }
      part.bytes = part.type->bytes() * count;
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
  parts_.push_back(part);
  counts_.push_back(static_cast<int>(part.bytes));
  displacements_.push_back(static_cast<int>(part.packed_offset));
  datatypes_.push_back(MPI_BYTE);
  return true;
}

PackedW PackedW::make(const WSide& users, int ranks, Need need) noexcept {
  if (!users.has_arguments()) {
    return {};
  }
  TypeTable& types = Library::get().types;
  bool has_served = false;
  for (int i = 0; i < ranks && !has_served; ++i) {
    Type* const type = users.counts[i] > 0 ? types.find(users.datatypes[i]) : nullptr;
    has_served = type != nullptr && !type->is_contiguous(users.counts[i]) &&
                 is_worth_packing_collectively(*type, users.counts[i]);
  }
  if (!has_served) {
    return {};
  }
  try {
    PackedW packed;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i) {
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

WSide PackedW::side() const noexcept {
  return {packed_.data(), counts_.data(), displacements_.data(), datatypes_.data()};
}

void PackedW::pack(const void* user) noexcept {
  for (const PackedPart& part : parts_) {
    const std::byte* const from = static_cast<const std::byte*>(user) + part.user_offset;
    std::byte* const to = packed_.data() + part.packed_offset;
    if (part.type != nullptr) {
      part.type->pack(part.count, from, to);
    } else if (part.bytes > 0) {
      std::memcpy(to, from, static_cast<std::size_t>(part.bytes));
    }
  }
}

void PackedW::unpack(void* user) noexcept {
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

}  // namespace penstock::interpose
