#include "penstock/mover/mover.hpp"

#include <fmt/format.h>

#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/mover/engine.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {
namespace {

/// What a style other than that of the rules adds to a description.
const char* style_name(Style style) noexcept {
  switch (style) {
    case Style::asking:
      return ", prefetching";
    case Style::unasking:
      return ", not prefetching";
    case Style::plain:
      return ", plain";
    default:
      return "";
  }
}

void refuse_repeated_destination(const layout::Layout& destination) {
  for (const layout::Level& level : destination.levels()) {
    if (level.stride == 0) {
      throw Error(fmt::format("a mover's destination names its bytes {} times (a stride of 0): each may be named once",
                              level.extent));
    }
  }
  for (const layout::Layout& part : destination.parts()) {
    refuse_repeated_destination(part);
  }
}

}  // namespace

Mover compile_for(InstructionSet set, const layout::Layout& source, const layout::Layout& destination, Hint hint,
                  Code code) {
  if (source.bytes() != destination.bytes()) {
    throw Error(fmt::format("a mover's source names {} bytes and its destination {}: they must be equal",
                            source.bytes(), destination.bytes()));
  }
  refuse_repeated_destination(destination);
  if (source.bytes() == 0) {
    return {};
  }
  auto engine = std::make_shared<Mover::Engine>(code);
  engine->program.bytes = source.bytes();
  engine->program.hint = hint;
  engine->program.set = set;
  plan_steps(engine->program, source, destination);
  engine->start();
  return Mover(std::move(engine));
}

Mover Mover::compile(const layout::Layout& source, const layout::Layout& destination, Hint hint, Code code) {
  return compile_for(best_instruction_set(), source, destination, hint, code);
}

Mover::Mover(std::shared_ptr<Engine> engine) noexcept : engine_(std::move(engine)) {}

void Mover::operator()(const std::byte* source, std::byte* destination) const noexcept {
  if (engine_ != nullptr) {
    engine_->run(source, destination);
  }
}

void Mover::move_part(const std::byte* source, std::byte* destination, std::int64_t first,
                      std::int64_t last) const noexcept {
  if (engine_ != nullptr) {
    run_part(engine_->program, source, destination, first, last);
  }
}

bool Mover::has_code() const noexcept {
  return engine_ != nullptr && engine_->has_code();
}

bool Mover::is_trying() const noexcept {
  return engine_ != nullptr && engine_->is_trying();
}

std::int64_t Mover::bytes() const noexcept {
  return engine_ != nullptr ? engine_->program.bytes : 0;
}

std::string Mover::describe() const {
  if (engine_ == nullptr) {
    return "0 bytes";
  }
  return mover::describe(engine_->program) + (engine_->has_code() ? ", machine code" : "") +
         (engine_->chosen() != nullptr ? style_name(engine_->chosen()->style) : "");
}

void finish_streaming() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#elif defined(__aarch64__)
  asm volatile("dmb ishst" ::: "memory");
#endif
}

}  // namespace penstock::mover
