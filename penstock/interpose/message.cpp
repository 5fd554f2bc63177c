#include "penstock/interpose/message.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::interpose {

Message::Message(Bounces& bounces, WireTypes& wire_types, Type& type, int count)
    : bytes_(type.bytes() * count), elements_(count) {
  memory_ = bounces.lend(bytes_ + gap_bytes);
  if (wire_types.is_gap_faster(bytes_)) {
    wire_type_ = wire_types.gapped(bytes_);
  }
  has_gap_ = wire_type_ != MPI_DATATYPE_NULL;
  wire_count_ = has_gap_ ? 1 : static_cast<int>(bytes_);
  if (!has_gap_) {
    // The one type that MPI matches with any other.
    wire_type_ = MPI_PACKED;
  }
}

void Message::pack(Type& type, const void* user) noexcept {
  type.pack(elements_, user, memory_.data());
  if (has_gap_) {
    std::memcpy(memory_.data() + bytes_, memory_.data() + bytes_ - gap_bytes, gap_bytes);
  }
}

void Message::unpack(Type& type, void* user, std::int64_t received) noexcept {
  received = std::min(received, bytes_);
  if (received <= 0) {
    return;
  }
  if (has_gap_) {
    std::memcpy(memory_.data() + bytes_ - gap_bytes, memory_.data() + bytes_, gap_bytes);
  }
  type.unpack(elements_, memory_.data(), user, received);
}

}  // namespace penstock::interpose
