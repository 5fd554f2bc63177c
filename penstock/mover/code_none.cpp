// In a build without a compiler for the processor no machine code is made: the kernels serve.
#include "penstock/mover/code.hpp"

namespace penstock::mover {

MachineCode::~MachineCode() = default;

bool is_worth_code(const Mover::Program&) noexcept {
  return false;
}

std::optional<MachineCode> make_code(const Mover::Program&) noexcept {
  return std::nullopt;
}

}  // namespace penstock::mover
