// A planned transform, and one run of it, which calls one pass after the other with the addresses of its rows. Private
// to the module.
#pragma once

#include <algorithm>
#include <cstring>

#include "penstock/base/numbers.hpp"
#include "penstock/transform/numbers.hpp"
#include "penstock/transform/pass_tables.hpp"
#include "penstock/transform/program.hpp"
#include "penstock/transform/transform.hpp"

namespace penstock::transform {

// Real pencils are transformed in pairs, one as the real parts and one as the imaginary parts of a complex pencil: a
// row of twice as many real pencils as a vector has lanes is a pair of vectors, as it is of that many complex ones.
template <class Real>
struct Transform<Real>::Plan {
  static constexpr std::int64_t real_bytes = sizeof(Real);

  Plan(const Shape& the_shape, InstructionSet set, const Variant& variant)
      : shape(the_shape),
        table(passes_of<Real>(set)),
        has_real_source(shape.kind == Kind::real_to_complex || shape.kind >= Kind::redft00),
        has_real_destination(shape.kind == Kind::complex_to_real || shape.kind >= Kind::redft00) {
    const bool is_complex = !has_real_source && !has_real_destination;
    const bool are_rows = shape.source == Spacing::contiguous && shape.destination == Spacing::contiguous;
    if (shape.kind < Kind::redft00 && are_rows && variant.is_by_rows) {
      rows = make_row_program(shape.kind, shape.length, table, variant);
      if (!rows.steps.empty()) {
        return;
      }
    }
    program = make_program(shape.kind, shape.length, table, work_row_bytes(shape.pencils),
                           is_complex ? in_lines(variant) : variant);
    // A pass takes squares of complex numbers where it has a square's points.
    const std::int64_t points = table.lanes / 2;
    const Step<Real>& first = program.steps.front();
    const Step<Real>& last = program.steps.back();
    const bool takes_squares = is_complex && first.from == Step<Real>::none && first.inner_count >= points;
    const bool gives_squares = is_complex && last.to == Step<Real>::none && last.block_count >= points;
    gathers = shape.source != Spacing::adjacent && !takes_squares;
    scatters = shape.destination != Spacing::adjacent && !gives_squares;
    // What begins or ends within lines is scattered, a pencil whole, where the lines between bypass the cache.
    streams_pencils = shape.destination == Spacing::contiguous && shape.length * 2 * real_bytes % line_bytes != 0;
  }

  std::int64_t number_bytes(bool is_real) const noexcept { return is_real ? real_bytes : 2 * real_bytes; }
  std::int64_t points(bool is_real) const noexcept {
    const bool is_half = (has_real_source || has_real_destination) && !is_real;
    return is_half ? shape.length / 2 + 1 : shape.length;
  }
  /// What passes take for a row: of complex pencils, or pairs of real ones.
  std::int64_t row_bytes(std::int64_t pencils) const noexcept {
    return pencils * number_bytes(has_real_source || has_real_destination);
  }
  std::int64_t work_row_bytes(std::int64_t pencils) const noexcept {
    return round_up(row_bytes(pencils), 2 * table.lanes * real_bytes);
  }
  /// A row of a stage, for the points of pencils that no pass takes or gives where they are.
  std::int64_t stage_row_bytes(std::int64_t pencils) const noexcept {
    return round_up(pencils * 2 * real_bytes, 2 * table.lanes * real_bytes);
  }
  std::int64_t stage_rows() const noexcept { return gathers || scatters || streams_pencils ? shape.length : 0; }
  /// Offsets of the program's lists, of the pairs' rows, of a stage's rows, of the destination read backwards.
  std::int64_t offset_count() const noexcept {
    return static_cast<std::int64_t>(program.rows.size()) + 3 * shape.length;
  }

  /// Pencils of whole lines bypass the cache where the last pass gives whole lines of each.
  Variant in_lines(const Variant& variant) const {
    const std::int64_t points = line_bytes / (2 * real_bytes);
    Algorithms algorithms = algorithms_with(table, Vectors::across_pencils);
    if (shape.destination == Spacing::adjacent || !variant.radices.empty() || shape.length % points != 0 ||
        algorithms.cheapest(shape.length).kind != Algorithm::Kind::passes) {
      return variant;
    }
    return {.radices = algorithms.factors(shape.length, points), .is_by_rows = variant.is_by_rows};
  }

  Shape shape;
  const PassTable<Real>& table;
  bool has_real_source;
  bool has_real_destination;
  RowProgram<Real> rows;  // without steps where the program transforms
  Program<Real> program;
  bool gathers = false;
  bool scatters = false;
  bool streams_pencils = false;
};

/// One run of a program: where its memory lies in the scratch, and what lies where.
template <class Real>
class Transform<Real>::Run {
  using Owner = RowList::Owner;

 public:
  Run(const Plan& plan, std::int64_t pencils, std::span<std::byte> scratch)
      : plan_(plan),
        program_(plan.program),
        row_bytes_(plan.work_row_bytes(pencils)),
        own_(scratch.data() + program_.work_rows * row_bytes_) {
    std::byte* const staged = own_ + program_.own_rows * row_bytes_;
    const std::int64_t stage_row_bytes = plan.stage_row_bytes(pencils);
    list_offsets_ = reinterpret_cast<std::int64_t*>(staged + plan.stage_rows() * stage_row_bytes);
    pair_offsets_ = list_offsets_ + program_.rows.size();
    std::int64_t* const stage_offsets = pair_offsets_ + program_.length;
    backward_offsets_ = stage_offsets + program_.length;
    stage_ = {staged, stage_offsets, 0};
    const bool has_pairs = plan.has_real_source || plan.has_real_destination;
    for (std::int64_t k = 0; has_pairs && k < program_.length; ++k) {
      pair_offsets_[k] = (program_.pairs_row + k) * row_bytes_;
    }
    for (std::int64_t k = 0; k < plan.stage_rows(); ++k) {
      stage_offsets[k] = k * stage_row_bytes;
    }
    pass_.work = reinterpret_cast<Real*>(scratch.data());
    pass_.pencils = pencils;
    pass_.row_bytes = plan.row_bytes(pencils);
    if (program_.has_zero_row) {
      std::memset(own_ + RowList::kept_row(RowList::zero) * row_bytes_, 0, static_cast<std::size_t>(row_bytes_));
    }
  }

  void operator()(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, Real factor,
                  Access access) {
    source_ = source;
    destination_ = destination;
    if (access.next != nullptr) {
      prefetch_next(*access.next, access.next_pencils);
    }
    pass_.ahead = &prefetch_;
    if (plan_.gathers) {
      const bool is_real = plan_.has_real_source;
      pass_.source = source;
      pass_.destination = stage_;
      pass_.inner_count = plan_.points(is_real);
      pass_.is_from_memory = access.is_from_memory;
      plan_.table.gather[is_real ? 1 : 0](pass_);
      source_ = {stage_.base, stage_.offsets, plan_.number_bytes(is_real)};
      access.is_from_memory = false;
    }
    const bool is_streaming = access.is_streaming;
    const bool scatters = plan_.scatters || (plan_.streams_pencils && access.is_streaming);
    if (scatters) {
      access.is_streaming = false;
      destination_ = {stage_.base, stage_.offsets, plan_.number_bytes(plan_.has_real_destination)};
    }
    // The backward transform is the forward one that stores output k as point n - k.
    if (plan_.shape.kind == Kind::backward || plan_.shape.kind == Kind::complex_to_real) {
      backward_offsets_[0] = destination_.offsets[0];
      std::reverse_copy(destination_.offsets + 1, destination_.offsets + program_.length, backward_offsets_ + 1);
      destination_.offsets = backward_offsets_;
    }
    place_lists();
    const Pencils<std::byte> pairs{own_, pair_offsets_, 0};
    if (plan_.shape.kind == Kind::complex_to_real) {
      pass_.source = source_;
      pass_.destination = pairs;
      pass_.inner_count = program_.length;
      plan_.table.tangle(pass_);
    }
    for (std::size_t i = 0; i < program_.steps.size();) {
      i = make_passes(i, factor, access);
    }
    if (plan_.shape.kind == Kind::real_to_complex) {
      pass_.source = {pairs.base, pairs.offsets, 0};
      pass_.destination = destination_;
      pass_.inner_count = program_.length;
      pass_.row_bytes = plan_.row_bytes(pass_.pencils);
      pass_.factor = factor;
      pass_.is_streaming = access.is_streaming;
      plan_.table.untangle(pass_);
    }
    if (scatters) {
      const bool is_real = plan_.has_real_destination;
      pass_.source = {stage_.base, stage_.offsets, 0};
      pass_.destination = destination;
      pass_.inner_count = plan_.points(is_real);
      pass_.is_streaming = is_streaming;
      plan_.table.scatter[is_real ? 1 : 0](pass_);
    }
  }

 private:
  /// Asks for other pencils like the source's while this run works: all lines of each.
  void prefetch_next(const Pencils<const std::byte>& next, std::int64_t pencils) {
    const std::int64_t number_bytes = plan_.number_bytes(plan_.has_real_source);
    const std::int64_t points = plan_.points(plan_.has_real_source);
    prefetch_ = {.base = next.base, .offset = next.offsets, .next = next.base + next.offsets[0]};
    if (next.pencil_stride == number_bytes) {  // points of all pencils
      prefetch_.offset_step = 1;
      prefetch_.rows_left = points;
      prefetch_.lines = divide_up(pencils * number_bytes, line_bytes);
      prefetch_.line_stride = line_bytes;
    } else if (next.offsets[points - 1] - next.offsets[0] == (points - 1) * number_bytes) {  // pencils
      prefetch_.row_stride = next.pencil_stride;
      prefetch_.rows_left = pencils;
      prefetch_.lines = divide_up(points * number_bytes, line_bytes);
      prefetch_.line_stride = line_bytes;
    } else {  // points, each in a line of every pencil
      prefetch_.offset_step = 1;
      prefetch_.rows_left = points;
      prefetch_.lines = pencils;
      prefetch_.line_stride = next.pencil_stride;
    }
    prefetch_.lines_left = prefetch_.lines;
    prefetched_lines_ = prefetch_.rows_left * prefetch_.lines;
  }

  /// The offsets of the rows of all lists, from where the list's owner has its first.
  void place_lists() {
    for (const RowList& list : program_.lists) {
      const bool is_source = list.owner == Owner::source;
      const bool is_own = list.owner == Owner::program;
      const std::int64_t* const of_caller = is_source ? source_.offsets : destination_.offsets;
      const std::byte* const base = is_own ? own_ : is_source ? source_.base : destination_.base;
      const std::int64_t kept = reinterpret_cast<std::intptr_t>(own_) - reinterpret_cast<std::intptr_t>(base);
      for (std::size_t i = list.begin; i < list.begin + list.count; ++i) {
        const std::int32_t row = program_.rows[i];
        list_offsets_[i] = row < 0  ? kept + RowList::kept_row(row) * row_bytes_
                           : is_own ? row * row_bytes_
                                    : of_caller[row];
      }
    }
  }

  /// The passes of one transform, or a step of its own: from step `first` on. Returns the step behind them.
  std::size_t make_passes(std::size_t first, Real factor, Access access) {
    using StepKind = typename Step<Real>::Kind;
    const std::vector<Step<Real>>& steps = program_.steps;
    if (steps[first].kind == StepKind::rader || steps[first].kind == StepKind::combine) {
      prepare(steps[first], factor, access);
      run(steps[first]);
      return first + 1;
    }
    std::size_t last = first;
    while (steps[last].kind != StepKind::last) {
      ++last;
    }
    const bool ends_apart =
        steps[last].to == Step<Real>::none && is_apart(destination_, plan_.has_real_destination ? 1 : 0);
    descend({last, factor, access, !ends_apart && steps[first].is_of_one}, first, 0, 0);
    return last + 1;
  }

  /// The passes of one transform.
  struct Passes {
    std::size_t last;
    Real factor;
    Access access;
    bool goes_deep;  ///< may do sub-transforms one after the other
  };

  /// Does sub-transform `block` of pass `i`: where it stays in the first-level cache, pass by pass, else this pass of
  /// it and then its own sub-transforms. `output` is the first block of the last pass that is its own.
  void descend(const Passes& passes, std::size_t i, std::int64_t block, std::int64_t output) {
    constexpr std::int64_t cache_bytes = 16 << 10;  // half of what first levels have, or less
    const std::vector<Step<Real>>& steps = program_.steps;
    const std::int64_t blocks = steps[i].block_count;
    const std::int64_t block_bytes = steps[i].inner_count * steps[i].passes->radix * row_bytes_;
    const bool is_whole = !passes.goes_deep || block_bytes <= cache_bytes || i == passes.last;
    for (std::size_t k = i; k <= (is_whole ? passes.last : i); ++k) {
      prepare(steps[k], passes.factor, passes.access);
      if (k == passes.last) {
        pass_.block = output;
        pass_.block_step = blocks;
      } else {
        const std::int64_t share = steps[k].block_count / blocks;
        pass_.block = block * share;
        pass_.block_end = pass_.block + share;
      }
      run(steps[k]);
    }
    for (std::int64_t q = 0; !is_whole && q < steps[i].passes->radix; ++q) {
      descend(passes, i + 1, block * steps[i].passes->radix + q, output + q * blocks);
    }
  }

  /// Has the next pass do all of a step.
  void prepare(const Step<Real>& step, Real factor, Access access) {
    const Owner from = step.from == Step<Real>::none ? Owner::source : program_.lists[step.from].owner;
    const Owner to = step.to == Step<Real>::none ? Owner::destination : program_.lists[step.to].owner;
    pass_.source = source_;
    if (step.from != Step<Real>::none) {
      pass_.source = {from == Owner::source ? source_.base : own_, list_offsets_ + program_.lists[step.from].begin,
                      plan_.number_bytes(false)};
    }
    pass_.destination = destination_;
    if (step.to != Step<Real>::none) {
      pass_.destination = {to == Owner::destination ? destination_.base : own_,
                           list_offsets_ + program_.lists[step.to].begin, plan_.number_bytes(false)};
    }
    pass_.blocks = program_.places.data() + step.blocks;
    pass_.block_count = step.block_count;
    pass_.block = 0;
    pass_.block_end = step.block_count;
    pass_.block_step = 1;
    pass_.inner = program_.places.data() + step.inner;
    pass_.inner_count = step.inner_count;
    pass_.leg_rows = step.leg_rows;
    pass_.roots = program_.roots.data() + step.roots;
    pass_.factors = step.factors == Step<Real>::none ? nullptr : program_.roots.data() + step.factors;
    pass_.factor = to == Owner::destination ? factor : Real{1};
    pass_.is_from_memory = access.is_from_memory && from == Owner::source;
    pass_.is_streaming = access.is_streaming && to == Owner::destination;
    from_format_ = from == Owner::program || plan_.has_real_source ? 1 : 0;
    to_format_ = to == Owner::program || plan_.has_real_destination ? 1 : 0;
    const std::int64_t callers = plan_.row_bytes(pass_.pencils);
    const std::int64_t read = from == Owner::program ? row_bytes_ : callers;
    const std::int64_t stored = to == Owner::program ? row_bytes_ : callers;
    // Each pass asks for its share, a little at each of its steps; apart, vector after vector of pencils.
    using StepKind = typename Step<Real>::Kind;
    const bool is_by_vectors = (step.kind == StepKind::first && is_apart(pass_.source, from_format_)) ||
                               (step.kind == StepKind::last && is_apart(pass_.destination, to_format_));
    const std::int64_t vectors = is_by_vectors ? (pass_.pencils + plan_.table.lanes - 1) / plan_.table.lanes : 1;
    const std::int64_t turns =
        vectors * std::max<std::int64_t>(step.block_count, 1) * std::max<std::int64_t>(step.inner_count, 1);
    const std::int64_t share = prefetched_lines_ / std::ssize(program_.steps) + 1;
    prefetch_.lines_at_once = (share + turns - 1) / turns;
    pass_.row_bytes = step.kind == Step<Real>::Kind::last ? stored : read;
    pass_.stored_row_bytes = stored;
    pass_.sums = own_ + step.sum_row * row_bytes_;
    pass_.sum_stride = step.leg_rows * row_bytes_;
    pass_.sum_factor = step.sum_factor;
  }

  void run(const Step<Real>& step) {
    using StepKind = typename Step<Real>::Kind;
    switch (step.kind) {
      case StepKind::first:
        (is_apart(pass_.source, from_format_) ? step.passes->first_apart : step.passes->first[from_format_])(pass_);
        break;
      case StepKind::middle:
        step.passes->middle(pass_);
        break;
      case StepKind::last:
        (is_apart(pass_.destination, to_format_) ? step.passes->last_apart : step.passes->last[to_format_])(pass_);
        break;
      case StepKind::combine:
        plan_.table.combine(pass_);
        break;
      case StepKind::rader:
        plan_.table.add_first[from_format_][to_format_](pass_);
        break;
    }
  }

  template <class Byte>
  bool is_apart(const Pencils<Byte>& pencils, std::size_t format) const {
    return format == 0 && pencils.pencil_stride != plan_.number_bytes(false);
  }

  const Plan& plan_;
  const Program<Real>& program_;
  std::int64_t row_bytes_;
  std::byte* own_;
  std::int64_t* list_offsets_;
  std::int64_t* pair_offsets_;
  std::int64_t* backward_offsets_;
  Pencils<std::byte> stage_;
  Pencils<const std::byte> source_;  // as the program sees them
  Pencils<std::byte> destination_;
  PassWork<Real> pass_;
  Prefetch prefetch_;
  std::int64_t prefetched_lines_ = 0;  ///< of all of it
  std::size_t from_format_ = 0;
  std::size_t to_format_ = 0;
};

}  // namespace penstock::transform
