#include "penstock/gas/core/atomic_operation.hpp"

namespace penstock::gas {
namespace {

template <class Word>
std::uint64_t apply_to(const AtomicOperation& operation, std::byte* address) noexcept {
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(address));
  const auto operand = static_cast<Word>(operation.operand);
  switch (operation.kind) {
    case AtomicKind::fetch_add:
      return word.fetch_add(operand, std::memory_order_acq_rel);
    case AtomicKind::compare_swap: {
      auto expected = static_cast<Word>(operation.expected);
      word.compare_exchange_strong(expected, operand, std::memory_order_acq_rel);
      return expected;
    }
  }
  return 0;
}

}  // namespace

std::uint64_t carry_out(const AtomicOperation& operation, std::byte* address) noexcept {
  return operation.bytes == 4 ? apply_to<std::uint32_t>(operation, address)
                              : apply_to<std::uint64_t>(operation, address);
}

Header header_of(const AtomicOperation& operation) noexcept {
  return {.kind = MessageKind::atomic,
          .operation = static_cast<std::uint16_t>(static_cast<unsigned>(operation.kind) << 8 | operation.bytes),
          .a = operation.operand,
          .b = operation.expected};
}

AtomicOperation atomic_from(const Header& header) noexcept {
  return {.kind = static_cast<AtomicKind>(header.operation >> 8),
          .bytes = static_cast<std::uint8_t>(header.operation & 0xff),
          .operand = header.a,
          .expected = header.b};
}

}  // namespace penstock::gas
