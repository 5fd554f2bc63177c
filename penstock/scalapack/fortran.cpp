// ScaLAPACK's p?gemm by their Fortran names: programs that link this library before ScaLAPACK's call these. A product
// that is too small to gain, or that cannot be, goes to ScaLAPACK's own.
#include <cblas.h>
#include <dlfcn.h>
#include <mpi.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "penstock/base/base.hpp"
#include "penstock/scalapack/blacs.hpp"
#include "penstock/scalapack/gain.hpp"
#include "penstock/scalapack/grids.hpp"

namespace penstock::scalapack {
namespace {

/// As ScaLAPACK does, what cannot be ends the program with a message.
[[noreturn]] void end(int context, const char* message, bool is_spokesman) {
  if (is_spokesman) {
    std::fprintf(stderr, "penstock: %s\n", message);
    std::fflush(stderr);
  }
  Cblacs_abort(context, 1);
}

template <class T>
using Pgemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                   const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                   const int*, const int*);

/// ScaLAPACK's own function of that name; nullptr where the program has none.
template <class T>
Pgemm<T>* own(const char* name) {
  return reinterpret_cast<Pgemm<T>*>(dlsym(RTLD_NEXT, name));
}

/// Whether the products that cannot gain are multiplied here as well.
bool takes_all() {
  const char* const asked = std::getenv("PENSTOCK_SCALAPACK");
  return asked != nullptr && std::string_view(asked) == "all";
}

template <class T>
void multiply(const char* name, const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
              const T* alpha, const T* a, const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib,
              const int* jb, const int* desc_b, const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {
  static const bool has_all = takes_all();
  const int context = desc_a[1];
  Pgemm<T>* const others = own<T>(name);
  const auto hand_over = [&] {
    others(op_a, op_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc, desc_c);
  };
  // What the ranks know alike without a message: a context that a process is not in says so there.
  gemm::ProcessGrid shape;
  int row = -1;
  int column = -1;
  Cblacs_gridinfo(context, &shape.rows, &shape.columns, &row, &column);
  const bool is_of_one_grid = row >= 0 && desc_b[1] == context && desc_c[1] == context;
  if (others != nullptr && (!is_of_one_grid || !(has_all || may_gain(*m, *n, *k, shape.rows * shape.columns)))) {
    hand_over();
    return;
  }
  if (row >= 0 && !is_of_one_grid) {
    end(context, "a product of matrices of several BLACS contexts: the program has no ScaLAPACK to hand it to",
        row == 0 && column == 0);
  }
  GridTeam* grid = nullptr;
  try {
    grid = &Grids::get().of(context);
    // As many threads as the program has told OpenBLAS, which ScaLAPACK's own would multiply with.
    gemm::pgemm(grid->team, grid->grid, *op_a, *op_b, *m, *n, *k, *alpha, a, *ia, *ja, desc_a, b, *ib, *jb, desc_b,
                *beta, c, *ic, *jc, desc_c, openblas_get_num_threads());
  } catch (const gas::PeerFailure& failure) {
    end(context, failure.what(), failure.is_spokesman());
  } catch (const Error& error) {
    const auto* const failure = dynamic_cast<const gas::TeamFailure*>(&error);
    // A team that was revoked may have left C half brought back.
    if (others == nullptr || (failure != nullptr && !failure->is_agreed())) {
      end(context, error.what(), row == 0 && column == 0);
    }
    // An argument that cannot be, or no memory for the blocks: all ranks have failed alike, and C is as it was.
    hand_over();
  }
}

}  // namespace
}  // namespace penstock::scalapack

// The arguments of one of them, with T for its elements. Compilers of Fortran pass the lengths of the two characters
// behind the last; nobody needs them.
// NOLINTBEGIN(bugprone-macro-parentheses): T is a type
#define PENSTOCK_PGEMM(NAME, T)                                                                                       \
  void NAME(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha, const T* a, \
            const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib, const int* jb,                \
            const int* desc_b, const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {                \
    penstock::scalapack::multiply(#NAME, op_a, op_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c,   \
                                  ic, jc, desc_c);                                                                    \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
PENSTOCK_PGEMM(psgemm_, float)
PENSTOCK_PGEMM(pdgemm_, double)
PENSTOCK_PGEMM(pcgemm_, std::complex<float>)
PENSTOCK_PGEMM(pzgemm_, std::complex<double>)
}
