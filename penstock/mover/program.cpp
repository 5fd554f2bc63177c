#include "penstock/mover/program.hpp"

#include <array>
#include <cstring>

namespace penstock::mover {
namespace {

/// Loops over a kernel, `depth` of them left.
void run_loops(const JointLevel* loops, std::size_t depth, Kernel kernel, const Work& work, const std::byte* from,
               std::byte* to) {
  if (depth == 0) {
    kernel(from, to, work);
    return;
  }
  for (std::int64_t i = 0; i < loops->extent; ++i) {
    run_loops(loops + 1, depth - 1, kernel, work, from + i * loops->source_stride, to + i * loops->destination_stride);
  }
}

}  // namespace

void Mover::Program::run(const std::byte* from, std::byte* to) const noexcept {
  if (kernel == nullptr) {
    for_each_piece(source, destination, bytes, [&](std::int64_t piece_from, std::int64_t piece_to, std::int64_t count) {
      std::memcpy(to + piece_to, from + piece_from, static_cast<std::size_t>(count));
    });
    return;
  }
  run_loops(loops.data(), loops.size(), kernel, work, from + source_offset, to + destination_offset);
}

}  // namespace penstock::mover
