#include "penstock/lab/pack/pack_contenders.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/datatype/datatype.hpp"

namespace penstock::lab {
namespace {

using layout::Layout;
using mover::Hint;
using mover::Mover;

Hint hint_for(PackRegime regime, std::int64_t bytes) {
  // Below this the fence after stores that bypass the cache costs what they save (Zen 5, 2026-11).
  constexpr std::int64_t streaming_from = std::int64_t{64} << 10;
  return regime == PackRegime::hot ? Hint::reuse : bytes < streaming_from ? Hint::from_memory : Hint::streaming;
}

Type committed(Type type) {
  type.commit();
  return type;
}

[[noreturn]] void refuse(const PackCase& description, const char* who, const char* call) {
  throw Error(fmt::format("case {}: {} does not move the bytes that {} moves", description.name, who, call));
}

}  // namespace

PreparedCase::PreparedCase(const PackCase& pack_case)
    : description(pack_case),
      type(committed(pack_case.make_type())),
      typed(datatype::describe(type.get()).of(1)),
      bytes(type.bytes()) {
  for (const HandLoop& loop : pack_case.hand) {
    hand.push_back(hand_code(loop));
  }
}

Contenders::Contenders(const PreparedCase& prepared, PackRegime regime, PackOperation operation)
    : prepared_(prepared), is_pack_(operation == PackOperation::pack), hint_(hint_for(regime, prepared.bytes)) {
  const Layout packed = Layout::contiguous(prepared.bytes);
  mover_ = is_pack_ ? Mover::compile(prepared.typed, packed, hint_, mover::Code::at_once)
                    : Mover::compile(packed, prepared.typed, hint_, mover::Code::at_once);
}

void verify(const PreparedCase& prepared, const Contenders& contenders, PackOperation operation, std::byte* array,
            std::byte* packed) {
  const auto packed_bytes = static_cast<std::size_t>(prepared.bytes);
  const auto array_bytes = static_cast<std::size_t>(prepared.description.array_bytes);
  const bool is_pack = operation == PackOperation::pack;
  std::byte* target = is_pack ? packed : array;
  const std::size_t target_bytes = is_pack ? packed_bytes : array_bytes;
  const std::vector<std::byte> before(target, target + target_bytes);
  contenders.mpi(array, packed);
  const std::vector<std::byte> expected(target, target + target_bytes);
  for (const auto& [who, move] :
       {std::pair{"the mover", &Contenders::ours}, {"the hand-written loop", &Contenders::hand}}) {
    std::copy(before.begin(), before.end(), target);
    (contenders.*move)(array, packed);
    if (!std::equal(expected.begin(), expected.end(), target)) {
      refuse(prepared.description, who, is_pack ? "MPI_Pack" : "MPI_Unpack");
    }
  }
  std::copy(before.begin(), before.end(), target);
}

}  // namespace penstock::lab
