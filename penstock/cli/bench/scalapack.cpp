// The calls of ScaLAPACK and of its BLACS, which have no header of their own.
#include "penstock/cli/bench/scalapack.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "penstock/base/base.hpp"
#include "penstock/gemm/gemm.hpp"

#ifndef PENSTOCK_HAS_SCALAPACK
#define PENSTOCK_HAS_SCALAPACK 0
#endif

#if PENSTOCK_HAS_SCALAPACK
extern "C" {
void Cblacs_pinfo(int* rank, int* size);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* at, const int* first, const int* count);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* leading, int* info);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desc_a, const double* b, const int* ib,
             const int* jb, const int* desc_b, const double* beta, double* c, const int* ic, const int* jc,
             const int* desc_c);
}
#endif

namespace penstock::cli {

struct Scalapack::State {
  int n = 0;
  int context = -1;
  gemm::ProcessGrid grid;
  std::array<int, 9> descriptor{};
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> c;
};

bool Scalapack::is_built_in() noexcept {
  return PENSTOCK_HAS_SCALAPACK != 0;
}

#if PENSTOCK_HAS_SCALAPACK

Scalapack::Scalapack(std::int64_t n, std::int64_t block) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.n = static_cast<int>(n);
  const int edge = static_cast<int>(block);
  int rank = 0;
  int size = 0;
  Cblacs_pinfo(&rank, &size);
  int rows = 1;
  for (int i = 1; i * i <= size; ++i) {
    rows = size % i == 0 ? i : rows;
  }
  Cblacs_get(-1, 0, &state.context);
  Cblacs_gridinit(&state.context, "Row", rows, size / rows);
  int columns = 0;
  state.grid = {.rows = rows, .columns = size / rows};
  int row = 0;
  int column = 0;
  Cblacs_gridinfo(state.context, &rows, &columns, &row, &column);
  const int zero = 0;
  const int height = std::max(numroc_(&state.n, &edge, &row, &zero, &rows), 1);
  const int width = std::max(numroc_(&state.n, &edge, &column, &zero, &columns), 1);
  int info = 0;
  descinit_(state.descriptor.data(), &state.n, &state.n, &edge, &edge, &zero, &zero, &state.context, &height, &info);
  const auto elements = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  state.a.assign(elements, 0.5);
  state.b.assign(elements, 0.25);
  state.c.assign(elements, 0);
}

Scalapack::~Scalapack() {
  Cblacs_gridexit(state_->context);
}

void Scalapack::multiply() {
  State& state = *state_;
  const int one = 1;
  const double alpha = 1;
  const double beta = 0;
  pdgemm_("N", "N", &state.n, &state.n, &state.n, &alpha, state.a.data(), &one, &one, state.descriptor.data(),
          state.b.data(), &one, &one, state.descriptor.data(), &beta, state.c.data(), &one, &one,
          state.descriptor.data());
}

void Scalapack::multiply_by_penstock(const gas::Team& team, int threads) {
  State& state = *state_;
  const int* descriptor = state.descriptor.data();
  gemm::pgemm(team, state.grid, 'N', 'N', state.n, state.n, state.n, 1.0, state.a.data(), 1, 1, descriptor,
              state.b.data(), 1, 1, descriptor, 0.0, state.c.data(), 1, 1, descriptor, threads);
}

#else

Scalapack::Scalapack(std::int64_t, std::int64_t) {
  throw Error("this build has no ScaLAPACK: install libscalapack-openmpi-dev and build with Open MPI");
}
Scalapack::~Scalapack() = default;
void Scalapack::multiply() {}
void Scalapack::multiply_by_penstock(const gas::Team&, int) {}

#endif

}  // namespace penstock::cli
