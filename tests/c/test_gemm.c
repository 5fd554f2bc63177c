/* Matrices and multiplies of the C interface beside products by the definition: mpirun -n 3 test_c_gemm_over_mpi FOLDER,
 * or test_c_gemm FOLDER alone. */
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c/checks.h"

/* Small whole numbers, complex where `imaginary` is 1: products of them are exact in every type of elements. */
static double complex element(int64_t seed, int64_t row, int64_t column, int imaginary) {
  const int64_t hash = (row * 7919 + column * 104729 + seed * 31) % 11;
  return (double)(hash - 5) + imaginary * I * (double)((hash * 5 + row) % 7 - 3);
}

static double complex load(const void* data, int type, int64_t at) {
  switch (type) {
    case PENSTOCK_FLOAT32:
      return ((const float*)data)[at];
    case PENSTOCK_FLOAT64:
      return ((const double*)data)[at];
    case PENSTOCK_COMPLEX64:
      return ((const float complex*)data)[at];
    default:
      return ((const double complex*)data)[at];
  }
}

static void store(void* data, int type, int64_t at, double complex value) {
  switch (type) {
    case PENSTOCK_FLOAT32:
      ((float*)data)[at] = (float)creal(value);
      break;
    case PENSTOCK_FLOAT64:
      ((double*)data)[at] = creal(value);
      break;
    case PENSTOCK_COMPLEX64:
      ((float complex*)data)[at] = (float complex)value;
      break;
    default:
      ((double complex*)data)[at] = value;
  }
}

static int is_complex(int type) {
  return type >= PENSTOCK_COMPLEX64;
}

/* op of the matrix with this seed, at row and column of op(matrix). */
static double complex operand(int64_t seed, int op, int64_t row, int64_t column, int type) {
  const double complex value =
      op == PENSTOCK_NO_OP ? element(seed, row, column, is_complex(type)) : element(seed, column, row, is_complex(type));
  return op == PENSTOCK_CONJUGATE_TRANSPOSE ? conj(value) : value;
}

enum { m = 13, n = 9, k = 11 };

/* An element of C by the definition. */
static double complex product(const penstock_gemm_options* options, int64_t row, int64_t column, int type) {
  double complex sum = 0;
  for (int64_t l = 0; l < k; ++l) {
    sum += operand(1, options->op_a, row, l, type) * operand(2, options->op_b, l, column, type);
  }
  return (options->alpha[0] + I * options->alpha[1]) * sum +
         (options->beta[0] + I * options->beta[1]) * element(3, row, column, is_complex(type));
}

/* A matrix whose elements are those of its seed. */
static penstock_matrix* filled(penstock_team* team, int64_t seed, int64_t rows, int64_t columns, int64_t block,
                               int type) {
  penstock_matrix_options options;
  PENSTOCK_MATRIX_OPTIONS_INIT(&options);
  options.extents[0] = rows;
  options.extents[1] = columns;
  options.blocks[0] = options.blocks[1] = block;
  options.type = type;
  penstock_matrix* matrix = NULL;
  check(penstock_matrix_create(team, &options, &matrix), "a matrix");
  const int64_t local_rows = penstock_matrix_local_extent(matrix, 0);
  const int64_t local_columns = penstock_matrix_local_extent(matrix, 1);
  for (int64_t i = 0; i < local_rows; ++i) {
    for (int64_t j = 0; j < local_columns; ++j) {
      const int64_t row = penstock_matrix_index(matrix, 0, i);
      const int64_t column = penstock_matrix_index(matrix, 1, j);
      store(penstock_matrix_local(matrix), type, i * local_columns + j, element(seed, row, column, is_complex(type)));
    }
  }
  return matrix;
}

static void multiply_across_ranks(penstock_team* team, int type, int op_a, int op_b, int64_t block, int algorithm) {
  penstock_gemm_options options;
  PENSTOCK_GEMM_OPTIONS_INIT(&options);
  options.op_a = op_a;
  options.op_b = op_b;
  options.alpha[0] = 2;
  options.beta[0] = -1;
  options.alpha[1] = is_complex(type);
  options.threads = 2;
  options.algorithm = algorithm;
  penstock_matrix* const a =
      op_a == PENSTOCK_NO_OP ? filled(team, 1, m, k, block, type) : filled(team, 1, k, m, block, type);
  penstock_matrix* const b =
      op_b == PENSTOCK_NO_OP ? filled(team, 2, k, n, block, type) : filled(team, 2, n, k, block, type);
  penstock_matrix* const c = filled(team, 3, m, n, 0, type);
  check(penstock_gemm(team, a, b, c, &options), "a multiply");
  double complex whole[m * n];
  const int64_t first[2] = {0, 0};
  const int64_t extents[2] = {m, n};
  check(penstock_matrix_get(c, first, extents, whole, n), "get all of C");
  int wrong = 0;
  for (int64_t i = 0; i < m * n; ++i) {
    wrong += load(whole, type, i) != product(&options, i / n, i % n, type);
  }
  expect(wrong == 0, "a product across ranks");
  check(penstock_team_barrier(team), "a barrier");
  check(penstock_matrix_destroy(a), "destroy a matrix");
  check(penstock_matrix_destroy(b), "destroy a matrix");
  check(penstock_matrix_destroy(c), "destroy a matrix");
}

static void put_rows(penstock_team* team) {
  penstock_matrix* const matrix = filled(team, 4, 6, 5, 2, PENSTOCK_FLOAT64);
  check(penstock_team_barrier(team), "a barrier");
  const double wide[8] = {1, 2, 3, 0, 4, 5, 6, 0};
  const int64_t first[2] = {2, 1};
  const int64_t extents[2] = {2, 3};
  if (my_rank == penstock_team_size(team) - 1) {
    check(penstock_matrix_put(matrix, first, extents, wide, 4), "a put");
  }
  check(penstock_team_barrier(team), "a barrier");
  double got[6] = {0};
  check(penstock_matrix_get(matrix, first, extents, got, 3), "a get");
  for (int i = 0; i < 6; ++i) {
    expect(got[i] == i + 1, "what was put");
  }
  const int64_t beyond[2] = {5, 3};
  expect(penstock_matrix_get(matrix, beyond, extents, got, 3) == PENSTOCK_ERROR, "elements beyond the matrix");
  expect_failure(penstock_matrix_get(matrix, first, extents, got, 2), "2 apart", "rows that overlap");
  expect(penstock_matrix_index(matrix, 0, penstock_matrix_local_extent(matrix, 0)) == -1, "a row that is not here");
  check(penstock_team_barrier(team), "a barrier");
  check(penstock_matrix_destroy(matrix), "destroy a matrix");
}

static void multiply_arrays(int type, int op_a, int op_b) {
  penstock_gemm_options options;
  PENSTOCK_GEMM_OPTIONS_INIT(&options);
  options.op_a = op_a;
  options.op_b = op_b;
  options.beta[0] = 3;
  options.alpha[1] = is_complex(type);
  options.threads = 3;
  const int64_t columns_a = op_a == PENSTOCK_NO_OP ? k : m;
  const int64_t columns_b = op_b == PENSTOCK_NO_OP ? n : k;
  double complex a[m * (m + k)], b[k * (n + k)], c[m * (n + 2)];
  for (int64_t i = 0; i < m * k; ++i) {
    store(a, type, i / columns_a * (columns_a + 1) + i % columns_a,
          element(1, i / columns_a, i % columns_a, is_complex(type)));
  }
  for (int64_t i = 0; i < k * n; ++i) {
    store(b, type, i, element(2, i / columns_b, i % columns_b, is_complex(type)));
  }
  for (int64_t i = 0; i < m * n; ++i) {
    store(c, type, i / n * (n + 2) + i % n, element(3, i / n, i % n, is_complex(type)));
  }
  const int64_t extents[3] = {m, n, k};
  check(penstock_gemm_arrays(type, extents, a, columns_a + 1, b, columns_b, c, n + 2, &options), "a multiply of arrays");
  int wrong = 0;
  for (int64_t i = 0; i < m * n; ++i) {
    wrong += load(c, type, i / n * (n + 2) + i % n) != product(&options, i / n, i % n, type);
  }
  expect(wrong == 0, "a product of arrays");
}

/* A matrix of float64 in a .npy file of version 1. */
static void write_npy(const char* path, int64_t seed, int rows, int columns) {
  char header[128];
  memset(header, ' ', sizeof(header));
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  const int length =
      snprintf(header + 10, 110, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, columns);
  header[10 + length] = ' ';
  header[127] = '\n';
  FILE* const file = fopen(path, "wb");
  fwrite(header, 1, sizeof(header), file);
  for (int i = 0; i < rows * columns; ++i) {
    const double value = creal(element(seed, i / columns, i % columns, 0));
    fwrite(&value, sizeof(value), 1, file);
  }
  fclose(file);
}

static void multiply_files(const char* folder) {
  char a[512], b[512], c[512];
  snprintf(a, sizeof(a), "%s/a.npy", folder);
  snprintf(b, sizeof(b), "%s/b.npy", folder);
  snprintf(c, sizeof(c), "%s/c.npy", folder);
  write_npy(a, 1, k, m);
  write_npy(b, 2, k, n);
  penstock_gemm_file_options options;
  PENSTOCK_GEMM_FILE_OPTIONS_INIT(&options);
  options.op_a = PENSTOCK_TRANSPOSE;
  options.alpha[0] = 2;
  options.memory_bytes = 64 << 20;
  check(penstock_gemm_file(a, b, c, &options), "a multiply of files");
  penstock_gemm_options definition;
  PENSTOCK_GEMM_OPTIONS_INIT(&definition);
  definition.op_a = PENSTOCK_TRANSPOSE;
  definition.alpha[0] = 2;
  FILE* const file = fopen(c, "rb");
  expect(file != NULL, "the file of a product");
  fseek(file, -(long)(m * n * sizeof(double)), SEEK_END);
  double found[m * n];
  expect(fread(found, sizeof(double), m * n, file) == m * n, "the length of a product");
  fclose(file);
  int wrong = 0;
  for (int64_t i = 0; i < m * n; ++i) {
    wrong += found[i] != creal(product(&definition, i / n, i % n, PENSTOCK_FLOAT64));
  }
  expect(wrong == 0, "a product of files");
  expect_failure(penstock_gemm_file(a, "/nowhere/b.npy", c, NULL), "/nowhere/b.npy", "a file that is not there");
  expect_failure(penstock_gemm_file(a, b, a, NULL), "", "C over A");
  remove(a);
  remove(b);
  remove(c);
}

static void refuse_what_cannot_be(penstock_team* team) {
  const int is_bad = my_rank == penstock_team_size(team) - 1;
  penstock_matrix_options shape;
  PENSTOCK_MATRIX_OPTIONS_INIT(&shape);
  shape.extents[0] = is_bad ? -1 : 4;
  shape.extents[1] = 4;
  penstock_matrix* none = NULL;
  expect(penstock_matrix_create(team, &shape, &none) == PENSTOCK_ERROR && none == NULL, "less than no rows on a rank");
  shape.extents[0] = 4;
  shape.type = is_bad ? 4 : PENSTOCK_FLOAT64;
  expect_failure(penstock_matrix_create(team, &shape, &none), "a type of elements 4", "no such type on a rank");
  penstock_matrix* const a = filled(team, 1, 4, 4, 0, PENSTOCK_FLOAT64);
  penstock_matrix* const b = filled(team, 2, 4, 4, 0, PENSTOCK_FLOAT64);
  penstock_matrix* const c = filled(team, 3, 4, 4, 0, PENSTOCK_FLOAT64);
  penstock_matrix* const single = filled(team, 3, 4, 4, 0, PENSTOCK_FLOAT32);
  expect_failure(penstock_gemm(team, a, is_bad ? NULL : b, c, NULL), "NULL", "no matrix on a rank");
  expect_failure(penstock_gemm(team, a, a, c, NULL), "twice", "a matrix twice");
  expect_failure(penstock_gemm(team, a, b, is_bad ? single : c, NULL), "different types", "another type on a rank");
  penstock_gemm_options options;
  PENSTOCK_GEMM_OPTIONS_INIT(&options);
  options.alpha[1] = is_bad ? 1 : 0;
  expect_failure(penstock_gemm(team, a, b, c, &options), "complex alpha", "a complex factor on a rank");
  options.alpha[1] = 0;
  options.threads = is_bad ? 0 : 1;
  expect_failure(penstock_gemm(team, a, b, c, &options), "0 threads", "no thread on a rank");
  const double one = 1;
  double result = 0;
  const int64_t extents[3] = {1, 1, 2};
  expect_failure(penstock_gemm_arrays(PENSTOCK_FLOAT64, extents, &one, 1, &one, 1, &result, 1, NULL), "1 apart",
                 "a row that is too short");
  const int64_t ones[3] = {1, 1, 1};
  expect_failure(penstock_gemm_arrays(PENSTOCK_FLOAT64, ones, &one, 1, &one, 1, NULL, 1, NULL), "NULL", "no array");
  check(penstock_team_barrier(team), "a barrier");
  check(penstock_matrix_destroy(a), "destroy a matrix");
  check(penstock_matrix_destroy(b), "destroy a matrix");
  check(penstock_matrix_destroy(c), "destroy a matrix");
  check(penstock_matrix_destroy(single), "destroy a matrix");
}

int main(int argc, char** argv) {
  penstock_team* const team = begin_ranks(argc, argv);
  for (int type = PENSTOCK_FLOAT32; type <= PENSTOCK_COMPLEX128; ++type) {
    for (int op = PENSTOCK_NO_OP; op <= PENSTOCK_CONJUGATE_TRANSPOSE; ++op) {
      multiply_across_ranks(team, type, op, (op + type) % 3, 0, PENSTOCK_AUTOMATIC);
      multiply_arrays(type, op, (op + 1) % 3);
      multiply_arrays(type, op, op);
    }
    multiply_across_ranks(team, type, PENSTOCK_NO_OP, PENSTOCK_TRANSPOSE, 2, PENSTOCK_CANNON);
  }
  put_rows(team);
  refuse_what_cannot_be(team);
  if (argc > 1 && my_rank == 0) {
    multiply_files(argv[1]);
  }
  return end_ranks(team);
}
