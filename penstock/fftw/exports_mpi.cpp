// FFTW's planners over MPI, by their names: programs that preload this library, or link it before FFTW's, call these.
#include <fftw3-mpi.h>

#include <array>
#include <cstddef>
#include <span>

#include "penstock/fftw/planners.hpp"
#include "penstock/fftw/real.hpp"

namespace {

using penstock::fftw::Asked;
using penstock::fftw::AskedOfRanks;
using penstock::fftw::Kind;

std::span<const std::ptrdiff_t> lengths(int rank, const std::ptrdiff_t* n) {
  return {n, rank > 0 ? static_cast<std::size_t>(rank) : 0};
}

static_assert(sizeof(fftw_r2r_kind) == sizeof(int));

const int* numbers(const fftw_r2r_kind* kinds) {
  return reinterpret_cast<const int*>(kinds);
}

}  // namespace

// The planners of one precision. Each serves the call or passes it on with the arguments that it had.
// NOLINTBEGIN(bugprone-macro-parentheses): types and names
#define PENSTOCK_SERVE_OR_PASS_ON(NAME, REAL, KIND, RANK, N, TUPLES, IN_BLOCK, OUT_BLOCK, KINDS, ...)        \
  void* const ours =                                                                                         \
      penstock::fftw::serve(Asked{#NAME, sizeof(REAL), in, out, flags, __builtin_return_address(0)},         \
                            AskedOfRanks{KIND, lengths(RANK, N), TUPLES, IN_BLOCK, OUT_BLOCK, comm, KINDS}); \
  return ours != nullptr ? static_cast<decltype(NAME(__VA_ARGS__))>(ours)                                    \
                         : penstock::fftw::pass_on(PENSTOCK_REAL(NAME), __VA_ARGS__)

#define PENSTOCK_DIRECTION(SIGN) ((SIGN) == FFTW_FORWARD ? Kind::complex_forward : Kind::complex_backward)

#define PENSTOCK_FFTW_MPI(P, REAL, COMPLEX)                                                                            \
  P##_plan P##_mpi_plan_many_dft(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t block, ptrdiff_t tblock,   \
                                 COMPLEX* in, COMPLEX* out, MPI_Comm comm, int sign, unsigned flags) {                 \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_many_dft, REAL, PENSTOCK_DIRECTION(sign), rank, n, howmany, block, tblock,  \
                              nullptr, rank, n, howmany, block, tblock, in, out, comm, sign, flags);                   \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft(int rank, const ptrdiff_t* n, COMPLEX* in, COMPLEX* out, MPI_Comm comm, int sign,          \
                            unsigned flags) {                                                                          \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft, REAL, PENSTOCK_DIRECTION(sign), rank, n, 1, 0, 0, nullptr, rank, n,    \
                              in, out, comm, sign, flags);                                                             \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_2d(ptrdiff_t n0, ptrdiff_t n1, COMPLEX* in, COMPLEX* out, MPI_Comm comm, int sign,         \
                               unsigned flags) {                                                                       \
    const std::array n{n0, n1};                                                                                        \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_2d, REAL, PENSTOCK_DIRECTION(sign), 2, n.data(), 1, 0, 0, nullptr, n0,  \
                              n1, in, out, comm, sign, flags);                                                         \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, COMPLEX* in, COMPLEX* out, MPI_Comm comm,     \
                               int sign, unsigned flags) {                                                             \
    const std::array n{n0, n1, n2};                                                                                    \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_3d, REAL, PENSTOCK_DIRECTION(sign), 3, n.data(), 1, 0, 0, nullptr, n0,  \
                              n1, n2, in, out, comm, sign, flags);                                                     \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_many_dft_r2c(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t iblock,                \
                                     ptrdiff_t oblock, REAL* in, COMPLEX* out, MPI_Comm comm, unsigned flags) {        \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_many_dft_r2c, REAL, Kind::real_to_complex, rank, n, howmany, iblock,        \
                              oblock, nullptr, rank, n, howmany, iblock, oblock, in, out, comm, flags);                \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_r2c(int rank, const ptrdiff_t* n, REAL* in, COMPLEX* out, MPI_Comm comm, unsigned flags) { \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_r2c, REAL, Kind::real_to_complex, rank, n, 1, 0, 0, nullptr, rank, n,   \
                              in, out, comm, flags);                                                                   \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_r2c_2d(ptrdiff_t n0, ptrdiff_t n1, REAL* in, COMPLEX* out, MPI_Comm comm,                  \
                                   unsigned flags) {                                                                   \
    const std::array n{n0, n1};                                                                                        \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_r2c_2d, REAL, Kind::real_to_complex, 2, n.data(), 1, 0, 0, nullptr, n0, \
                              n1, in, out, comm, flags);                                                               \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_r2c_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, REAL* in, COMPLEX* out, MPI_Comm comm,    \
                                   unsigned flags) {                                                                   \
    const std::array n{n0, n1, n2};                                                                                    \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_r2c_3d, REAL, Kind::real_to_complex, 3, n.data(), 1, 0, 0, nullptr, n0, \
                              n1, n2, in, out, comm, flags);                                                           \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_many_dft_c2r(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t iblock,                \
                                     ptrdiff_t oblock, COMPLEX* in, REAL* out, MPI_Comm comm, unsigned flags) {        \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_many_dft_c2r, REAL, Kind::complex_to_real, rank, n, howmany, iblock,        \
                              oblock, nullptr, rank, n, howmany, iblock, oblock, in, out, comm, flags);                \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_c2r(int rank, const ptrdiff_t* n, COMPLEX* in, REAL* out, MPI_Comm comm, unsigned flags) { \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_c2r, REAL, Kind::complex_to_real, rank, n, 1, 0, 0, nullptr, rank, n,   \
                              in, out, comm, flags);                                                                   \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_c2r_2d(ptrdiff_t n0, ptrdiff_t n1, COMPLEX* in, REAL* out, MPI_Comm comm,                  \
                                   unsigned flags) {                                                                   \
    const std::array n{n0, n1};                                                                                        \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_c2r_2d, REAL, Kind::complex_to_real, 2, n.data(), 1, 0, 0, nullptr, n0, \
                              n1, in, out, comm, flags);                                                               \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_dft_c2r_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, COMPLEX* in, REAL* out, MPI_Comm comm,    \
                                   unsigned flags) {                                                                   \
    const std::array n{n0, n1, n2};                                                                                    \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_dft_c2r_3d, REAL, Kind::complex_to_real, 3, n.data(), 1, 0, 0, nullptr, n0, \
                              n1, n2, in, out, comm, flags);                                                           \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_many_r2r(int rank, const ptrdiff_t* n, ptrdiff_t howmany, ptrdiff_t iblock, ptrdiff_t oblock,  \
                                 REAL* in, REAL* out, MPI_Comm comm, const P##_r2r_kind* kind, unsigned flags) {       \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_many_r2r, REAL, Kind::real_to_real, rank, n, howmany, iblock, oblock,       \
                              numbers(kind), rank, n, howmany, iblock, oblock, in, out, comm, kind, flags);            \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_r2r(int rank, const ptrdiff_t* n, REAL* in, REAL* out, MPI_Comm comm,                          \
                            const P##_r2r_kind* kind, unsigned flags) {                                                \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_r2r, REAL, Kind::real_to_real, rank, n, 1, 0, 0, numbers(kind), rank, n,    \
                              in, out, comm, kind, flags);                                                             \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_r2r_2d(ptrdiff_t n0, ptrdiff_t n1, REAL* in, REAL* out, MPI_Comm comm, P##_r2r_kind kind0,     \
                               P##_r2r_kind kind1, unsigned flags) {                                                   \
    const std::array n{n0, n1};                                                                                        \
    const std::array kinds{kind0, kind1};                                                                              \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_r2r_2d, REAL, Kind::real_to_real, 2, n.data(), 1, 0, 0,                     \
                              numbers(kinds.data()), n0, n1, in, out, comm, kind0, kind1, flags);                      \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_r2r_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, REAL* in, REAL* out, MPI_Comm comm,           \
                               P##_r2r_kind kind0, P##_r2r_kind kind1, P##_r2r_kind kind2, unsigned flags) {           \
    const std::array n{n0, n1, n2};                                                                                    \
    const std::array kinds{kind0, kind1, kind2};                                                                       \
    PENSTOCK_SERVE_OR_PASS_ON(P##_mpi_plan_r2r_3d, REAL, Kind::real_to_real, 3, n.data(), 1, 0, 0,                     \
                              numbers(kinds.data()), n0, n1, n2, in, out, comm, kind0, kind1, kind2, flags);           \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_many_transpose(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t howmany, ptrdiff_t block0,                \
                                       ptrdiff_t block1, REAL* in, REAL* out, MPI_Comm comm, unsigned flags) {         \
    void* const ours = penstock::fftw::serve_transposition(                                                            \
        Asked{#P "_mpi_plan_many_transpose", sizeof(REAL), in, out, flags, __builtin_return_address(0)}, n0, n1,       \
        howmany, block0, block1, comm);                                                                                \
    return ours != nullptr ? static_cast<P##_plan>(ours)                                                               \
                           : penstock::fftw::pass_on(PENSTOCK_REAL(P##_mpi_plan_many_transpose), n0, n1, howmany,      \
                                                     block0, block1, in, out, comm, flags);                            \
  }                                                                                                                    \
  P##_plan P##_mpi_plan_transpose(ptrdiff_t n0, ptrdiff_t n1, REAL* in, REAL* out, MPI_Comm comm, unsigned flags) {    \
    void* const ours = penstock::fftw::serve_transposition(                                                            \
        Asked{#P "_mpi_plan_transpose", sizeof(REAL), in, out, flags, __builtin_return_address(0)}, n0, n1, 1, 0, 0,   \
        comm);                                                                                                         \
    return ours != nullptr                                                                                             \
               ? static_cast<P##_plan>(ours)                                                                           \
               : penstock::fftw::pass_on(PENSTOCK_REAL(P##_mpi_plan_transpose), n0, n1, in, out, comm, flags);         \
  }
// NOLINTEND(bugprone-macro-parentheses)

extern "C" {
PENSTOCK_FFTW_MPI(fftw, double, fftw_complex)
PENSTOCK_FFTW_MPI(fftwf, float, fftwf_complex)
}
