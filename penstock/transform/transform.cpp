#include "penstock/transform/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "penstock/base/base.hpp"
#include "penstock/transform/pass_tables.hpp"
#include "penstock/transform/program.hpp"

namespace penstock::transform {
namespace {

using Owner = RowList::Owner;

std::int64_t round_up(std::int64_t value, std::int64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

// Real pencils are transformed in pairs, one as the real parts and one as the imaginary parts of a complex pencil: a
// row of twice as many real pencils as a vector has lanes is a pair of vectors, as it is of that many complex ones.
template <class Real>
struct Transform<Real>::Plan {
  static constexpr std::int64_t real_bytes = sizeof(Real);

  Plan(const Shape& the_shape, InstructionSet set)
      : shape(the_shape),
        table(passes_of<Real>(set)),
        has_real_source(shape.kind == Kind::real_to_complex),
        has_real_destination(shape.kind == Kind::complex_to_real) {
    const bool is_complex = !has_real_source && !has_real_destination;
    if (is_complex && shape.source == Spacing::contiguous && shape.destination == Spacing::contiguous) {
      rows = make_row_program(shape.length, table);
      if (!rows.steps.empty()) {
        return;
      }
    }
    const Ends ends = is_complex ? Ends::callers : has_real_source ? Ends::into_pairs : Ends::out_of_pairs;
    program = make_program(shape.length, ends, table, work_row_bytes(shape.pencils));
    // A pass takes squares of complex numbers where it has a square's points.
    const std::int64_t points = table.lanes / 2;
    const Step<Real>& first = program.steps.front();
    const Step<Real>& last = program.steps.back();
    const bool takes_squares = is_complex && first.from == Step<Real>::none && first.inner_count >= points;
    const bool gives_squares = is_complex && last.to == Step<Real>::none && last.block_count >= points;
    gathers = shape.source != Spacing::adjacent && !takes_squares;
    scatters = shape.destination != Spacing::adjacent && !gives_squares;
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
  std::int64_t stage_rows() const noexcept { return gathers || scatters ? shape.length : 0; }
  /// Offsets of the program's lists, of the pairs' rows, of a stage's rows, of the destination read backwards.
  std::int64_t offset_count() const noexcept {
    return static_cast<std::int64_t>(program.rows.size()) + 3 * shape.length;
  }

  Shape shape;
  const PassTable<Real>& table;
  bool has_real_source;
  bool has_real_destination;
  RowProgram<Real> rows;  // without steps where the program transforms
  Program<Real> program;
  bool gathers = false;
  bool scatters = false;
};

/// One run of a program: where its memory lies in the scratch, and what lies where.
template <class Real>
class Transform<Real>::Run {
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
    for (std::int64_t k = 0; k < program_.length; ++k) {
      pair_offsets_[k] = (program_.pairs_row + k) * row_bytes_;
      stage_offsets[k] = k * stage_row_bytes;
    }
    pass_.work = reinterpret_cast<Real*>(scratch.data());
    pass_.pencils = pencils;
    pass_.row_bytes = plan.row_bytes(pencils);
    if (program_.has_zero_row) {
      std::memset(own_, 0, static_cast<std::size_t>(row_bytes_));
    }
  }

  void operator()(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination, Real factor,
                  Access access) {
    source_ = source;
    destination_ = destination;
    if (plan_.gathers) {
      const bool is_real = plan_.has_real_source;
      pass_.source = source;
      pass_.destination = stage_;
      pass_.inner_count = plan_.points(is_real);
      plan_.table.gather[is_real ? 1 : 0](pass_);
      source_ = {stage_.base, stage_.offsets, plan_.number_bytes(is_real)};
      access.is_from_memory = false;
    }
    if (plan_.scatters) {
      destination_ = {stage_.base, stage_.offsets, plan_.number_bytes(plan_.has_real_destination)};
      access.is_streaming = false;
    }
    // The backward transform is the forward one that stores output k as point n - k.
    if (plan_.shape.kind == Kind::backward || plan_.shape.kind == Kind::complex_to_real) {
      backward_offsets_[0] = destination_.offsets[0];
      std::reverse_copy(destination_.offsets + 1, destination_.offsets + program_.length, backward_offsets_ + 1);
      destination_.offsets = backward_offsets_;
    }
    place_lists();
    const Pencils<std::byte> pairs{own_, pair_offsets_, 0};
    if (plan_.has_real_destination) {
      pass_.source = source_;
      pass_.destination = pairs;
      pass_.inner_count = program_.length;
      plan_.table.tangle(pass_);
    }
    for (const Step<Real>& step : program_.steps) {
      make(step, factor, access);
    }
    if (plan_.has_real_source) {
      pass_.source = {pairs.base, pairs.offsets, 0};
      pass_.destination = destination_;
      pass_.inner_count = program_.length;
      pass_.row_bytes = plan_.row_bytes(pass_.pencils);
      pass_.factor = factor;
      pass_.is_streaming = access.is_streaming;
      plan_.table.untangle(pass_);
    }
    if (plan_.scatters) {
      const bool is_real = plan_.has_real_destination;
      pass_.source = {stage_.base, stage_.offsets, 0};
      pass_.destination = destination;
      pass_.inner_count = plan_.points(is_real);
      plan_.table.scatter[is_real ? 1 : 0](pass_);
    }
  }

 private:
  /// The offsets of the rows of all lists, from where the list's owner has its first.
  void place_lists() {
    for (const RowList& list : program_.lists) {
      const std::int64_t* const of_caller = list.owner == Owner::source ? source_.offsets : destination_.offsets;
      for (std::size_t i = list.begin; i < list.begin + list.count; ++i) {
        const std::int32_t row = program_.rows[i];
        list_offsets_[i] = list.owner == Owner::program ? row * row_bytes_ : of_caller[row];
      }
    }
  }

  void make(const Step<Real>& step, Real factor, Access access) {
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
    pass_.inner = program_.places.data() + step.inner;
    pass_.inner_count = step.inner_count;
    pass_.leg_rows = step.leg_rows;
    pass_.roots = program_.roots.data() + step.roots;
    pass_.factors = step.factors == Step<Real>::none ? nullptr : program_.roots.data() + step.factors;
    pass_.factor = to == Owner::destination ? factor : Real{1};
    pass_.is_from_memory = access.is_from_memory && from == Owner::source;
    pass_.is_streaming = access.is_streaming && to == Owner::destination;
    const std::size_t from_format = from == Owner::program || plan_.has_real_source ? 1 : 0;
    const std::size_t to_format = to == Owner::program || plan_.has_real_destination ? 1 : 0;
    const std::int64_t callers = plan_.row_bytes(pass_.pencils);
    const std::int64_t read = from == Owner::program ? row_bytes_ : callers;
    const std::int64_t stored = to == Owner::program ? row_bytes_ : callers;
    using StepKind = typename Step<Real>::Kind;
    pass_.row_bytes = step.kind == StepKind::last ? stored : read;
    pass_.stored_row_bytes = stored;
    switch (step.kind) {
      case StepKind::first:
        (is_apart(pass_.source, from_format) ? step.passes->first_apart : step.passes->first[from_format])(pass_);
        break;
      case StepKind::middle:
        step.passes->middle(pass_);
        break;
      case StepKind::last:
        (is_apart(pass_.destination, to_format) ? step.passes->last_apart : step.passes->last[to_format])(pass_);
        break;
      case StepKind::rader:
        pass_.sums = own_ + step.sum_row * row_bytes_;
        pass_.sum_factor = step.sum_factor;
        plan_.table.add_first[from_format][to_format](pass_);
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
};

template <class Real>
Transform<Real>::Transform(const Shape& shape, InstructionSet set) {
  if (shape.length < 1 || shape.length > most_length) {
    throw Error(fmt::format("a transform has 1 to {} points, not {}", most_length, shape.length));
  }
  if (shape.pencils < 1) {
    throw Error(fmt::format("a transform has 1 pencil or more, not {}", shape.pencils));
  }
  plan_ = std::make_unique<const Plan>(shape, set);
}

template <class Real>
Transform<Real>::~Transform() = default;
template <class Real>
Transform<Real>::Transform(Transform&&) noexcept = default;
template <class Real>
Transform<Real>& Transform<Real>::operator=(Transform&&) noexcept = default;

template <class Real>
const Shape& Transform<Real>::shape() const noexcept {
  return plan_->shape;
}

template <class Real>
std::int64_t Transform<Real>::source_points() const noexcept {
  return plan_->points(plan_->has_real_source);
}

template <class Real>
std::int64_t Transform<Real>::destination_points() const noexcept {
  return plan_->points(plan_->has_real_destination);
}

template <class Real>
std::int64_t Transform<Real>::source_number_bytes() const noexcept {
  return plan_->number_bytes(plan_->has_real_source);
}

template <class Real>
std::int64_t Transform<Real>::destination_number_bytes() const noexcept {
  return plan_->number_bytes(plan_->has_real_destination);
}

template <class Real>
std::size_t Transform<Real>::scratch_bytes() const noexcept {
  const Plan& plan = *plan_;
  const std::int64_t pencils = plan.shape.pencils;
  if (!plan.rows.steps.empty()) {
    return static_cast<std::size_t>(plan.shape.length * 2 * Plan::real_bytes);
  }
  return static_cast<std::size_t>((plan.program.work_rows + plan.program.own_rows) * plan.work_row_bytes(pencils) +
                                  plan.stage_rows() * plan.stage_row_bytes(pencils) +
                                  plan.offset_count() * static_cast<std::int64_t>(sizeof(std::int64_t)));
}

template <class Real>
std::string Transform<Real>::describe() const {
  return fmt::format("{} ({})", plan_->rows.steps.empty() ? plan_->program.text : plan_->rows.text, plan_->table.name);
}

template <class Real>
void Transform<Real>::run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination,
                          std::int64_t pencils, std::span<std::byte> scratch, Real factor,
                          Access access) const noexcept {
  PENSTOCK_ASSERT(pencils > 0 && pencils <= plan_->shape.pencils && scratch.size() >= scratch_bytes());
  if (plan_->rows.steps.empty()) {
    Run(*plan_, pencils, scratch)(source, destination, factor, access);
    return;
  }
  // Pencil by pencil, each in the first-level cache.
  const RowProgram<Real>& program = plan_->rows;
  const bool is_backward = plan_->shape.kind == Kind::backward;
  RowWork<Real> pass;
  pass.work = reinterpret_cast<Real*>(scratch.data());
  pass.blocks = program.blocks.data();
  pass.factor = factor;
  for (std::int64_t pencil = 0; pencil < pencils; ++pencil) {
    pass.source = source.base + source.offsets[0] + pencil * source.pencil_stride;
    pass.destination = destination.base + destination.offsets[0] + pencil * destination.pencil_stride;
    pass.ahead_bytes = access.is_from_memory && pencil + 1 < pencils ? source.pencil_stride : 0;
    for (const RowStep<Real>& step : program.steps) {
      pass.block_count = step.block_count;
      pass.inner_pairs = step.inner_pairs;
      pass.roots = reinterpret_cast<const Real*>(program.roots.data()) + step.roots;
      (is_backward ? step.pass_backward : step.pass)(pass);
    }
  }
}

template class Transform<float>;
template class Transform<double>;

}  // namespace penstock::transform
