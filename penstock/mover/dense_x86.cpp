#include "penstock/mover/dense_x86.hpp"

#include <bit>

namespace penstock::mover {
namespace {

namespace x86 = asmjit::x86;

/// The instructions for elements of 1, 2, 4 and 8 bytes.
struct Instructions {
  asmjit::InstId select_of_two;
  asmjit::InstId select;
  asmjit::InstId move;
};

Instructions instructions_for(std::int64_t element) {
  namespace Inst = x86::Inst;
  switch (element) {
    case 1:
      return {Inst::kIdVpermt2b, Inst::kIdVpermb, Inst::kIdVmovdqu8};
    case 2:
      return {Inst::kIdVpermt2w, Inst::kIdVpermw, Inst::kIdVmovdqu16};
    case 4:
      return {Inst::kIdVpermt2d, Inst::kIdVpermd, Inst::kIdVmovdqu32};
    default:
      return {Inst::kIdVpermt2q, Inst::kIdVpermq, Inst::kIdVmovdqu64};
  }
}

/// How far ahead a destination with gaps is asked for, where it is not in cache: best of 512 to 4096.
constexpr std::int32_t bytes_ahead = 4096;

/// A vector of indexes, one for each element's lane; index_of says which.
template <class IndexOf>
std::array<std::uint8_t, 64> make_lanes(std::int64_t element, IndexOf index_of) {
  std::array<std::uint8_t, 64> lanes{};
  for (std::int64_t lane = 0; lane < 64 / element; ++lane) {
    lanes[static_cast<std::size_t>(lane * element)] = static_cast<std::uint8_t>(index_of(lane));  // little endian
  }
  return lanes;
}

x86::Zmm index_register(std::int64_t i) {
  return x86::zmm(static_cast<std::uint32_t>(24 + i));
}

x86::KReg mask_register(std::int64_t i) {
  return x86::k(static_cast<std::uint32_t>(1 + i));
}

}  // namespace

DenseLoop find_dense_loop(std::int64_t element, const JointLevel& loop, InstructionSet set) noexcept {
  constexpr std::int64_t max_spread = 4;
  if (set == InstructionSet::portable || element > 8 || !std::has_single_bit(static_cast<std::uint64_t>(element)) ||
      (element == 1 && __builtin_cpu_supports("avx512vbmi") == 0)) {
    return {};
  }
  const bool is_pack = loop.destination_stride == element;
  const std::int64_t apart = is_pack ? loop.source_stride : loop.destination_stride;
  const bool is_narrow = set == InstructionSet::avx2;
  const bool is_fit = (is_pack || loop.source_stride == element) && apart % element == 0 && apart / element >= 2 &&
                      apart / element <= max_spread &&
                      (!is_narrow || (is_pack && apart == 2 * element && element >= 4));
  return is_fit ? DenseLoop{element, apart / element, is_pack, false, is_narrow} : DenseLoop{};
}

void DenseWriter::write_constants(const DenseLoop& loop) {
  for (std::int64_t i = 0; i < loop.spread; ++i) {
    const std::int64_t n = loop.elements();
    if (!loop.is_pack) {
      // Vector i of the side with gaps: its lanes at multiples of the spread take the next elements.
      const auto is_taken = [&](std::int64_t lane) { return (i * n + lane) % loop.spread == 0; };
      std::uint64_t mask = 0;
      for (std::int64_t lane = 0; lane < n; ++lane) {
        mask |= is_taken(lane) ? std::uint64_t{1} << lane : 0;
      }
      code_.mov(x86::rax, mask);
      code_.kmovq(mask_register(i), x86::rax);
      code_.vmovdqu64(
          index_register(i),
          constant(make_lanes(loop.element, [&](std::int64_t lane) { return (i * n + lane) / loop.spread; })));
    } else if (i > 0) {
      // What vector i brings to what was selected from those before it; the first step selects of both.
      code_.vmovdqu64(index_register(i), constant(make_lanes(loop.element, [&](std::int64_t lane) {
                        const std::int64_t place = lane * loop.spread;
                        return place / n == i ? n + place % n : i == 1 ? place % n : lane;
                      })));
    }
  }
}

void DenseWriter::write(const DenseLoop& loop, std::int64_t vectors) {
  if (!loop.is_narrow) {
    write_constants(loop);
  }
  code_.mov(x86::rax, vectors);
  const asmjit::Label top = code_.newLabel();
  code_.align(asmjit::AlignMode::kCode, 16);
  code_.bind(top);
  loop.is_narrow ? write_narrow_pack(loop) : loop.is_pack ? write_pack(loop) : write_unpack(loop);
  code_.add(x86::r10, static_cast<std::int32_t>(loop.is_pack ? 64 * loop.spread : 64));
  code_.add(x86::r11, static_cast<std::int32_t>(loop.is_pack ? 64 : 64 * loop.spread));
  code_.dec(x86::rax);
  code_.jnz(top);
}

void DenseWriter::write_pack(const DenseLoop& loop) {
  code_.vmovdqu64(x86::zmm16, x86::ptr(x86::r10));
  for (std::int64_t i = 1; i < loop.spread; ++i) {
    code_.vmovdqu64(x86::zmm17, x86::ptr(x86::r10, static_cast<std::int32_t>(64 * i)));
    code_.emit(instructions_for(loop.element).select_of_two, x86::zmm16, index_register(i), x86::zmm17);
  }
  code_.vmovdqu64(x86::ptr(x86::r11), x86::zmm16);
}

void DenseWriter::write_narrow_pack(const DenseLoop& loop) {
  for (std::int32_t i = 0; i < 2; ++i) {
    const x86::Ymm vector = x86::ymm(static_cast<std::uint32_t>(i));
    const x86::Mem second = x86::ptr(x86::r10, 64 * i + 32);
    code_.vmovdqu(vector, x86::ptr(x86::r10, 64 * i));
    // The even elements of both, halves of 16 bytes by turns; then the halves in order.
    loop.element == 8 ? code_.vunpcklpd(vector, vector, second) : code_.vshufps(vector, vector, second, 0x88);
    code_.vpermpd(vector, vector, 0xd8);
    code_.vmovdqu(x86::ptr(x86::r11, 32 * i), vector);
  }
}

void DenseWriter::write_unpack(const DenseLoop& loop) {
  code_.vmovdqu64(x86::zmm16, x86::ptr(x86::r10));
  for (std::int64_t i = 0; i < loop.spread; ++i) {
    if (loop.is_far) {
      // A masked store to a line that is not in cache holds up those behind it.
      code_.prefetchw(x86::ptr(x86::r11, static_cast<std::int32_t>(64 * i) + bytes_ahead));
    }
    code_.emit(instructions_for(loop.element).select, x86::zmm17, index_register(i), x86::zmm16);
    code_.k(mask_register(i))
        .emit(instructions_for(loop.element).move, x86::ptr(x86::r11, static_cast<std::int32_t>(64 * i)), x86::zmm17);
  }
}

x86::Mem DenseWriter::constant(const Lanes& lanes) {
  constants_.emplace_back(code_.newLabel(), lanes);
  return x86::ptr(constants_.back().first);
}

void DenseWriter::finish() {
  for (const auto& [label, lanes] : constants_) {
    code_.align(asmjit::AlignMode::kZero, 64);
    code_.bind(label);
    code_.embed(lanes.data(), lanes.size());
  }
}

}  // namespace penstock::mover
