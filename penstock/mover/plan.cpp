// Plans the steps of a copy: its loops and, for each, the kernel that suits its shape.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "penstock/mover/program.hpp"

namespace penstock::mover {
namespace {

using layout::Layout;
using layout::Run;

constexpr std::int64_t uint32_most = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t min_long_from_memory = 2048;
/// So many equal blocks in a row are worth a list of their own.
constexpr std::size_t min_stretch = 32;

Kernel streaming_kernel(const Work& work, const Kernels& kernels) {
  constexpr std::int64_t max_gathered = 512;
  const bool is_gathered =
      work.inner.destination_stride == work.block && work.block % line_bytes != 0 && work.block <= max_gathered;
  return is_gathered ? kernels.stream_gathered_rows : kernels.stream_rows;
}

Kernel row_kernel(const Work& work, const Kernels& kernels) {
  const auto fixed = std::ranges::find(fixed_blocks, work.block);
  return fixed == fixed_blocks.end()
             ? kernels.copy_rows
             : kernels.copy_fixed_rows[static_cast<std::size_t>(std::distance(fixed_blocks.begin(), fixed))];
}

/// From which size on rows bypass the cache: parts of lines that do so hold up what follows, so that a packed message
/// wants long rows, and to be long itself (measured with rows of 256 B to 4 KiB; EPYC 9005, November 2026).
std::int64_t min_streamed_block(const Mover::Program& program) {
  constexpr std::int64_t min_message = 65536;
  if (program.hint != Hint::streaming || (program.is_pack && program.bytes < min_message)) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return program.is_pack ? 1024 : line_bytes;
}

/// The first level for which `is_fit` holds; -1 for none.
template <class Condition>
int find_level(const Step& step, Condition is_fit) {
  const auto found = std::ranges::find_if(step.levels, is_fit);
  return found == step.levels.end() ? -1 : static_cast<int>(std::distance(step.levels.begin(), found));
}

class Planner {
 public:
  explicit Planner(const Mover::Program& program)
      : kernels_(kernels_of(program.set)),
        hint_(program.hint),
        is_packing_(program.is_packing),
        is_pack_(program.is_pack),
        min_streamed_block_(min_streamed_block(program)) {}

  /// A packing of `layout` to or from contiguous memory, `position` bytes into it.
  Step plan_packing(const Layout& layout, std::int64_t position) const {
    Step step;
    std::int64_t inside = layout.bytes();
    step.levels.reserve(layout.levels().size());
    for (const layout::Level& level : layout.levels()) {
      inside /= level.extent;
      step.levels.push_back({level.extent, is_pack_ ? level.stride : inside, is_pack_ ? inside : level.stride});
    }
    step.bytes_inside = inside;
    if (layout.runs().size() == 1) {
      step.work.block = layout.runs()[0].bytes;
      (is_pack_ ? step.source_offset : step.destination_offset) = layout.runs()[0].offset;
      (is_pack_ ? step.destination_offset : step.source_offset) = position;
      choose_kernel(step);
      return step;
    }
    if (layout.parts().empty()) {
      plan_list(step, layout.runs(), position);
    } else {
      step.steps.reserve(layout.parts().size());
      for (const Layout& part : layout.parts()) {
        step.steps.push_back(plan_packing(part, position));
        position += part.bytes();
      }
    }
    order_loops(step);
    return step;
  }

  /// A copy of which no side is contiguous.
  Step plan_copy(Joint joint) const {
    Step step;
    step.levels = std::move(joint.levels);
    std::ranges::reverse(step.levels);
    for (const Piece& piece : joint.pieces) {
      step.bytes_inside += piece.bytes;
    }
    if (joint.pieces.size() == 1) {
      step.work.block = joint.pieces[0].bytes;
      step.source_offset = joint.pieces[0].source_offset;
      step.destination_offset = joint.pieces[0].destination_offset;
      choose_kernel(step);
      return step;
    }
    set_pieces(step, std::move(joint.pieces));
    order_loops(step);
    return step;
  }

 private:
  /// Sorts the loops that no kernel walks from the furthest steps to the nearest, so that the innermost stay within few
  /// pages and lines.
  static void order_loops(Step& step) {
    step.order.reserve(step.levels.size());
    for (int i = 0; i < static_cast<int>(step.levels.size()); ++i) {
      if (i != step.inner && i != step.outer) {
        step.order.push_back(i);
      }
    }
    std::ranges::sort(step.order, {}, [&](int i) {
      const JointLevel& level = step.levels[static_cast<std::size_t>(i)];
      // Two strides of nearly 2^63 have no sum among the integers.
      return std::pair(
          -std::abs(static_cast<double>(level.source_stride)) - std::abs(static_cast<double>(level.destination_stride)),
          i);
    });
  }

  void choose_kernel(Step& step) const {
    if (!choose_transposition(step)) {
      order_loops(step);
      for (int* taken : {&step.inner, &step.outer}) {
        if (!step.order.empty()) {
          *taken = step.order.back();
          step.order.pop_back();
        }
      }
      if (step.inner >= 0) {
        step.work.inner = step.levels[static_cast<std::size_t>(step.inner)];
      }
      if (step.outer >= 0) {
        step.work.outer = step.levels[static_cast<std::size_t>(step.outer)];
      }
      choose_row_kernel(step);
    }
  }

  void choose_row_kernel(Step& step) const {
    // Up to here vectors are faster than the string instruction (EPYC 9005, November 2026).
    const std::int64_t min_by_string = hint_ == Hint::reuse ? 4 * long_block
                                       : is_packing_        ? 2 * long_block
                                                            : long_block;
    const bool is_streaming = step.work.block >= min_streamed_block_;
    const bool is_by_string = step.work.block >= min_by_string && has_fast_strings();
    // Of long rows from memory that do not lie one after another the kernels ask for what comes next in the row itself
    // (16 rows of 4 KiB: machine code, which asks for whole rows ahead, was 3 to 6% slower).
    const bool is_long_from_memory = hint_ == Hint::from_memory && step.work.block >= min_long_from_memory &&
                                     step.work.inner.source_stride != step.work.block;
    step.is_kernel_special = is_streaming || is_by_string || is_long_from_memory;
    step.kernel = is_streaming                                    ? streaming_kernel(step.work, kernels_)
                  : step.is_kernel_special && step.levels.empty() ? copy_one_block
                  : is_by_string                                  ? kernels_.copy_long_rows
                                                                  : row_kernel(step.work, kernels_);
  }

  /// Chooses a transposition where one level steps by one element in the source and another in the destination.
  bool choose_transposition(Step& step) const {
    const auto element = std::ranges::find(transposed_elements, step.work.block);
    if (element == transposed_elements.end()) {
      return false;
    }
    const int inner = find_level(step, [&](const JointLevel& l) { return l.source_stride == *element; });
    const int outer = find_level(step, [&](const JointLevel& l) { return l.destination_stride == *element; });
    if (inner < 0 || outer < 0) {
      return false;
    }
    step.inner = inner;
    step.outer = outer;
    step.work.inner = step.levels[static_cast<std::size_t>(inner)];
    step.work.outer = step.levels[static_cast<std::size_t>(outer)];
    step.work.is_transposition = true;
    const auto index = static_cast<std::size_t>(std::distance(transposed_elements.begin(), element));
    step.kernel = hint_ == Hint::streaming     ? kernels_.stream_transposed[index]
                  : hint_ == Hint::from_memory ? kernels_.transpose_from_memory[index]
                                               : kernels_.transpose[index];
    order_loops(step);
    return true;
  }

  /// Makes the list a leaf where its blocks are alike, else cuts it into steps where a long stretch of equal blocks
  /// begins or ends, or where offsets would outgrow 32 bits. A list of few runs, or far apart, becomes pieces then.
  void plan_list(Step& step, std::span<const Run> runs, std::int64_t position) const {
    const std::vector<std::span<const Run>> stretches = cut_within_32_bits(runs);
    if (stretches.empty() || stretches.size() > std::max<std::size_t>(1, runs.size() / min_stretch)) {
      std::vector<Piece> pieces;
      pieces.reserve(runs.size());
      std::int64_t done = 0;
      for (const Run& run : runs) {
        pieces.push_back({is_pack_ ? run.offset : done, is_pack_ ? done : run.offset, run.bytes});
        done += run.bytes;
      }
      (is_pack_ ? step.destination_offset : step.source_offset) = position;
      set_pieces(step, std::move(pieces));
      return;
    }
    std::vector<Step> steps;
    for (const std::span<const Run> stretch : stretches) {
      append_lists(steps, stretch, position);
    }
    if (steps.size() > 1) {
      step.steps = std::move(steps);
      return;
    }
    steps[0].levels = std::move(step.levels);
    step = std::move(steps[0]);
  }

  /// The list in parts that each span less than 4 GiB in memory and packed; none where a single run does not.
  static std::vector<std::span<const Run>> cut_within_32_bits(std::span<const Run> runs) {
    std::vector<std::span<const Run>> stretches;
    std::size_t begin = 0;
    std::int64_t lowest = runs[0].offset;
    std::int64_t highest = runs[0].offset;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::int64_t end = runs[i].offset + runs[i].bytes;
      lowest = std::min(lowest, runs[i].offset);
      highest = std::max(highest, end);
      bytes += runs[i].bytes;
      if (highest - lowest > uint32_most || bytes > uint32_most) {
        if (runs[i].bytes > uint32_most) {
          return {};
        }
        stretches.push_back(runs.subspan(begin, i - begin));
        begin = i;
        lowest = runs[i].offset;
        highest = end;
        bytes = runs[i].bytes;
      }
    }
    stretches.push_back(runs.subspan(begin));
    return stretches;
  }

  void append_lists(std::vector<Step>& steps, std::span<const Run> runs, std::int64_t& position) const {
    std::size_t mixed_from = 0;
    for (std::size_t i = 0; i < runs.size();) {
      std::size_t end = i + 1;
      while (end < runs.size() && is_alike(runs[i].bytes, runs[end].bytes)) {
        ++end;
      }
      if (end - i >= min_stretch && std::ranges::count(listed_blocks, runs[i].bytes) > 0) {
        if (mixed_from < i) {
          steps.push_back(make_list(runs.subspan(mixed_from, i - mixed_from), 0, position));
        }
        steps.push_back(make_list(runs.subspan(i, end - i), runs[i].bytes, position));
        mixed_from = end;
      }
      i = end;
    }
    if (mixed_from < runs.size()) {
      steps.push_back(make_list(runs.subspan(mixed_from), 0, position));
    }
  }

  /// Whether a run among blocks of `block` bytes is a few of them: neighbours of an index list that touch are one run.
  static bool is_alike(std::int64_t block, std::int64_t bytes) {
    constexpr std::int64_t max_blocks_in_a_run = 4;
    return bytes == block || (bytes <= max_blocks_in_a_run * block && bytes % block == 0);
  }

  /// A list of blocks of `block` bytes each, or, where that is 0, of any. Steps `position` past it.
  Step make_list(std::span<const Run> runs, std::int64_t block, std::int64_t& position) const {
    Step step;
    const std::int64_t lowest = std::ranges::min(runs, {}, &Run::offset).offset;
    std::int64_t bytes = 0;
    step.offsets.reserve(runs.size());
    for (const Run& run : runs) {
      const std::int64_t each = block > 0 ? block : run.bytes;
      for (std::int64_t done = 0; done < run.bytes; done += each) {
        step.offsets.push_back(static_cast<std::uint32_t>(run.offset - lowest + done));
      }
      bytes += run.bytes;
    }
    if (block == 0) {
      step.positions.reserve(runs.size() + 1);
      std::uint32_t at = 0;
      step.positions.push_back(at);
      for (const Run& run : runs) {
        step.positions.push_back(at += static_cast<std::uint32_t>(run.bytes));
      }
    }
    step.bytes_inside = bytes;
    (is_pack_ ? step.source_offset : step.destination_offset) = lowest;
    (is_pack_ ? step.destination_offset : step.source_offset) = position;
    position += bytes;
    step.work.block = block;
    step.work.offsets = step.offsets.data();
    step.work.positions = step.positions.data();
    step.work.entry_count = step.offsets.size();
    const auto listed =
        static_cast<std::size_t>(std::distance(listed_blocks.begin(), std::ranges::find(listed_blocks, block)));
    if (block == 0) {
      step.kernel = is_pack_ ? kernels_.gather_entries : kernels_.scatter_entries;
    } else {
      step.kernel = is_pack_ ? kernels_.gather_equal_entries[listed] : kernels_.scatter_equal_entries[listed];
    }
    return step;
  }

  void set_pieces(Step& step, std::vector<Piece> pieces) const {
    step.pieces = std::move(pieces);
    step.work.pieces = step.pieces.data();
    step.work.piece_count = step.pieces.size();
    step.kernel = hint_ == Hint::streaming ? kernels_.stream_list : kernels_.copy_list;
  }

  const Kernels& kernels_;
  Hint hint_;
  bool is_packing_;
  bool is_pack_;
  std::int64_t min_streamed_block_;
};

}  // namespace

void plan_steps(Mover::Program& program, const Layout& source, const Layout& destination) {
  program.is_pack = destination.is_contiguous();
  program.is_packing = program.is_pack || source.is_contiguous();
  const Planner planner(program);
  if (program.is_packing) {
    const Layout& contiguous = program.is_pack ? destination : source;
    program.root = planner.plan_packing(program.is_pack ? source : destination, contiguous.lower_bound());
    return;
  }
  program.source = source;
  program.destination = destination;
  Joint joint = refine(source, destination);
  program.has_steps = !joint.pieces.empty();
  if (program.has_steps) {
    simplify(joint);
    program.root = planner.plan_copy(std::move(joint));
  }
}

}  // namespace penstock::mover
