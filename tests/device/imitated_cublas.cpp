// cuBLAS as far as Penstock calls it, on the driver's functions as cuBLAS is: a kernel that multiplies by the
// definition. Arguments are checked as cuBLAS does.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "penstock/device/cuda_driver.hpp"

namespace {

using namespace penstock::device::cuda;

constexpr BlasResult not_initialised = 1;
constexpr BlasResult invalid_value = 7;
constexpr BlasResult execution_failed = 13;

/// The driver that the process has loaded.
const Functions& driver() {
  static const Functions functions = [] {
    Functions found{};
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
#define PENSTOCK_FIND(NAME, SYMBOL, PARAMETERS) \
  found.NAME = reinterpret_cast<decltype(found.NAME)>(dlsym(library, SYMBOL));
    PENSTOCK_CUDA_FUNCTIONS(PENSTOCK_FIND)
#undef PENSTOCK_FIND
    return found;
  }();
  return functions;
}

struct Handle {
  StreamTag* stream = nullptr;
  std::array<ModuleTag*, 2> modules{};  // of float and of double
};

std::set<const Handle*>& handles() {
  static std::set<const Handle*> all;
  return all;
}

Handle* handle_of(BlasTag* tag) {
  auto* const handle = reinterpret_cast<Handle*>(tag);
  return handles().count(handle) == 1 ? handle : nullptr;
}

/// In Fortran order: an item for each element of C. Where beta is 0, C is not read.
constexpr const char* kernel = R"(
KERNEL(64) multiply(LOCATION(a), i64 leading_a, i64 turns_a, LOCATION(b), i64 leading_b, i64 turns_b, LOCATION(c), i64 leading_c, i64 m, i64 n, i64 k, real alpha, real beta) {
  const i64 element = GROUP * 64 + ITEM;
  if (element < m * n) {
    const i64 i = element % m;
    const i64 j = element / m;
    real sum = 0;
    for (i64 l = 0; l < k; ++l) {
      sum += AT(const real, a)[turns_a ? i * leading_a + l : l * leading_a + i] *
             AT(const real, b)[turns_b ? l * leading_b + j : j * leading_b + l];
    }
    GLOBAL real* const at = AT(real, c) + j * leading_c + i;
    *at = alpha * sum + (beta == 0 ? 0 : beta * *at);
  }
}
)";

template <class Real>
BlasResult multiply(BlasTag* tag, BlasOp op_a, BlasOp op_b, int m, int n, int k, const Real* alpha, Pointer a,
                    int leading_a, Pointer b, int leading_b, const Real* beta, Pointer c, int leading_c) {
  Handle* const handle = handle_of(tag);
  if (handle == nullptr) {
    return not_initialised;
  }
  const auto is_op = [](BlasOp op) { return op == BlasOp::none || op == BlasOp::transpose; };
  if (m < 0 || n < 0 || k < 0 || !is_op(op_a) || !is_op(op_b) || alpha == nullptr || beta == nullptr ||
      leading_a < std::max(1, op_a == BlasOp::none ? m : k) || leading_b < std::max(1, op_b == BlasOp::none ? k : n) ||
      leading_c < std::max(1, m) || handle->stream == nullptr) {
    return invalid_value;
  }
  constexpr bool is_double = sizeof(Real) == 8;
  ModuleTag*& module = handle->modules[is_double ? 1 : 0];
  FunctionTag* function = nullptr;
  const std::string source =
      std::string("typedef long long i64;\n") + (is_double ? "typedef double real;" : "typedef float real;") + kernel;
  if (module == nullptr && driver().module_load(&module, source.c_str()) != 0) {
    return execution_failed;
  }
  if (driver().module_function(&function, module, "multiply") != 0) {
    return execution_failed;
  }
  std::int64_t offset = 0;
  std::array<std::int64_t, 8> numbers{
      leading_a, op_a == BlasOp::transpose ? 1 : 0, leading_b, op_b == BlasOp::transpose ? 1 : 0, leading_c, m, n, k};
  Real factor = *alpha;
  Real kept = *beta;
  std::array<void*, 16> values{&a,          &offset,     &numbers[0], &numbers[1], &b,          &offset,
                               &numbers[2], &numbers[3], &c,          &offset,     &numbers[4], &numbers[5],
                               &numbers[6], &numbers[7], &factor,     &kept};
  const std::int64_t groups = (std::int64_t{m} * n + 63) / 64;
  return driver().launch(function, static_cast<unsigned>(groups), 1, 1, 64, 1, 1, 0, handle->stream, values.data(),
                         nullptr) == 0
             ? 0
             : execution_failed;
}

}  // namespace

// What is looked up by its name.
#define EXPORT extern "C" __attribute__((visibility("default"))) BlasResult

EXPORT cublasCreate_v2(BlasTag** tag) {
  auto* const handle = new Handle;
  handles().insert(handle);
  *tag = reinterpret_cast<BlasTag*>(handle);
  return 0;
}
EXPORT cublasDestroy_v2(BlasTag* tag) {
  Handle* const handle = handle_of(tag);
  if (handle == nullptr) {
    return not_initialised;
  }
  for (ModuleTag* const module : handle->modules) {
    if (module != nullptr) {
      driver().module_unload(module);
    }
  }
  handles().erase(handle);
  delete handle;
  return 0;
}
EXPORT cublasSetStream_v2(BlasTag* tag, StreamTag* stream) {
  Handle* const handle = handle_of(tag);
  if (handle == nullptr) {
    return not_initialised;
  }
  handle->stream = stream;
  return 0;
}
EXPORT cublasSgemm_v2(BlasTag* tag, BlasOp op_a, BlasOp op_b, int m, int n, int k, const float* alpha, Pointer a,
                      int leading_a, Pointer b, int leading_b, const float* beta, Pointer c, int leading_c) {
  return multiply(tag, op_a, op_b, m, n, k, alpha, a, leading_a, b, leading_b, beta, c, leading_c);
}
EXPORT cublasDgemm_v2(BlasTag* tag, BlasOp op_a, BlasOp op_b, int m, int n, int k, const double* alpha, Pointer a,
                      int leading_a, Pointer b, int leading_b, const double* beta, Pointer c, int leading_c) {
  return multiply(tag, op_a, op_b, m, n, k, alpha, a, leading_a, b, leading_b, beta, c, leading_c);
}
