#include "penstock/mover/mover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "penstock/base/error.hpp"
#include "penstock/mover/program.hpp"

namespace penstock::mover {
namespace {

/// Takes the first loop for which `is_fit` holds out of the list.
template <class Condition>
bool take_loop(std::vector<JointLevel>& loops, JointLevel& taken, Condition is_fit) {
  const auto found = std::ranges::find_if(loops, is_fit);
  if (found == loops.end()) {
    return false;
  }
  taken = *found;
  loops.erase(found);
  return true;
}

/// Sorts the loops from the furthest steps to the nearest, so that the innermost stay within few pages and lines.
void sort_loops(std::vector<JointLevel>& loops) {
  std::ranges::sort(loops, std::ranges::greater{},
                    [](const JointLevel& loop) { return std::abs(loop.source_stride) + loop.destination_stride; });
}

std::string describe_loops(const std::vector<JointLevel>& loops) {
  std::string text;
  for (const JointLevel& loop : loops) {
    text += fmt::format("{} x ", loop.extent);
  }
  return text;
}

/// Chooses a transposition where one loop steps by one element in the source and another in the destination.
bool choose_transposition(Mover::Program& program, const Kernels& kernels, Hint hint) {
  const auto element = std::ranges::find(transposed_elements, program.work.block);
  if (element == transposed_elements.end()) {
    return false;
  }
  std::vector<JointLevel> rest = program.loops;
  if (!take_loop(rest, program.work.inner, [&](const JointLevel& l) { return l.source_stride == *element; }) ||
      !take_loop(rest, program.work.outer, [&](const JointLevel& l) { return l.destination_stride == *element; })) {
    return false;
  }
  program.loops = std::move(rest);
  const auto index = static_cast<std::size_t>(std::distance(transposed_elements.begin(), element));
  program.kernel = hint == Hint::streaming ? kernels.stream_transposed[index] : kernels.transpose[index];
  program.description = fmt::format("{}transpose {} x {} of {} B", describe_loops(program.loops),
                                    program.work.outer.extent, program.work.inner.extent, *element);
  return true;
}

Kernel choose_row_kernel(const Work& work, const Kernels& kernels, Hint hint) {
  constexpr std::int64_t most_gathered = 512;
  if (hint == Hint::streaming) {
    if (work.inner.destination_stride == work.block && work.block % line_bytes != 0 && work.block <= most_gathered) {
      return kernels.stream_gathered_rows;
    }
    if (work.block >= line_bytes) {
      return kernels.stream_rows;
    }
  }
  if (work.block >= long_block && has_fast_strings()) {
    return kernels.copy_long_rows;
  }
  const auto fixed = std::ranges::find(fixed_blocks, work.block);
  return fixed == fixed_blocks.end()
             ? kernels.copy_rows
             : kernels.copy_fixed_rows[static_cast<std::size_t>(std::distance(fixed_blocks.begin(), fixed))];
}

void choose_rows(Mover::Program& program, const Kernels& kernels, Hint hint) {
  for (JointLevel* level : {&program.work.inner, &program.work.outer}) {
    *level = {1, 0, 0};
    if (!program.loops.empty()) {
      *level = program.loops.back();
      program.loops.pop_back();
    }
  }
  program.kernel = choose_row_kernel(program.work, kernels, hint);
  program.description = fmt::format("{}rows {} x {} of {} B", describe_loops(program.loops), program.work.outer.extent,
                                    program.work.inner.extent, program.work.block);
}

}  // namespace

Mover compile_for(InstructionSet set, const layout::Layout& source, const layout::Layout& destination, Hint hint) {
  if (source.bytes() != destination.bytes()) {
    throw Error(fmt::format("a mover's source names {} bytes and its destination {}: they must be equal",
                            source.bytes(), destination.bytes()));
  }
  for (const layout::Level& level : destination.levels()) {
    if (level.stride == 0) {
      throw Error(fmt::format("a mover's destination names its bytes {} times (a stride of 0): each may be named once",
                              level.extent));
    }
  }
  if (source.bytes() == 0) {
    return {};
  }
  const Kernels& kernels = kernels_of(set);
  Joint joint = refine(source, destination);
  simplify(joint);
  auto program = std::make_shared<Mover::Program>();
  program->bytes = source.bytes();
  program->source = source;
  program->destination = destination;
  if (joint.pieces.empty()) {
    program->description = "run by run";
  } else {
    program->loops = std::move(joint.levels);
    sort_loops(program->loops);
    if (joint.pieces.size() == 1) {
      program->work.block = joint.pieces[0].bytes;
      program->source_offset = joint.pieces[0].source_offset;
      program->destination_offset = joint.pieces[0].destination_offset;
      if (!choose_transposition(*program, kernels, hint)) {
        choose_rows(*program, kernels, hint);
      }
    } else {
      program->pieces = std::move(joint.pieces);
      program->work.pieces = program->pieces.data();
      program->work.piece_count = program->pieces.size();
      program->kernel = hint == Hint::streaming ? kernels.stream_list : kernels.copy_list;
      program->description = fmt::format("{}list of {}", describe_loops(program->loops), program->pieces.size());
    }
  }
  program->description = fmt::format("{} bytes: {}{}, {}", program->bytes, program->description,
                                     hint == Hint::streaming ? ", streaming" : "", kernels.name);
  return Mover(std::move(program));
}

Mover Mover::compile(const layout::Layout& source, const layout::Layout& destination, Hint hint, Code) {
  return compile_for(best_instruction_set(), source, destination, hint);
}

Mover::Mover(std::shared_ptr<const Program> program) noexcept : program_(std::move(program)) {}

void Mover::operator()(const std::byte* source, std::byte* destination) const noexcept {
  if (program_ != nullptr) {
    program_->run(source, destination);
  }
}

void Mover::move_part(const std::byte* source, std::byte* destination, std::int64_t first,
                      std::int64_t last) const noexcept {
  std::int64_t done = 0;
  for_each_piece(
      program_->source, program_->destination, last, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        const std::int64_t skipped = std::clamp<std::int64_t>(first - done, 0, count);
        done += count;
        std::memcpy(destination + to + skipped, source + from + skipped, static_cast<std::size_t>(count - skipped));
      });
}

bool Mover::has_code() const noexcept {
  return false;
}

std::int64_t Mover::bytes() const noexcept {
  return program_ != nullptr ? program_->bytes : 0;
}

std::string Mover::describe() const {
  return program_ != nullptr ? program_->description : "0 bytes";
}

void finish_streaming() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#elif defined(__aarch64__)
  asm volatile("dmb ishst" ::: "memory");
#endif
}

}  // namespace penstock::mover
