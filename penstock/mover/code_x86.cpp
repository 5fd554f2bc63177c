// Machine code for x86-64, by AsmJit: when it is worth it, and how it is made.
#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "penstock/mover/code.hpp"
#include "penstock/mover/emitter_x86.hpp"

namespace penstock::mover {
namespace {

/// How many steps there are at the leaves, and whether one is written out.
struct Leaves {
  std::size_t count = 0;
  bool has_in_line = false;
};

void count_leaves(const Step& step, Style style, Leaves& leaves) {
  for (const Step& part : step.steps) {
    count_leaves(part, style, leaves);
  }
  if (step.steps.empty()) {
    ++leaves.count;
    leaves.has_in_line = leaves.has_in_line || is_in_line(step, style);
  }
}

class Failures : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char*, asmjit::BaseEmitter*) override { is_any = true; }
  bool is_any = false;
};

/// The program in one style, not yet executable; empty where AsmJit fails.
std::vector<std::byte> write_code(const Mover::Program& program, Style style) {
  asmjit::CodeHolder holder;
  Failures failures;
  if (holder.init(asmjit::Environment::host()) != asmjit::kErrorOk) {
    return {};
  }
  holder.setErrorHandler(&failures);
  Emitter(holder, program, style).emit();
  if (failures.is_any) {
    return {};
  }
  const asmjit::CodeBuffer& written = holder.textSection()->buffer();
  const auto bytes = std::as_bytes(std::span(written.data(), written.size()));
  std::vector<std::byte> code(bytes.size());
  std::ranges::copy(bytes, code.begin());
  return code;
}

}  // namespace

bool is_worth_code(const Mover::Program& program) noexcept {
  // A step is up to some 100 instructions: more code than this would not stay in the processor's caches of it.
  constexpr std::size_t max_leaves = 64;
  Leaves leaves;
  if (program.has_steps) {
    count_leaves(program.root, styles_for(program).back(), leaves);
  }
  return leaves.has_in_line && leaves.count <= max_leaves;
}

// What takes long beside the clock, and where one side is a message. Copies between arrays are parts of a transform,
// and the cost of their stores falls on what comes after them.
std::span<const Style> styles_for(const Mover::Program& program) noexcept {
  constexpr std::int64_t min_in_cache = 8192;
  constexpr std::int64_t min_from_memory = 2048;
  const bool is_tried =
      program.is_packing && program.bytes >= (program.hint == Hint::reuse ? min_in_cache : min_from_memory);
  return std::span(styles).first(is_tried ? styles.size() : 1);
}

std::vector<StyledCode> make_code(const Mover::Program& program, std::span<const Style> wanted) noexcept try {
  std::vector<std::vector<std::byte>> written;
  std::vector<StyledCode> candidates;
  for (const Style style : wanted) {
    std::vector<std::byte> code = write_code(program, style);
    if (code.empty()) {
      return {};
    }
    if (std::ranges::find(written, code) == written.end()) {
      candidates.push_back({style, CodePages::seal(code)});
      written.push_back(std::move(code));
      if (candidates.back().code.begin() == nullptr) {
        return {};
      }
    }
  }
  return candidates;
} catch (const std::exception&) {
  return {};
}

}  // namespace penstock::mover
