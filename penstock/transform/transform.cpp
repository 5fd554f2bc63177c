#include "penstock/transform/transform.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "penstock/base/base.hpp"
#include "penstock/transform/run.hpp"
#include "penstock/transform/variants.hpp"

namespace penstock::transform {
template <class Real>
Transform<Real>::Transform(const Shape& shape, InstructionSet set, Effort effort) {
  if (shape.length < 1 || shape.length > max_length) {
    throw Error(fmt::format("a transform has 1 to {} points, not {}", max_length, shape.length));
  }
  if (shape.kind == Kind::redft00 && shape.length < 2) {
    throw Error("a transform of kind redft00 has 2 points or more");
  }
  if (shape.pencils < 1) {
    throw Error(fmt::format("a transform has 1 pencil or more, not {}", shape.pencils));
  }
  plan_ = std::make_unique<const Plan>(shape, set,
                                       effort == Effort::measure ? fastest_variant<Real>(shape, set) : Variant());
}

template <class Real>
Transform<Real>::Transform(const Shape& shape, InstructionSet set, const Variant& variant)
    : plan_(std::make_unique<const Plan>(shape, set, variant)) {}

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
  const std::int64_t pencil_bytes = source_points() * source_number_bytes();
  std::byte* const half = scratch.data() + plan_->shape.length * Plan::real_bytes;  // of real pencils
  RowWork<Real> pass;
  pass.work = reinterpret_cast<Real*>(scratch.data());
  pass.blocks = program.blocks.data();
  for (std::int64_t pencil = 0; pencil < pencils; ++pencil) {
    const std::byte* const from = source.base + source.offsets[0] + pencil * source.pencil_stride;
    std::byte* const to = destination.base + destination.offsets[0] + pencil * destination.pencil_stride;
    // Each pass asks for its share of the next pencil, or of what follows in memory; from cache, of one of those that
    // come next.
    const bool has_next = !access.is_from_memory && access.next != nullptr && pencil < access.next_pencils;
    const std::byte* ahead = has_next
                                 ? access.next->base + access.next->offsets[0] + pencil * access.next->pencil_stride
                                 : from + source.pencil_stride;
    std::int64_t left = access.is_from_memory || has_next ? pencil_bytes : 0;
    for (const RowStep<Real>& step : program.steps) {
      pass.ahead = ahead;
      pass.ahead_bytes = std::min(program.ahead_bytes, left);
      pass.ahead_bytes_at_once = step.ahead_bytes_at_once;
      ahead += pass.ahead_bytes;
      left -= pass.ahead_bytes;
      pass.source = step.is_from_work ? scratch.data() : step.is_from_half ? half : from;
      pass.destination = step.is_to_work ? scratch.data() : step.is_to_half ? half : to;
      const bool is_to_caller = !step.is_to_half && !step.is_to_work;
      pass.factor = is_to_caller ? factor : 1;
      pass.is_streaming = access.is_streaming && is_to_caller;
      pass.block_count = step.block_count;
      pass.inner_pairs = step.inner_pairs;
      pass.roots = step.roots == RowStep<Real>::none ? nullptr
                                                     : reinterpret_cast<const Real*>(program.roots.data()) + step.roots;
      if (step.from != RowStep<Real>::none) {
        pass.from = program.places.data() + step.from;
        pass.to = program.places.data() + step.to;
        pass.from_leg_bytes = step.from_leg_bytes;
        pass.to_leg_bytes = step.to_leg_bytes;
        pass.from_sign = step.from_sign;
        pass.to_sign = step.to_sign;
      }
      step.pass(pass);
    }
  }
}

template class Transform<float>;
template class Transform<double>;

}  // namespace penstock::transform
