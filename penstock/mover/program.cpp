// Runs a compiled copy, whole or in part, and describes it.
#include "penstock/mover/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace penstock::mover {
namespace {

/// Which repetitions of a level are run.
struct Repetitions {
  std::int64_t first;
  std::int64_t last;
};

/// Calls `body(from, to)` for the repetitions of `depth` loops.
template <class Body>
void for_each_repetition(const JointLevel* loops, std::size_t depth, const std::byte* from, std::byte* to,
                         const Body& body) {
  if (depth == 0) {
    body(from, to);
    return;
  }
  for (std::int64_t i = 0; i < loops->extent; ++i) {
    for_each_repetition(loops + 1, depth - 1, from + i * loops->source_stride, to + i * loops->destination_stride,
                        body);
  }
}

// Each level repeats at least twice, so that a count of bytes in 63 bits bounds them.
constexpr std::size_t max_levels = 63;

void run_step(const Step& step, const std::byte* from, std::byte* to) noexcept;

/// Runs the repetitions of `range` of level `which`, all of the levels inside it and one of those outside.
void run_box(const Step& step, std::size_t which, Repetitions range, const std::byte* from, std::byte* to) noexcept {
  const auto extent_of = [&](int level) -> std::int64_t {
    const auto i = static_cast<std::size_t>(level);
    return i < which ? 1 : i == which ? range.last - range.first : step.levels[i].extent;
  };
  if (which < step.levels.size()) {
    from += range.first * step.levels[which].source_stride;
    to += range.first * step.levels[which].destination_stride;
  }
  std::array<JointLevel, max_levels> loops;
  for (std::size_t i = 0; i < step.order.size(); ++i) {
    loops[i] = step.levels[static_cast<std::size_t>(step.order[i])];
    loops[i].extent = extent_of(step.order[i]);
  }
  if (step.kernel == nullptr) {
    for_each_repetition(loops.data(), step.order.size(), from, to, [&](const std::byte* at_from, std::byte* at_to) {
      for (const Step& part : step.steps) {
        run_step(part, at_from, at_to);
      }
    });
    return;
  }
  Work work = step.work;
  if (step.inner >= 0) {
    work.inner.extent = extent_of(step.inner);
  }
  if (step.outer >= 0) {
    work.outer.extent = extent_of(step.outer);
  }
  for_each_repetition(loops.data(), step.order.size(), from, to,
                      [&](const std::byte* at_from, std::byte* at_to) { step.kernel(at_from, at_to, work); });
}

void run_step(const Step& step, const std::byte* from, std::byte* to) noexcept {
  run_box(step, 0, {0, step.levels.empty() ? 1 : step.levels[0].extent}, from + step.source_offset,
          to + step.destination_offset);
}

/// Moves bytes `first` to `last` of a packing, counted from the step's own first byte.
class PartOfPacking {
 public:
  /// `is_pack`: the destination is the contiguous side.
  explicit PartOfPacking(bool is_pack) : is_pack_(is_pack) {}

  void run(const Step& step, const std::byte* from, std::byte* to, Repetitions range) const noexcept {
    run_level(step, 0, step.bytes(), from + step.source_offset, to + step.destination_offset, range);
  }

 private:
  /// `bytes`: of one repetition of all levels outside `which`.
  void run_level(const Step& step, std::size_t which, std::int64_t bytes, const std::byte* from, std::byte* to,
                 Repetitions range) const noexcept {
    if (range.first == range.last) {
      return;
    }
    if (range.first == 0 && range.last == bytes) {
      run_box(step, which, {0, which < step.levels.size() ? step.levels[which].extent : 1}, from, to);
      return;
    }
    if (which == step.levels.size()) {
      run_leaf(step, from, to, range);
      return;
    }
    const JointLevel& level = step.levels[which];
    const std::int64_t each = bytes / level.extent;
    const auto one = [&](std::int64_t i, Repetitions inside) {
      run_level(step, which + 1, each, from + i * level.source_stride, to + i * level.destination_stride, inside);
    };
    Repetitions whole{(range.first + each - 1) / each, range.last / each};
    if (whole.first > whole.last) {
      one(whole.last, {range.first - whole.last * each, range.last - whole.last * each});
      return;
    }
    if (range.first < whole.first * each) {
      one(whole.first - 1, {range.first - (whole.first - 1) * each, each});
    }
    if (whole.first < whole.last) {
      run_box(step, which, whole, from, to);
    }
    one(whole.last, {0, range.last - whole.last * each});
  }

  void run_leaf(const Step& step, const std::byte* from, std::byte* to, Repetitions range) const noexcept {
    if (!step.steps.empty()) {
      std::int64_t begin = 0;
      for (const Step& part : step.steps) {
        const std::int64_t end = begin + part.bytes();
        if (begin < range.last && range.first < end) {
          run(part, from, to, {std::max(range.first, begin) - begin, std::min(range.last, end) - begin});
        }
        begin = end;
      }
    } else if (!step.offsets.empty()) {
      run_entries(step, from, to, range);
    } else if (!step.pieces.empty()) {
      run_pieces(step, from, to, range);
    } else {
      std::memcpy(to + range.first, from + range.first, static_cast<std::size_t>(range.last - range.first));
    }
  }

  void run_entries(const Step& step, const std::byte* from, std::byte* to, Repetitions range) const noexcept {
    const std::int64_t block = step.work.block;
    const auto position = [&](std::size_t i) -> std::int64_t {
      return block > 0 ? static_cast<std::int64_t>(i) * block : step.positions[i];
    };
    std::size_t i = block > 0 ? static_cast<std::size_t>(range.first / block)
                              : static_cast<std::size_t>(std::ranges::upper_bound(step.positions, range.first) -
                                                         step.positions.begin() - 1);
    for (; position(i) < range.last; ++i) {
      const std::int64_t begin = std::max(range.first, position(i));
      const std::int64_t end = std::min(range.last, position(i + 1));
      const std::int64_t apart = step.offsets[i] + (begin - position(i));
      std::memcpy(to + (is_pack_ ? begin : apart), from + (is_pack_ ? apart : begin),
                  static_cast<std::size_t>(end - begin));
    }
  }

  void run_pieces(const Step& step, const std::byte* from, std::byte* to, Repetitions range) const noexcept {
    const auto position = [this](const Piece& piece) {
      return is_pack_ ? piece.destination_offset : piece.source_offset;
    };
    auto piece = std::ranges::upper_bound(step.pieces, range.first, {}, position) - 1;
    for (; piece != step.pieces.end() && position(*piece) < range.last; ++piece) {
      const std::int64_t begin = std::max<std::int64_t>(range.first - position(*piece), 0);
      const std::int64_t end = std::min(range.last - position(*piece), piece->bytes);
      std::memcpy(to + piece->destination_offset + begin, from + piece->source_offset + begin,
                  static_cast<std::size_t>(end - begin));
    }
  }

  bool is_pack_;
};

/// Moves what lies between the two counts of bytes, walking both layouts from their beginnings.
void walk_part(const Mover::Program& program, const std::byte* from, std::byte* to, Repetitions range) noexcept {
  std::int64_t done = 0;
  for_each_piece(program.source, program.destination, range.last,
                 [&](std::int64_t at_from, std::int64_t at_to, std::int64_t bytes) {
                   const std::int64_t skipped = std::clamp<std::int64_t>(range.first - done, 0, bytes);
                   done += bytes;
                   std::memcpy(to + at_to + skipped, from + at_from + skipped,
                               static_cast<std::size_t>(bytes - skipped));
                   return true;
                 });
}

std::string describe_step(const Step& step) {
  std::string text;
  for (const int level : step.order) {
    text += fmt::format("{} x ", step.levels[static_cast<std::size_t>(level)].extent);
  }
  if (!step.steps.empty()) {
    text += "(";
    for (const Step& part : step.steps) {
      text += (&part == step.steps.data() ? "" : ", ") + describe_step(part);
    }
    return text + ")";
  }
  if (!step.offsets.empty()) {
    return fmt::format("{}list of {}{}", text, step.offsets.size(),
                       step.work.block > 0 ? fmt::format(" x {} B", step.work.block) : "");
  }
  if (!step.pieces.empty()) {
    return fmt::format("{}list of {}", text, step.pieces.size());
  }
  return fmt::format("{}{} {} x {} of {} B", text, step.work.is_transposition ? "transpose" : "rows",
                     step.work.outer.extent, step.work.inner.extent, step.work.block);
}

}  // namespace

std::int64_t Step::bytes() const noexcept {
  std::int64_t all = bytes_inside;
  for (const JointLevel& level : levels) {
    all *= level.extent;
  }
  return all;
}

void run(const Mover::Program& program, const std::byte* from, std::byte* to) noexcept {
  if (program.has_steps) {
    run_step(program.root, from, to);
  } else {
    walk_part(program, from, to, {0, program.bytes});
  }
}

void run_part(const Mover::Program& program, const std::byte* from, std::byte* to, std::int64_t first,
              std::int64_t last) noexcept {
  if (first == 0 && last == program.bytes) {
    run(program, from, to);
  } else if (program.is_packing && program.has_steps) {
    PartOfPacking(program.is_pack).run(program.root, from, to, {first, last});
  } else {
    walk_part(program, from, to, {first, last});
  }
}

std::string describe(const Mover::Program& program) {
  return fmt::format("{} bytes: {}{}, {}", program.bytes,
                     program.has_steps ? describe_step(program.root) : "run by run",
                     program.hint == Hint::streaming ? ", streaming" : "", kernels_of(program.set).name);
}

}  // namespace penstock::mover
