// In a build without a compiler for the processor no machine code is made: the kernels serve.
#include "penstock/mover/code.hpp"

namespace penstock::mover {

class CodePages::Chunk {};

bool is_worth_code(const Mover::Program&) noexcept {
  return false;
}

std::span<const Style> styles_for(const Mover::Program&) noexcept {
  return {};
}

std::vector<StyledCode> make_code(const Mover::Program&, std::span<const Style>) noexcept {
  return {};
}

}  // namespace penstock::mover
