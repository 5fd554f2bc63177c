// Transforms: options, plans and executions of either precision behind one handle.
#include "penstock/fft/fft.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "penstock/base/base.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/options.hpp"
#include "penstock/c/status.hpp"
#include "penstock/machine/machine.hpp"

namespace fft = penstock::fft;
using penstock::c::checked;
using penstock::c::known_options;
using penstock::c::scaling_of;
using penstock::c::status_of;
using penstock::c::type_of;

struct penstock_fft_plan {
  fft::Type type;
  std::int64_t fields;  // one after the other; 1 where they are interleaved
  bool has_arrays;
  std::variant<std::unique_ptr<fft::Plan<double>>, std::unique_ptr<fft::Plan<float>>,
               std::unique_ptr<fft::DevicePlan<double>>, std::unique_ptr<fft::DevicePlan<float>>>
      plan;

  template <class Use>
  auto use(const Use& use_plan) const {
    return std::visit([&](const auto& one) { return use_plan(*one); }, plan);
  }
};

struct penstock_fft_execution {
  fft::Execution execution;
  std::string failure{};  // of progress, for wait
};

namespace {

/// Thrown where a function of the user's returns anything but 0.
class RowFailure : public penstock::Error {
 public:
  RowFailure() : Error("the function for rows has ended the transform") {}
};

template <class Plan>
constexpr bool runs_on_device = false;
template <class Real>
constexpr bool runs_on_device<fft::DevicePlan<Real>> = true;

[[noreturn]] void throw_of_device() {
  throw penstock::Error("a plan on a device transforms forward and backward, and no more: plan for the processor");
}

fft::Distribution part_of(const penstock_fft_part& part) {
  fft::Distribution result{.box = {}, .row_pitch = part.row_pitch, .plane_pitch = part.plane_pitch};
  std::copy_n(part.lower, 3, result.box.lower.begin());
  std::copy_n(part.extent, 3, result.box.extent.begin());
  std::copy_n(part.order, 3, result.order.begin());
  return result;
}

penstock_fft_part part_of(const fft::Distribution& part) {
  penstock_fft_part result{};
  std::ranges::copy(part.box.lower, result.lower);
  std::ranges::copy(part.box.extent, result.extent);
  std::ranges::copy(part.order, result.order);
  result.row_pitch = part.row_pitch;
  result.plane_pitch = part.plane_pitch;
  return result;
}

fft::Options options_of(const penstock_fft_options& given) {
  fft::Options options;
  std::copy_n(given.size, 3, options.size.begin());
  std::copy_n(given.modes, 3, options.modes.begin());
  options.type = type_of(given.type);
  for (std::size_t d = 0; d < 3; ++d) {
    if (given.kinds[d] != PENSTOCK_DEFAULT_KIND) {
      options.kinds[d] = checked<fft::RealKind>(given.kinds[d], 11, "a kind");
    }
    options.along[d] = given.along[d] != 0;
  }
  std::copy_n(given.sequence, 3, options.sequence.begin());
  options.grid = {given.grid[0], given.grid[1]};
  options.output = given.is_output_as_input != 0 ? fft::Output::as_input : fft::Output::transposed;
  if (given.input_part != nullptr) {
    options.input_part = part_of(*given.input_part);
  }
  if (given.output_part != nullptr) {
    options.output_part = part_of(*given.output_part);
  }
  options.threads = given.threads;
  options.batch = given.batch;
  options.is_interleaved = given.is_interleaved != 0;
  options.effort = given.measures != 0 ? fft::Effort::measure : fft::Effort::estimate;
  options.planning = given.measures != 0 ? fft::Planning::measure : fft::Planning::model;
  options.convolves = given.convolves != 0;
  options.collocates = given.collocates != 0;
  options.has_arrays = given.has_arrays != 0;
  options.memory_budget_bytes = given.memory_budget_bytes;
  return options;
}

/// The plan that `make(Real{}, options)` makes in either precision; collective.
template <class Make>
penstock_fft_plan* make_plan(const penstock::gas::Team& team, const penstock_fft_options* options, const Make& make) {
  std::optional<penstock_fft_options> given;
  fft::Options settled;
  team.together([&] {
    given = known_options(options, penstock_fft_options_init);
    settled = options_of(*given);
  });
  auto made = std::make_unique<penstock_fft_plan>();
  made->type = settled.type;
  made->fields = settled.is_interleaved ? 1 : settled.batch;
  made->has_arrays = settled.has_arrays;
  team.agree_on("precision", given->is_single != 0 ? "single" : "double");
  if (given->is_single != 0) {
    made->plan = make(float{}, settled);
  } else {
    made->plan = make(double{}, settled);
  }
  return made.release();
}

/// The elements of all fields of a batch, of which each has `elements`.
std::int64_t all_elements(const penstock_fft_plan& plan, std::int64_t elements, std::int64_t stride) {
  return (plan.fields - 1) * stride + elements;
}

/// What one array of a call is: numbers of the plan's real or complex ones.
template <class Number, class Array>
auto numbers(Array* array, std::int64_t count) {
  using Element = std::conditional_t<std::is_const_v<Array>, const Number, Number>;
  return std::span<Element>(static_cast<Element*>(array), static_cast<std::size_t>(count));
}

/// Calls `call(plan, in, out)` with the arrays as the plan's type has them, of space at the first end where
/// `from_space` is true and of the spectrum otherwise; alike at the other end.
///
/// Where an argument cannot be, the plan gets arrays that are too short: it fails, and so do the other ranks.
template <class Call>
auto with_arrays(const penstock_fft_plan& handle, const void* in, void* out, bool from_space, bool to_space,
                 bool can_be, const Call& call) {
  return handle.use([&](auto& plan) {
    using Plan = std::remove_cvref_t<decltype(plan)>;
    using Complex = typename Plan::Complex;
    using Real = typename Complex::value_type;
    const auto count = [&](bool is_space) {
      return !can_be    ? std::int64_t{0}
             : is_space ? all_elements(handle, plan.input().elements(), plan.input_stride())
                        : all_elements(handle, plan.output().elements(), plan.output_stride());
    };
    const auto complex_in = [&] { return numbers<Complex>(in, count(from_space)); };
    const auto real_in = [&] { return numbers<Real>(in, count(from_space)); };
    const auto complex_out = [&] { return numbers<Complex>(out, count(to_space)); };
    const auto real_out = [&] { return numbers<Real>(out, count(to_space)); };
    const bool is_real = handle.type == fft::Type::r2r;
    const bool has_real_space = handle.type == fft::Type::r2c;
    auto& mutable_plan = const_cast<Plan&>(plan);
    if (is_real || (has_real_space && from_space && to_space)) {
      return call(mutable_plan, real_in(), real_out());
    }
    if (has_real_space && from_space) {
      return call(mutable_plan, real_in(), complex_out());
    }
    if (has_real_space && to_space) {
      return call(mutable_plan, complex_in(), real_out());
    }
    return call(mutable_plan, complex_in(), complex_out());
  });
}

/// Whether both arrays of a call have the same numbers.
template <class In, class Out>
inline constexpr bool are_alike =
    std::is_same_v<std::remove_const_t<typename In::element_type>, typename Out::element_type>;

/// The plan's own array of space or of the spectrum; null where it has none.
void* own_array(const penstock_fft_plan& handle, bool is_space) {
  return handle.use([&](const auto& plan) -> void* {
    using Plan = std::remove_cvref_t<decltype(plan)>;
    if constexpr (!runs_on_device<Plan>) {
      using Complex = typename Plan::Complex;
      using Real = typename Complex::value_type;
      const auto array = [&](auto number) -> void* {
        using Number = decltype(number);
        return is_space ? plan.template input_array<Number>().data() : plan.template output_array<Number>().data();
      };
      const bool is_complex = handle.type == fft::Type::c2c || (handle.type == fft::Type::r2c && !is_space);
      return is_complex ? array(Complex{}) : array(Real{});
    }
    return nullptr;
  });
}

/// The transform of the plan on these arrays, begun.
template <class Plan, class In, class Out>
fft::Execution start(Plan& plan, bool is_forward, std::span<const In> in, std::span<Out> out, fft::Scaling scaling) {
  using Complex = typename Plan::Complex;
  constexpr bool from_complex = std::is_same_v<In, Complex>;
  constexpr bool to_complex = std::is_same_v<Out, Complex>;
  if constexpr (runs_on_device<Plan>) {
    throw_of_device();
  } else if constexpr (from_complex == to_complex) {
    return is_forward ? plan.start_forward(in, out, scaling) : plan.start_backward(in, out, scaling);
  } else if constexpr (to_complex) {
    return plan.start_forward(in, out, scaling);
  } else {
    return plan.start_backward(in, out, scaling);
  }
}

/// The elements of this rank's array of all fields, of space or of the spectrum.
std::int64_t elements_of(const penstock_fft_plan& handle, bool is_space) {
  return is_space ? penstock_fft_input_elements(&handle) : penstock_fft_output_elements(&handle);
}

/// What is wrong with the arguments of a call on this rank, or nothing.
std::string mistake_in(const penstock_fft_plan& handle, const void* in, const void* out, bool from_space, bool to_space,
                       int scaling) {
  if (scaling < PENSTOCK_NO_SCALING || scaling > PENSTOCK_FULL) {
    return "a scaling that there is not: see penstock_scaling";
  }
  const bool has_arrays =
      (in != nullptr || elements_of(handle, from_space) == 0) && (out != nullptr || elements_of(handle, to_space) == 0);
  return has_arrays ? "" : "no array: it is NULL";
}

/// Calls `call(plan, in, out, factor)` as with_arrays does; a mistake fails on the other ranks as well.
template <class Call>
auto run(const penstock_fft_plan& handle, const void* in, void* out, bool from_space, bool to_space, int scaling,
         bool has_function, const Call& call) {
  const std::string mistake =
      has_function ? mistake_in(handle, in, out, from_space, to_space, scaling) : "no function for rows: it is NULL";
  const fft::Scaling factor = mistake.empty() ? scaling_of(scaling) : fft::Scaling::none;
  try {
    return with_arrays(handle, in, out, from_space, to_space, mistake.empty(),
                       [&](auto& plan, auto from, auto to) { return call(plan, from, to, factor); });
  } catch (...) {
    if (!mistake.empty()) {
      throw penstock::Error(mistake);
    }
    throw;
  }
}

fft::Execution start(const penstock_fft_plan& handle, bool is_forward, const void* in, void* out, int scaling) {
  return run(
      handle, in, out, is_forward, !is_forward, scaling, true,
      [&](auto& plan, auto from, auto to, fft::Scaling factor) { return start(plan, is_forward, from, to, factor); });
}

void transform(const penstock_fft_plan& handle, bool is_forward, const void* in, void* out, int scaling) {
  run(handle, in, out, is_forward, !is_forward, scaling, true,
      [&](auto& plan, auto from, auto to, fft::Scaling factor) {
        if constexpr (!runs_on_device<std::remove_cvref_t<decltype(plan)>>) {
          start(plan, is_forward, from, to, factor).wait();
          return;
        }
        if constexpr (requires { plan.forward(from, to, factor); }) {
          if (is_forward) {
            plan.forward(from, to, factor);
          }
        }
        if constexpr (requires { plan.backward(from, to, factor); }) {
          if (!is_forward) {
            plan.backward(from, to, factor);
          }
        }
      });
}

void transform_on_device(const penstock_fft_plan& handle, bool is_forward, const penstock_location& in,
                         const penstock_location& out, int scaling) {
  const auto as_array = [](const penstock_location& location) { return reinterpret_cast<void*>(location.handle); };
  const std::string mistake = mistake_in(handle, as_array(in), as_array(out), is_forward, !is_forward, scaling);
  if (!mistake.empty()) {
    transform(handle, is_forward, nullptr, nullptr, scaling);  // fails with the same sentence, on the others as well
    throw penstock::Error(mistake);                            // a rank without points needs no arrays
  }
  handle.use([&](auto& plan) {
    if constexpr (runs_on_device<std::remove_cvref_t<decltype(plan)>>) {
      const penstock::device::Location from{in.handle, in.offset};
      const penstock::device::Location to{out.handle, out.offset};
      const fft::Scaling factor = scaling_of(scaling);
      is_forward ? plan.forward(from, to, factor) : plan.backward(from, to, factor);
    } else {
      throw penstock::Error("the plan is not on a device: its arrays are in host memory");
    }
  });
}

/// A function of the user's as the library calls it.
template <class Number>
auto rows_to(penstock_fft_row_function function, void* data) {
  return [=](std::int64_t first, std::int64_t second, std::span<Number> row) {
    if (function(first, second, row.data(), row.size(), data) != 0) {
      throw RowFailure();
    }
  };
}

}  // namespace

extern "C" {

void penstock_fft_options_init(penstock_fft_options* options, size_t struct_size) {
  penstock_fft_options defaults{};
  defaults.type = PENSTOCK_C2C;
  defaults.threads = 1;
  defaults.batch = 1;
  for (int d = 0; d < 3; ++d) {
    defaults.kinds[d] = PENSTOCK_DEFAULT_KIND;
    defaults.along[d] = 1;
    defaults.sequence[d] = d;
  }
  penstock::c::init_options(options, struct_size, defaults);
}

penstock_status penstock_fft_plan_create(penstock_team* team, const penstock_fft_options* options,
                                         penstock_fft_plan** plan) {
  return status_of([&] {
    *plan = make_plan(team->team, options, [&](auto real, const fft::Options& all) {
      return std::make_unique<fft::Plan<decltype(real)>>(team->team, all);
    });
  });
}

penstock_status penstock_fft_plan_create_on_device(penstock_team* team, const penstock_device* device,
                                                   const penstock_fft_options* options, penstock_fft_plan** plan) {
  return status_of([&] {
    *plan = make_plan(team->team, options, [&](auto real, const fft::Options& all) {
      return std::make_unique<fft::DevicePlan<decltype(real)>>(team->team, device == nullptr ? nullptr : device->device,
                                                               all);
    });
  });
}

penstock_status penstock_fft_plan_destroy(penstock_fft_plan* plan) {
  return status_of([&] { delete plan; });
}

penstock_fft_part penstock_fft_input_part(const penstock_fft_plan* plan) {
  return plan->use([](const auto& one) { return part_of(one.input()); });
}

penstock_fft_part penstock_fft_output_part(const penstock_fft_plan* plan) {
  return plan->use([](const auto& one) { return part_of(one.output()); });
}

int64_t penstock_fft_input_elements(const penstock_fft_plan* plan) {
  return plan->use([&](const auto& one) { return all_elements(*plan, one.input().elements(), one.input_stride()); });
}

int64_t penstock_fft_output_elements(const penstock_fft_plan* plan) {
  return plan->use([&](const auto& one) { return all_elements(*plan, one.output().elements(), one.output_stride()); });
}

int64_t penstock_fft_input_stride(const penstock_fft_plan* plan) {
  return plan->use([](const auto& one) { return one.input_stride(); });
}

int64_t penstock_fft_output_stride(const penstock_fft_plan* plan) {
  return plan->use([](const auto& one) { return one.output_stride(); });
}

void* penstock_fft_input_array(penstock_fft_plan* plan) {
  return plan->has_arrays ? own_array(*plan, true) : nullptr;
}

void* penstock_fft_output_array(penstock_fft_plan* plan) {
  return plan->has_arrays ? own_array(*plan, false) : nullptr;
}

penstock_status penstock_fft_forward(penstock_fft_plan* plan, const void* in, void* out, int scaling) {
  return status_of([&] { transform(*plan, true, in, out, scaling); });
}

penstock_status penstock_fft_backward(penstock_fft_plan* plan, const void* in, void* out, int scaling) {
  return status_of([&] { transform(*plan, false, in, out, scaling); });
}

penstock_status penstock_fft_forward_on_device(penstock_fft_plan* plan, penstock_location in, penstock_location out,
                                               int scaling) {
  return status_of([&] { transform_on_device(*plan, true, in, out, scaling); });
}

penstock_status penstock_fft_backward_on_device(penstock_fft_plan* plan, penstock_location in, penstock_location out,
                                                int scaling) {
  return status_of([&] { transform_on_device(*plan, false, in, out, scaling); });
}

penstock_status penstock_fft_start_forward(penstock_fft_plan* plan, const void* in, void* out, int scaling,
                                           penstock_fft_execution** execution) {
  return status_of([&] { *execution = new penstock_fft_execution{start(*plan, true, in, out, scaling)}; });
}

penstock_status penstock_fft_start_backward(penstock_fft_plan* plan, const void* in, void* out, int scaling,
                                            penstock_fft_execution** execution) {
  return status_of([&] { *execution = new penstock_fft_execution{start(*plan, false, in, out, scaling)}; });
}

penstock_status penstock_fft_progress(penstock_fft_execution* execution, int* is_done) {
  return status_of([&] {
    try {
      *is_done = execution->execution.progress() ? 1 : 0;
    } catch (const std::exception& error) {
      execution->failure = error.what();
      throw;
    }
  });
}

penstock_status penstock_fft_wait(penstock_fft_execution* execution) {
  const std::unique_ptr<penstock_fft_execution> ends(execution);
  return status_of([&] {
    if (ends != nullptr) {
      ends->execution.wait();
      if (!ends->failure.empty()) {
        throw penstock::Error(ends->failure);
      }
    }
  });
}

penstock_status penstock_fft_convolve(penstock_fft_plan* plan, const void* in, void* out,
                                      penstock_fft_row_function on_spectrum, void* data, int scaling) {
  return status_of([&] {
    run(*plan, in, out, true, true, scaling, on_spectrum != nullptr,
        [&](auto& one, auto from, auto to, fft::Scaling factor) {
          using Plan = std::remove_cvref_t<decltype(one)>;
          using Complex = typename Plan::Complex;
          if constexpr (runs_on_device<Plan>) {
            throw_of_device();
          } else if constexpr (are_alike<decltype(from), decltype(to)>) {
            one.convolve(from, to, rows_to<Complex>(on_spectrum, data), factor);
          }
        });
  });
}

penstock_status penstock_fft_collocate(penstock_fft_plan* plan, const void* in, void* out,
                                       penstock_fft_row_function on_points, void* data, int scaling) {
  return status_of([&] {
    run(*plan, in, out, false, false, scaling, on_points != nullptr,
        [&](auto& one, auto from, auto to, fft::Scaling factor) {
          using Plan = std::remove_cvref_t<decltype(one)>;
          using Complex = typename Plan::Complex;
          using Real = typename Complex::value_type;
          if constexpr (runs_on_device<Plan>) {
            throw_of_device();
          } else if constexpr (are_alike<decltype(from), decltype(to)>) {
            if constexpr (std::is_same_v<typename decltype(to)::element_type, Complex>) {
              if (plan->type == fft::Type::c2c) {
                one.collocate(from, to, fft::PointFunction<Complex>(rows_to<Complex>(on_points, data)), factor);
                return;
              }
            }
            one.collocate(from, to, fft::PointFunction<Real>(rows_to<Real>(on_points, data)), factor);
          }
        });
  });
}

int64_t penstock_cache_l2_bytes() {
  static const std::int64_t bytes = penstock::machine::detect().node.cache_l2_bytes;
  return bytes;
}

penstock_fft_times penstock_fft_last_times(const penstock_fft_plan* plan) {
  return plan->use([](const auto& one) {
    const fft::Breakdown& last = one.last_breakdown();
    return penstock_fft_times{last.total_s, last.transform_s(), last.move_s(), last.wait_s()};
  });
}
}
