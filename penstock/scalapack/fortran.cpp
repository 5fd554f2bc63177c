// ScaLAPACK's p?gemm by their Fortran names: programs that link this library before ScaLAPACK's call these.
#include <cblas.h>
#include <mpi.h>

#include <complex>
#include <cstdio>

#include "penstock/base/base.hpp"
#include "penstock/scalapack/blacs.hpp"
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
void multiply(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha, const T* a,
              const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib, const int* jb,
              const int* desc_b, const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {
  const int context = desc_a[1];
  GridTeam* grid = nullptr;
  try {
    grid = &Grids::get().of(context);
    // As many threads as the program has told OpenBLAS, which ScaLAPACK's own would multiply with.
    gemm::pgemm(grid->team, grid->grid, *op_a, *op_b, *m, *n, *k, *alpha, a, *ia, *ja, desc_a, b, *ib, *jb, desc_b,
                *beta, c, *ic, *jc, desc_c, openblas_get_num_threads());
  } catch (const gas::PeerFailure& failure) {
    end(context, failure.what(), failure.is_spokesman());
  } catch (const Error& error) {
    if (grid == nullptr) {
      end(context, error.what(), true);
    }
    // All ranks have failed alike: the first one speaks before any ends the others.
    if (grid->team.rank() == 0) {
      std::fprintf(stderr, "penstock: %s\n", error.what());
      std::fflush(stderr);
    }
    MPI_Barrier(grid->communicator);
    end(context, error.what(), false);
  }
}

}  // namespace
}  // namespace penstock::scalapack

// The arguments of one of them, with T for its elements. Compilers of Fortran pass the lengths of the two characters
// behind the last; nobody needs them.
#define PENSTOCK_PGEMM(NAME, T)                                                                                       \
  void NAME(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha, const T* a, \
            const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib, const int* jb,                \
            const int* desc_b, const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {                \
    penstock::scalapack::multiply(op_a, op_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc,  \
                                  desc_c);                                                                            \
  }

extern "C" {
PENSTOCK_PGEMM(psgemm_, float)
PENSTOCK_PGEMM(pdgemm_, double)
PENSTOCK_PGEMM(pcgemm_, std::complex<float>)
PENSTOCK_PGEMM(pzgemm_, std::complex<double>)
}
