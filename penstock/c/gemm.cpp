// Multiplies: across ranks, of arrays of this process, and of files. A build without OpenBLAS refuses them.
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "penstock/base/base.hpp"
#include "penstock/base/config.hpp"
#include "penstock/c/handles.hpp"
#include "penstock/c/options.hpp"
#include "penstock/c/status.hpp"

#if PENSTOCK_HAS_GEMM
#include "penstock/gemm/gemm.hpp"
#endif

using penstock::Error;
using penstock::c::checked;
using penstock::c::known_options;
using penstock::c::status_of;

namespace {

/// The options of a multiply with factor 1, of whatever kind.
template <class Options>
Options default_options() {
  Options defaults{};
  defaults.alpha[0] = 1;
  defaults.threads = 1;
  return defaults;
}

#if PENSTOCK_HAS_GEMM

namespace gemm = penstock::gemm;
namespace npy = penstock::npy;

gemm::Op op_of(int op) {
  return checked<gemm::Op>(op, 3, "an operation on a factor");
}

template <class Options>
gemm::Scalars scalars_of(const Options& given) {
  return {.alpha = {given.alpha[0], given.alpha[1]}, .beta = {given.beta[0], given.beta[1]}};
}

void require_real(const gemm::Scalars& scalars) {
  if (scalars.alpha.imag() != 0 || scalars.beta.imag() != 0) {
    throw Error("a complex alpha or beta for real matrices: give imaginary parts of 0");
  }
}

/// A scalar as the elements have it.
template <class T>
T scalar_of(const std::complex<double>& scalar) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(scalar.real());
  } else {
    return T(scalar);
  }
}

/// What is wrong with the matrices of a multiply throws.
void check_matrices(const penstock_team& team, const penstock_matrix* a, const penstock_matrix* b,
                    const penstock_matrix* c) {
  for (const penstock_matrix* matrix : {a, b, c}) {
    if (matrix == nullptr) {
      throw Error("no matrix: it is NULL");
    }
    if (&matrix->team != &team.team) {
      throw Error("a matrix of another team: multiply over the team that it was made over");
    }
    if (matrix->array.index() != c->array.index()) {
      throw Error("matrices of different types of elements: give three of one type");
    }
  }
  if (a == b || b == c || a == c) {
    throw Error("one matrix twice: A, B and C must be different objects");
  }
}

gemm::MultiplyOptions options_of(const penstock_gemm_options& given) {
  gemm::MultiplyOptions options{.threads = given.threads,
                                .algorithm = checked<gemm::Algorithm>(given.algorithm, 4, "an algorithm"),
                                .memory_bytes = given.memory_bytes};
  std::copy_n(given.layers, 3, options.layers.begin());
  return options;
}

/// An array of this process as a factor. `rows` and `columns` are those of op(array).
gemm::Block block_of(const void* array, std::int64_t leading, gemm::Op op, std::int64_t rows, std::int64_t columns,
                     npy::DataType type) {
  const bool is_turned = op != gemm::Op::none;
  if (array == nullptr && rows > 0 && columns > 0) {
    throw Error("no array: it is NULL");
  }
  const std::int64_t row = std::max<std::int64_t>(is_turned ? rows : columns, 1);
  if (leading < row || leading > INT32_MAX) {
    throw Error("rows of " + std::to_string(row) + " elements, and they begin " + std::to_string(leading) +
                " apart: give at least their length, and at most " + std::to_string(INT32_MAX));
  }
  return {.data = static_cast<const std::byte*>(array),
          .leading = leading,
          .is_transposed = is_turned,
          .is_conjugated = op == gemm::Op::conjugate_transpose && npy::is_complex(type)};
}

void multiply_arrays(int type_number, const std::int64_t* extents, const void* a, std::int64_t leading_a, const void* b,
                     std::int64_t leading_b, void* c, std::int64_t leading_c, const penstock_gemm_options* options) {
  const auto given = known_options(options, penstock_gemm_options_init);
  const auto type = checked<npy::DataType>(type_number, 4, "a type of elements");
  const gemm::Scalars scalars = scalars_of(given);
  if (!npy::is_complex(type)) {
    require_real(scalars);
  }
  const auto [m, n, k] = std::array{extents[0], extents[1], extents[2]};
  if (std::min({m, n, k}) < 0 || std::max({m, n, k}) > INT32_MAX) {
    throw Error("a multiply of " + std::to_string(m) + " x " + std::to_string(k) + " by " + std::to_string(k) + " x " +
                std::to_string(n) + " elements: give extents from 0 to " + std::to_string(INT32_MAX));
  }
  if (given.threads < 1) {
    throw Error("a multiply on " + std::to_string(given.threads) + " threads: at least 1 is needed");
  }
  const gemm::Block first = block_of(a, leading_a, op_of(given.op_a), m, k, type);
  const gemm::Block second = block_of(b, leading_b, op_of(given.op_b), k, n, type);
  block_of(c, leading_c, gemm::Op::none, m, n, type);
  gemm::multiply_on_threads(type, m, n, k, scalars, first, second, static_cast<std::byte*>(c), leading_c,
                            given.threads);
}

#else

penstock_status refused() {
  return status_of([] { throw Error("this build has no OpenBLAS, and so no multiplies"); });
}

#endif

}  // namespace

extern "C" {

void penstock_gemm_options_init(penstock_gemm_options* options, size_t struct_size) {
  penstock::c::init_options(options, struct_size, default_options<penstock_gemm_options>());
}

void penstock_gemm_file_options_init(penstock_gemm_file_options* options, size_t struct_size) {
  penstock::c::init_options(options, struct_size, default_options<penstock_gemm_file_options>());
}

#if PENSTOCK_HAS_GEMM

penstock_status penstock_gemm(penstock_team* team, penstock_matrix* a, penstock_matrix* b, penstock_matrix* c,
                              const penstock_gemm_options* options) {
  return status_of([&] {
    gemm::MultiplyOptions how;
    gemm::Scalars scalars;
    gemm::Op op_a{};
    gemm::Op op_b{};
    team->team.together([&] {
      const auto given = known_options(options, penstock_gemm_options_init);
      check_matrices(*team, a, b, c);
      how = options_of(given);
      scalars = scalars_of(given);
      op_a = op_of(given.op_a);
      op_b = op_of(given.op_b);
      if (c->array.index() < 2) {  // float and double
        require_real(scalars);
      }
    });
    team->team.agree_on("type of elements", std::to_string(c->array.index()));
    c->use([&](auto& result) {
      using Array = std::remove_reference_t<decltype(result)>;
      using T = typename decltype(result.local())::element_type;
      gemm::multiply(team->team, op_a, op_b, scalar_of<T>(scalars.alpha), std::get<Array>(a->array),
                     std::get<Array>(b->array), scalar_of<T>(scalars.beta), result, how);
    });
  });
}

penstock_status penstock_gemm_arrays(int type, const int64_t extents[3], const void* a, int64_t leading_a,
                                     const void* b, int64_t leading_b, void* c, int64_t leading_c,
                                     const penstock_gemm_options* options) {
  return status_of([&] { multiply_arrays(type, extents, a, leading_a, b, leading_b, c, leading_c, options); });
}

penstock_status penstock_gemm_file(const char* a, const char* b, const char* c,
                                   const penstock_gemm_file_options* options) {
  return status_of([&] {
    const auto given = known_options(options, penstock_gemm_file_options_init);
    if (given.memory_bytes < 0 || a == nullptr || b == nullptr || c == nullptr) {
      throw Error("less than no memory, or no path");
    }
    gemm::FileOptions how;
    how.memory_bytes =
        given.memory_bytes > 0 ? given.memory_bytes : static_cast<std::int64_t>(penstock::available_memory_bytes() / 4);
    how.threads = given.threads;
    how.uses_scratch = given.has_no_scratch == 0;
    gemm::FileMultiply multiply(
        {.a = a, .b = b, .c = c, .op_a = op_of(given.op_a), .op_b = op_of(given.op_b), .scalars = scalars_of(given)},
        how);
    multiply.run();
  });
}

#else

// NOLINTBEGIN(misc-unused-parameters)
penstock_status penstock_gemm(penstock_team*, penstock_matrix*, penstock_matrix*, penstock_matrix*,
                              const penstock_gemm_options*) {
  return refused();
}

penstock_status penstock_gemm_arrays(int, const int64_t*, const void*, int64_t, const void*, int64_t, void*, int64_t,
                                     const penstock_gemm_options*) {
  return refused();
}

penstock_status penstock_gemm_file(const char*, const char*, const char*, const penstock_gemm_file_options*) {
  return refused();
}
// NOLINTEND(misc-unused-parameters)

#endif
}
