// The four that move the bytes of a case: Penstock, the MPI library, the hand-written loop, memcpy.
#pragma once

#include <cstring>
#include <vector>

#include "penstock/lab/pack/pack_cases.hpp"
#include "penstock/layout/layout.hpp"
#include "penstock/mover/mover.hpp"

namespace penstock::lab {

/// A case ready to run: the type committed, its bytes known, the loops chosen. Refers to the case.
struct PreparedCase {
  explicit PreparedCase(const PackCase& pack_case);

  const PackCase& description;
  Type type;
  layout::Layout typed;  ///< relative to the buffer that MPI is given
  std::int64_t bytes;    ///< packed
  std::vector<HandCode> hand;
};

/// Each moves between an array and a packed message, in one direction. Refers to the prepared case.
class Contenders {
 public:
  Contenders(const PreparedCase& prepared, PackRegime regime, PackOperation operation);

  void ours(std::byte* array, std::byte* packed) const {
    std::byte* typed = array + prepared_.description.offset;
    mover_(is_pack_ ? typed : packed, is_pack_ ? packed : typed);
    if (hint_ == mover::Hint::streaming) {
      mover::finish_streaming();
    }
  }

  void mpi(std::byte* array, std::byte* packed) const {
    const auto bytes = static_cast<int>(prepared_.bytes);
    std::byte* typed = array + prepared_.description.offset;
    int position = 0;
    if (is_pack_) {
      MPI_Pack(typed, 1, prepared_.type.get(), packed, bytes, &position, MPI_COMM_SELF);
    } else {
      MPI_Unpack(packed, bytes, &position, typed, 1, prepared_.type.get(), MPI_COMM_SELF);
    }
  }

  void hand(std::byte* array, std::byte* packed) const {
    const std::vector<HandLoop>& loops = prepared_.description.hand;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (is_pack_) {
        prepared_.hand[i].pack(loops[i], array + loops[i].array_offset, packed + loops[i].packed_offset);
      } else {
        prepared_.hand[i].unpack(loops[i], packed + loops[i].packed_offset, array + loops[i].array_offset);
      }
    }
  }

  void copy(std::byte* array, std::byte* packed) const {
    std::memcpy(is_pack_ ? packed : array, is_pack_ ? array : packed, static_cast<std::size_t>(prepared_.bytes));
  }

  const mover::Mover& mover() const { return mover_; }
  mover::Hint hint() const { return hint_; }

 private:
  const PreparedCase& prepared_;
  bool is_pack_;
  mover::Hint hint_;
  mover::Mover mover_;
};

/// Throws Error where ours or the hand-written loop moves other bytes than MPI does, in the target or around it. The
/// memory is left as it was.
void verify(const PreparedCase& prepared, const Contenders& contenders, PackOperation operation, std::byte* array,
            std::byte* packed);

}  // namespace penstock::lab
