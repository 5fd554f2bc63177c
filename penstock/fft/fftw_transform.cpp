// The local transforms by FFTW, and FFTW's wisdom.
#include <fftw3.h>

#include <array>
#include <complex>
#include <limits>
#include <mutex>
#include <string>

#include "penstock/base/base.hpp"
#include "penstock/fft/local_transform.hpp"

namespace penstock::fft {
namespace {

// FFTW's two precisions under one set of names.
template <class Real>
struct Fftw;

#define PENSTOCK_FFTW(REAL, PREFIX)                                                     \
  template <>                                                                           \
  struct Fftw<REAL> {                                                                   \
    using Plan = PREFIX##_plan;                                                         \
    using Complex = PREFIX##_complex;                                                   \
    static constexpr auto plan_c2c = PREFIX##_plan_many_dft;                            \
    static constexpr auto plan_r2c = PREFIX##_plan_many_dft_r2c;                        \
    static constexpr auto plan_c2r = PREFIX##_plan_many_dft_c2r;                        \
    static constexpr auto plan_r2r = PREFIX##_plan_many_r2r;                            \
    static constexpr auto run_c2c = PREFIX##_execute_dft;                               \
    static constexpr auto run_r2c = PREFIX##_execute_dft_r2c;                           \
    static constexpr auto run_c2r = PREFIX##_execute_dft_c2r;                           \
    static constexpr auto run_r2r = PREFIX##_execute_r2r;                               \
    static constexpr auto destroy = PREFIX##_destroy_plan;                              \
    static constexpr auto make_planner_thread_safe = PREFIX##_make_planner_thread_safe; \
    static constexpr auto planner_threads = PREFIX##_planner_nthreads;                  \
    static constexpr auto set_planner_threads = PREFIX##_plan_with_nthreads;            \
    static constexpr auto import_wisdom = PREFIX##_import_wisdom_from_string;           \
    static constexpr auto export_wisdom = PREFIX##_export_wisdom_to_string;             \
    static constexpr auto forget_wisdom = PREFIX##_forget_wisdom;                       \
    static constexpr auto release = PREFIX##_free;                                      \
  };
PENSTOCK_FFTW(float, fftwf)
PENSTOCK_FFTW(double, fftw)
#undef PENSTOCK_FFTW

// FFTW's planner is one for the whole process, so that these cannot belong to anyone smaller.
std::mutex planning;

void prepare_planner() {
  static std::once_flag is_prepared;
  std::call_once(is_prepared, [] {
    Fftw<float>::make_planner_thread_safe();
    Fftw<double>::make_planner_thread_safe();
  });
}

/// Holds FFTW's planner at one thread, whatever the program has set for plans of its own: our threads take tiles.
template <class Real>
class OneThread {
 public:
  OneThread() : lock_(planning), threads_(Fftw<Real>::planner_threads()) { set(1); }
  ~OneThread() { set(threads_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  // FFTW forgets its wisdom when threads are set for the first time, so that nothing is set where nothing changes.
  void set(int threads) {
    if (Fftw<Real>::planner_threads() != threads) {
      Fftw<Real>::set_planner_threads(threads);
    }
  }
  std::scoped_lock<std::mutex> lock_;
  int threads_;
};

/// FFTW's number of a transform between real numbers.
fftw_r2r_kind r2r_kind(RowKind kind) noexcept {
  constexpr std::array kinds{FFTW_REDFT00, FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_RODFT00, FFTW_RODFT10,
                             FFTW_RODFT01, FFTW_RODFT11, FFTW_R2HC,    FFTW_HC2R,    FFTW_DHT};
  return kinds[static_cast<std::size_t>(kind) - static_cast<std::size_t>(RowKind::redft00)];
}

// Contiguous pencils alone, at the strides that were planned.
template <class Real>
class FftwTransform final : public LocalTransform {
 public:
  FftwTransform(const PencilShape& shape, Effort effort) : shape_(shape), traits_(traits_of(shape.kind)) {
    prepare_planner();
    // Measuring runs the transform: on memory of the plan's own, aligned as the tiles are.
    const Memory in(static_cast<std::size_t>(shape.pencils * shape.source_stride));
    const Memory out(static_cast<std::size_t>(shape.pencils * shape.destination_stride));
    const OneThread<Real> one_thread;
    row_ = make(in.data(), out.data(), 1, effort);
    tile_ = shape.pencils == 1 ? row_ : make(in.data(), out.data(), static_cast<int>(shape.pencils), effort);
    if (tile_ == nullptr || row_ == nullptr) {
      destroy();
      throw Error("FFTW has no plan for rows of " + std::to_string(shape.length) + " points");
    }
  }
  ~FftwTransform() override { destroy(); }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;

  std::size_t scratch_bytes() const noexcept override { return 0; }

  void run(const transform::Pencils<const std::byte>& source, const transform::Pencils<std::byte>& destination,
           std::int64_t pencils, std::span<std::byte> /*scratch*/, double factor,
           transform::Access /*access*/) const noexcept override {
    std::byte* const in = const_cast<std::byte*>(source.base) + source.offsets[0];  // of a tile, as the joint has it
    std::byte* const out = destination.base + destination.offsets[0];
    if (tile_ != row_ && pencils == shape_.pencils) {
      execute(tile_, in, out);
    } else {
      for (std::int64_t i = 0; i < pencils; ++i) {
        execute(row_, in + i * shape_.source_stride, out + i * shape_.destination_stride);
      }
    }
    if (factor != 1) {
      auto* const numbers = reinterpret_cast<Real*>(out);
      const std::int64_t count = pencils * shape_.destination_stride / static_cast<std::int64_t>(sizeof(Real));
      for (std::int64_t i = 0; i < count; ++i) {
        numbers[i] *= static_cast<Real>(factor);
      }
    }
  }

 private:
  using Api = Fftw<Real>;

  typename Api::Plan make(std::byte* in, std::byte* out, int rows, Effort effort) const {
    const int length = static_cast<int>(shape_.length);
    const auto in_element = static_cast<std::int64_t>(traits_.has_real_input ? sizeof(Real) : 2 * sizeof(Real));
    const auto out_element = static_cast<std::int64_t>(traits_.has_real_output ? sizeof(Real) : 2 * sizeof(Real));
    const int in_pitch = static_cast<int>(shape_.source_stride / in_element);
    const int out_pitch = static_cast<int>(shape_.destination_stride / out_element);
    const unsigned flags = (effort == Effort::measure ? FFTW_MEASURE : FFTW_ESTIMATE) | FFTW_DESTROY_INPUT;
    auto* complex_in = reinterpret_cast<typename Api::Complex*>(in);
    auto* complex_out = reinterpret_cast<typename Api::Complex*>(out);
    auto* real_in = reinterpret_cast<Real*>(in);
    auto* real_out = reinterpret_cast<Real*>(out);
    if (traits_.has_real_input && traits_.has_real_output) {
      const fftw_r2r_kind kind = r2r_kind(shape_.kind);
      return Api::plan_r2r(1, &length, rows, real_in, nullptr, 1, in_pitch, real_out, nullptr, 1, out_pitch, &kind,
                           flags);
    }
    if (traits_.has_real_input) {
      return Api::plan_r2c(1, &length, rows, real_in, nullptr, 1, in_pitch, complex_out, nullptr, 1, out_pitch, flags);
    }
    if (traits_.has_real_output) {
      return Api::plan_c2r(1, &length, rows, complex_in, nullptr, 1, in_pitch, real_out, nullptr, 1, out_pitch, flags);
    }
    const int sign = shape_.kind == RowKind::forward ? FFTW_FORWARD : FFTW_BACKWARD;
    return Api::plan_c2c(1, &length, rows, complex_in, nullptr, 1, in_pitch, complex_out, nullptr, 1, out_pitch, sign,
                         flags);
  }

  void execute(typename Api::Plan plan, std::byte* in, std::byte* out) const noexcept {
    auto* complex_in = reinterpret_cast<typename Api::Complex*>(in);
    auto* complex_out = reinterpret_cast<typename Api::Complex*>(out);
    auto* real_in = reinterpret_cast<Real*>(in);
    auto* real_out = reinterpret_cast<Real*>(out);
    if (traits_.has_real_input && traits_.has_real_output) {
      Api::run_r2r(plan, real_in, real_out);
    } else if (traits_.has_real_input) {
      Api::run_r2c(plan, real_in, complex_out);
    } else if (traits_.has_real_output) {
      Api::run_c2r(plan, complex_in, real_out);
    } else {
      Api::run_c2c(plan, complex_in, complex_out);
    }
  }

  void destroy() noexcept {
    if (tile_ != nullptr && tile_ != row_) {
      Api::destroy(tile_);
    }
    if (row_ != nullptr) {
      Api::destroy(row_);
    }
  }

  PencilShape shape_;
  TransformTraits traits_;
  typename Api::Plan tile_ = nullptr;
  typename Api::Plan row_ = nullptr;
};

template <class Real>
std::string export_wisdom_of() {
  char* text = Fftw<Real>::export_wisdom();
  const std::string copy = text == nullptr ? "" : text;
  Fftw<Real>::release(text);
  return copy;
}

std::unique_ptr<LocalTransform> plan_with_fftw(const PencilShape& shape, std::int64_t real_bytes, Effort effort) {
  if (shape.length > std::numeric_limits<int>::max()) {
    throw Error("a direction of " + std::to_string(shape.length) + " points is longer than FFTW can transform");
  }
  constexpr std::size_t max_planner_bytes = std::size_t{32} << 20;
  require_address_space(max_planner_bytes);  // FFTW aborts where it gets no memory
  if (real_bytes == sizeof(float)) {
    return std::make_unique<FftwTransform<float>>(shape, effort);
  }
  return std::make_unique<FftwTransform<double>>(shape, effort);
}

// Between double's wisdom and single's.
const std::string single_mark = "# in single precision\n";

bool import_both(const std::string& text) {
  prepare_planner();
  const std::size_t second = text.find(single_mark);
  if (second == std::string::npos) {
    return false;
  }
  const std::string before = export_wisdom_of<double>();
  if (Fftw<double>::import_wisdom(text.substr(0, second).c_str()) == 0) {
    return false;
  }
  if (Fftw<float>::import_wisdom(text.substr(second + single_mark.size()).c_str()) != 0) {
    return true;
  }
  Fftw<double>::forget_wisdom();
  Fftw<double>::import_wisdom(before.c_str());
  return false;
}

std::string export_both() {
  return export_wisdom_of<double>() + single_mark + export_wisdom_of<float>();
}

}  // namespace

LocalLibrary fftw_transforms() {
  return {.name = "fftw",
          .takes_any_places = false,
          .can = [](RowKind) { return true; },
          .scratch_bytes = [](const PencilShape&, std::int64_t) { return std::size_t{0}; },
          .plan = plan_with_fftw,
          .import_learned = import_both,
          .export_learned = export_both};
}

}  // namespace penstock::fft
