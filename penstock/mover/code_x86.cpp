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

/// Whether uses try styles: of what takes long beside the clock, and where one side is a message. Copies between arrays
/// are parts of a transform, whose stores' cost falls on what comes after them.
bool is_tried(const Mover::Program& program) noexcept {
  constexpr std::int64_t least_in_cache = 8192;
  constexpr std::int64_t least_from_memory = 2048;
  return program.is_packing && program.bytes >= (program.hint == Hint::reuse ? least_in_cache : least_from_memory);
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
  return {bytes.begin(), bytes.end()};
}

}  // namespace

bool is_worth_code(const Mover::Program& program) noexcept {
  // A step is up to some 100 instructions: more code than this would not stay in the processor's caches of it.
  constexpr std::size_t most_leaves = 64;
  Leaves leaves;
  if (program.has_steps) {
    count_leaves(program.root, is_tried(program) ? Style::plain : Style::ruled, leaves);
  }
  return leaves.has_in_line && leaves.count <= most_leaves;
}

std::vector<Candidate> make_code(const Mover::Program& program) noexcept try {
  std::vector<std::vector<std::byte>> written;
  std::vector<Candidate> candidates;
  for (const Style style : styles) {
    std::vector<std::byte> code = write_code(program, style);
    if (code.empty()) {
      return {};
    }
    if (std::ranges::find(written, code) == written.end()) {
      candidates.push_back({style, CodePages::seal(code)});
      written.push_back(std::move(code));
    }
    if (candidates.back().code.begin() == nullptr) {
      return {};
    }
    if (!is_tried(program)) {
      break;
    }
  }
  return candidates;
} catch (const std::exception&) {
  return {};
}

}  // namespace penstock::mover
