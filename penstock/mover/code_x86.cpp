// Machine code for x86-64, by AsmJit: when it is worth it, and how it is made.
#include <exception>
#include <span>

#include "penstock/mover/code.hpp"
#include "penstock/mover/emitter_x86.hpp"

namespace penstock::mover {
namespace {

/// How many steps there are at the leaves, and whether one is written out.
struct Leaves {
  std::size_t count = 0;
  bool has_in_line = false;
};

void count_leaves(const Step& step, Leaves& leaves) {
  for (const Step& part : step.steps) {
    count_leaves(part, leaves);
  }
  if (step.steps.empty()) {
    ++leaves.count;
    leaves.has_in_line = leaves.has_in_line || is_in_line(step);
  }
}

class Failures : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { is_any = true; }
  bool is_any = false;
};

}  // namespace

bool is_worth_code(const Mover::Program& program) noexcept {
  // A step is up to some 100 instructions: more code than this would not stay in the processor's caches of it.
  constexpr std::size_t most_leaves = 64;
  Leaves leaves;
  if (program.has_steps) {
    count_leaves(program.root, leaves);
  }
  return leaves.has_in_line && leaves.count <= most_leaves;
}

CodePages make_code(const Mover::Program& program) noexcept try {
  asmjit::CodeHolder holder;
  Failures failures;
  if (holder.init(asmjit::Environment::host()) != asmjit::kErrorOk) {
    return {};
  }
  holder.setErrorHandler(&failures);
  Emitter(holder, program).emit();
  if (failures.is_any) {
    return {};
  }
  const asmjit::CodeBuffer& written = holder.textSection()->buffer();
  return CodePages::seal(std::as_bytes(std::span(written.data(), written.size())));
} catch (const std::exception&) {
  return {};
}

}  // namespace penstock::mover
