#include "penstock/transform/transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "penstock/base/base.hpp"
#include "penstock/transform/pass_tables.hpp"
#include "penstock/transform/program.hpp"

namespace penstock::transform {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

// The scratch of a run: the work buffer, the program's own rows, rows for the points of pencils apart that no pass can
// take or give as they are, offsets.
template <class Real>
struct Transform<Real>::Plan {
  static constexpr std::int64_t number_bytes = 2 * sizeof(Real);

  Plan(const Shape& the_shape, InstructionSet the_set)
      : shape(the_shape), set(the_set), table(passes_of<Real>(set)), row_bytes(row_bytes_of(shape.pencils)) {
    if (shape.source == Spacing::contiguous && shape.destination == Spacing::contiguous) {
      rows = make_row_program(shape.length, table);
      if (!rows.steps.empty()) {
        return;
      }
    }
    program = make_program(shape.length, table, row_bytes);
    const bool is_plain = program.lists.empty();
    const Step<Real>& first = program.steps.front();
    const Step<Real>& last = program.steps.back();
    gathers = shape.source != Spacing::adjacent && !(is_plain && first.inner_count >= table.points);
    scatters = shape.destination != Spacing::adjacent && !(is_plain && last.block_count >= table.points);
  }

  std::int64_t row_bytes_of(std::int64_t pencils) const noexcept {
    return round_up(pencils, table.lanes) * number_bytes;
  }
  std::int64_t staged_rows() const noexcept { return gathers || scatters ? shape.length : 0; }
  /// Offsets of the program's lists, of the rows of a stage, of the destination read backwards.
  std::int64_t offset_count() const noexcept {
    return static_cast<std::int64_t>(program.rows.size()) + 2 * shape.length;
  }

  Shape shape;
  InstructionSet set;
  const PassTable<Real>& table;
  std::int64_t row_bytes;
  RowProgram<Real> rows;  // without steps where the program transforms
  Program<Real> program;
  bool gathers = false;
  bool scatters = false;
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
std::size_t Transform<Real>::scratch_bytes() const noexcept {
  if (!plan_->rows.steps.empty()) {
    return static_cast<std::size_t>(plan_->shape.length * Plan::number_bytes);
  }
  const Program<Real>& program = plan_->program;
  const std::int64_t rows = program.work_rows + program.own_rows + plan_->staged_rows();
  return static_cast<std::size_t>(rows * plan_->row_bytes +
                                  plan_->offset_count() * static_cast<std::int64_t>(sizeof(std::int64_t)));
}

template <class Real>
std::string Transform<Real>::describe() const {
  return fmt::format("{} ({})", plan_->rows.steps.empty() ? plan_->program.text : plan_->rows.text, plan_->table.name);
}

/// Pencil by pencil, each in the first-level cache.
template <class Real>
void Transform<Real>::run_rows(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination,
                               std::int64_t pencils, std::span<std::byte> scratch, Real factor,
                               Access access) const noexcept {
  const RowProgram<Real>& program = plan_->rows;
  const bool is_backward = plan_->shape.direction == Direction::backward;
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

template <class Real>
void Transform<Real>::run(const Pencils<const std::byte>& source, const Pencils<std::byte>& destination,
                          std::int64_t pencils, std::span<std::byte> scratch, Real factor,
                          Access access) const noexcept {
  using Owner = RowList::Owner;
  PENSTOCK_ASSERT(pencils > 0 && pencils <= plan_->shape.pencils && scratch.size() >= scratch_bytes());
  const Plan& plan = *plan_;
  if (!plan.rows.steps.empty()) {
    run_rows(source, destination, pencils, scratch, factor, access);
    return;
  }
  const Program<Real>& program = plan.program;
  const std::int64_t length = program.length;
  const std::int64_t row_bytes = plan.row_bytes_of(pencils);
  std::byte* const work = scratch.data();
  std::byte* const own = work + program.work_rows * row_bytes;
  std::byte* const staged = own + program.own_rows * row_bytes;
  auto* const offsets = reinterpret_cast<std::int64_t*>(staged + plan.staged_rows() * row_bytes);

  Pencils<const std::byte> from = source;
  Pencils<std::byte> to = destination;
  PassWork<Real> pass;
  pass.work = reinterpret_cast<Real*>(work);
  pass.pencils = pencils;
  pass.row_bytes = pencils * Plan::number_bytes;
  pass.inner_count = length;
  std::int64_t* const staged_offsets = offsets + program.rows.size();
  if (plan.gathers || plan.scatters) {
    for (std::int64_t k = 0; k < length; ++k) {
      staged_offsets[k] = k * row_bytes;
    }
  }
  const Pencils<std::byte> stage{staged, staged_offsets, Plan::number_bytes};
  if (plan.gathers) {
    pass.source = source;
    pass.destination = stage;
    plan.table.gather(pass);
    from = {stage.base, stage.offsets, stage.pencil_stride};
  }
  // The backward transform is the forward one that stores output k as point n - k.
  if (plan.shape.direction == Direction::backward) {
    std::int64_t* const backwards = staged_offsets + length;
    backwards[0] = destination.offsets[0];
    std::reverse_copy(destination.offsets + 1, destination.offsets + length, backwards + 1);
    to.offsets = backwards;
  }
  const Pencils<std::byte> scattered_to = to;
  if (plan.scatters) {
    to = stage;
  }

  if (program.has_zero_row) {
    std::memset(own, 0, static_cast<std::size_t>(row_bytes));
  }
  for (const RowList& list : program.lists) {
    const std::int64_t* const of_caller = list.owner == Owner::source ? from.offsets : to.offsets;
    for (std::size_t i = list.begin; i < list.begin + list.count; ++i) {
      offsets[i] = list.owner == Owner::program ? program.rows[i] * row_bytes : of_caller[program.rows[i]];
    }
  }

  using Kind = typename Step<Real>::Kind;
  for (const Step<Real>& step : program.steps) {
    pass.source = from;
    pass.destination = to;
    bool reads_source = true;
    bool writes_destination = true;
    if (step.from != Step<Real>::none) {
      const RowList& list = program.lists[step.from];
      reads_source = list.owner == Owner::source;
      pass.source = {reads_source ? from.base : own, offsets + list.begin, Plan::number_bytes};
    }
    if (step.to != Step<Real>::none) {
      const RowList& list = program.lists[step.to];
      writes_destination = list.owner == Owner::destination;
      pass.destination = {writes_destination ? to.base : own, offsets + list.begin, Plan::number_bytes};
    }
    pass.blocks = program.places.data() + step.blocks;
    pass.block_count = step.block_count;
    pass.inner = program.places.data() + step.inner;
    pass.inner_count = step.inner_count;
    pass.leg_rows = step.leg_rows;
    pass.roots = program.roots.data() + step.roots;
    pass.factors = step.factors == Step<Real>::none ? nullptr : program.roots.data() + step.factors;
    pass.factor = writes_destination ? factor : Real{1};
    pass.is_from_memory = access.is_from_memory && reads_source && !plan.gathers;
    pass.is_streaming = access.is_streaming && writes_destination && !plan.scatters;
    switch (step.kind) {
      case Kind::first:
        (pass.source.pencil_stride == Plan::number_bytes ? step.passes->first : step.passes->first_apart)(pass);
        break;
      case Kind::middle:
        step.passes->middle(pass);
        break;
      case Kind::last:
        (pass.destination.pencil_stride == Plan::number_bytes ? step.passes->last : step.passes->last_apart)(pass);
        break;
      case Kind::rader:
        pass.sums = own + step.sum_row * row_bytes;
        pass.sum_factor = step.sum_factor;
        plan.table.add_first(pass);
        break;
    }
  }
  if (plan.scatters) {
    pass.source = {stage.base, stage.offsets, stage.pencil_stride};
    pass.destination = scattered_to;
    pass.inner_count = length;
    plan.table.scatter(pass);
  }
}

template class Transform<float>;
template class Transform<double>;

}  // namespace penstock::transform
