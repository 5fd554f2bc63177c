/* The C interface as a C program calls it: mpirun -n 3 test_c_interface, or test_c_interface alone. Ends with another
 * status than 0 where anything is wrong. */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/c/checks.h"
#include "tests/c/waves.h"

static void transform_waves(penstock_team* team, penstock_fft_type type) {
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = 12;
  options.size[1] = 10;
  options.size[2] = 14;
  options.type = type;
  options.batch = 2;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create(team, &options, &plan), "a plan");
  const int numbers = type == PENSTOCK_C2C ? 2 : 1;
  double* field = calloc((size_t)(penstock_fft_input_elements(plan) * numbers + 1), sizeof(double));
  double* again = calloc((size_t)(penstock_fft_input_elements(plan) * numbers + 1), sizeof(double));
  double complex* spectrum = calloc((size_t)penstock_fft_output_elements(plan) + 1, sizeof(double complex));
  fill_waves(&options, plan, field);
  check(penstock_fft_forward(plan, field, spectrum, PENSTOCK_FULL), "forward");
  expect(wave_error(&options, plan, spectrum) < 1e-14, "the spectrum of waves");
  penstock_fft_execution* execution = NULL;
  check(penstock_fft_start_backward(plan, spectrum, again, PENSTOCK_NO_SCALING, &execution), "begin backward");
  int is_done = 0;
  check(penstock_fft_progress(execution, &is_done), "progress");
  check(penstock_fft_wait(execution), "wait");
  double worst = 0;
  for (int64_t i = 0; i < penstock_fft_input_elements(plan) * numbers; ++i) {
    worst = fabs(again[i] - field[i]) > worst ? fabs(again[i] - field[i]) : worst;
  }
  expect(worst < 1e-13, "what comes back");
  expect(penstock_fft_last_times(plan).total_s > 0, "the time of a transform");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  free(field);
  free(again);
  free(spectrum);
}

static int halve(int64_t kx, int64_t ky, void* row, size_t elements, void* data) {
  (void)kx;
  (void)ky;
  float complex* const numbers = row;
  for (size_t k = 0; k < elements; ++k) {
    numbers[k] /= 2;
  }
  ++*(int*)data;
  return 0;
}

static int refuse(int64_t kx, int64_t ky, void* row, size_t elements, void* data) {
  (void)kx;
  (void)ky;
  (void)row;
  (void)elements;
  (void)data;
  return 7;
}

/* A convolution in single precision that halves a field, and one that the caller ends. */
static void convolve(penstock_team* team) {
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[1] = options.size[2] = 8;
  options.type = PENSTOCK_R2C;
  options.is_single = 1;
  options.convolves = 1;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create(team, &options, &plan), "a plan that convolves");
  const int64_t count = penstock_fft_input_elements(plan);
  float* field = malloc((size_t)(count + 1) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    field[i] = (float)(i % 13);
  }
  int rows = 0;
  check(penstock_fft_convolve(plan, field, field, halve, &rows, PENSTOCK_FULL), "a convolution");
  float worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float error = fabsf(field[i] - (float)(i % 13) / 2);
    worst = error > worst ? error : worst;
  }
  expect(worst < 1e-5f, "half the field");
  expect(penstock_fft_convolve(plan, field, field, refuse, NULL, PENSTOCK_FULL) == PENSTOCK_ERROR,
         "a convolution that its function ends");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  free(field);
}

/* A redistribution into the plan's own arrays: from planes along z to planes along x. */
static void redistribute(penstock_team* team) {
  const int ranks = penstock_team_size(team);
  penstock_fft_part from = {{0, 0, my_rank * 2}, {2 * ranks, 3, 2}, {2, 1, 0}, 0, 0};
  penstock_fft_part to = {{my_rank * 2, 0, 0}, {2, 3, 2 * ranks}, {0, 1, 2}, 0, 0};
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[2] = 2 * ranks;
  options.size[1] = 3;
  options.type = PENSTOCK_R2R;
  options.along[0] = options.along[1] = options.along[2] = 0;
  options.input_part = &from;
  options.output_part = &to;
  options.has_arrays = 1;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create(team, &options, &plan), "a redistribution");
  double* const in = penstock_fft_input_array(plan);
  double* const out = penstock_fft_output_array(plan);
  int64_t p[3];
  for (p[0] = 0; p[0] < 2 * ranks; ++p[0]) {
    for (p[1] = 0; p[1] < 3; ++p[1]) {
      for (p[2] = from.lower[2]; p[2] < from.lower[2] + 2; ++p[2]) {
        in[position(&from, p)] = (double)(p[0] + 100 * p[1] + 10000 * p[2]);
      }
    }
  }
  check(penstock_fft_forward(plan, in, out, PENSTOCK_NO_SCALING), "a redistribution");
  int wrong = 0;
  for (p[0] = to.lower[0]; p[0] < to.lower[0] + 2; ++p[0]) {
    for (p[1] = 0; p[1] < 3; ++p[1]) {
      for (p[2] = 0; p[2] < 2 * ranks; ++p[2]) {
        wrong += out[position(&to, p)] != (double)(p[0] + 100 * p[1] + 10000 * p[2]);
      }
    }
  }
  expect(wrong == 0, "what was redistributed");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
}

/* Each rank puts its number to the next one, adds to a word of rank 0, and reads the one before. */
static void put_around(penstock_team* team) {
  const int ranks = penstock_team_size(team);
  const int next = (my_rank + 1) % ranks;
  const int before = (my_rank + ranks - 1) % ranks;
  penstock_segment* segment = NULL;
  check(penstock_segment_create(team, 4 * sizeof(int64_t), 2, &segment), "a segment");
  int64_t* const mine = penstock_segment_local(segment);
  const int64_t number = 1000 + my_rank;
  check(penstock_put_signal(segment, next, 8, &number, sizeof(number), 0), "a put with a signal");
  check(penstock_wait(segment, 0, 1), "wait for the signal");
  expect(mine[1] == 1000 + before, "what was put");
  int has_arrived = 0;
  check(penstock_test(segment, 0, 2, &has_arrived), "test the signal");
  expect(!has_arrived, "a signal that nobody sent");
  uint64_t old = 0;
  check(penstock_fetch_add(segment, 0, 16, 5, &old), "fetch and add");
  expect(old % 5 == 0, "a sum of fives");
  check(penstock_team_barrier(team), "a barrier");
  int64_t got = 0;
  check(penstock_get(segment, next, 8, &got, sizeof(got)), "a get");
  expect(got == 1000 + my_rank, "what was got");
  expect(my_rank != 0 || mine[2] == 5 * ranks, "the sum of all");
  check(penstock_notify(segment, next, 1), "notify");
  check(penstock_wait(segment, 1, 1), "wait for the notice");
  expect(penstock_put(segment, next, 30, &number, sizeof(number)) == PENSTOCK_ERROR, "a put beyond the end");
  expect(strlen(penstock_last_error()) > 0, "its sentence");
  check(penstock_team_barrier(team), "a barrier");
  check(penstock_segment_destroy(segment), "destroy a segment");
}

static void transpose(void) {
  const penstock_level rows[2] = {{3, 5 * sizeof(double)}, {5, sizeof(double)}};
  const penstock_level columns[2] = {{3, sizeof(double)}, {5, 3 * sizeof(double)}};
  penstock_mover* mover = NULL;
  check(penstock_mover_create(rows, 2, columns, 2, sizeof(double), &mover), "a mover");
  double from[15], to[15];
  for (int i = 0; i < 15; ++i) {
    from[i] = i;
  }
  penstock_mover_run(mover, from, to);
  int wrong = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) {
      wrong += to[j * 3 + i] != from[i * 5 + j];
    }
  }
  expect(wrong == 0, "a matrix transposed");
  check(penstock_mover_destroy(mover), "destroy a mover");
  const penstock_level one = {14, sizeof(double)};
  expect(penstock_mover_create(rows, 2, &one, 1, sizeof(double), &mover) == PENSTOCK_ERROR, "other numbers of bytes");
}

/* What cannot be is refused with a sentence, on every rank. */
static void refuse_what_cannot_be(penstock_team* team) {
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  penstock_fft_plan* plan = NULL;
  expect(penstock_fft_plan_create(team, &options, &plan) == PENSTOCK_ERROR, "a size of 0");
  expect(strstr(penstock_last_error(), "0x0x0") != NULL, "the size in the sentence");
  options.size[0] = options.size[1] = options.size[2] = 4;
  options.kinds[1] = 12;
  expect(penstock_fft_plan_create(team, &options, &plan) == PENSTOCK_ERROR, "no such kind");
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[1] = options.size[2] = 4;
  options.threads = my_rank == penstock_team_size(team) - 1 ? 0 : 1;
  expect(penstock_fft_plan_create(team, &options, &plan) == PENSTOCK_ERROR, "no thread on one rank");
  penstock_fft_options empty;
  memset(&empty, 0, sizeof(empty));
  expect(penstock_fft_plan_create(team, &empty, &plan) == PENSTOCK_ERROR, "options without a size");
  expect(plan == NULL, "a plan where there is none");
  expect(penstock_fft_file(team, "/nowhere/in.npy", "/nowhere/out.npy", NULL) == PENSTOCK_ERROR, "no such file");
}

/* One rank's mistake in a transform fails on all of them, now or at the next call. */
static void fail_with_one_bad_rank(penstock_team* team) {
  const int is_bad = my_rank == penstock_team_size(team) - 1;
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.size[0] = options.size[1] = options.size[2] = 16;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create(team, &options, &plan), "a plan");
  double complex* in = calloc((size_t)penstock_fft_input_elements(plan) + 1, sizeof(double complex));
  double complex* out = calloc((size_t)penstock_fft_output_elements(plan) + 1, sizeof(double complex));
  const penstock_status status = penstock_fft_forward(plan, in, out, is_bad ? 7 : PENSTOCK_NO_SCALING);
  expect(status == PENSTOCK_ERROR || penstock_fft_forward(plan, in, out, PENSTOCK_NO_SCALING) == PENSTOCK_ERROR,
         "a scaling that is none on one rank");
  expect(!is_bad || penstock_team_size(team) > 1 || strstr(penstock_last_error(), "scaling") != NULL, "its sentence");
  check(penstock_fft_plan_destroy(plan), "destroy a plan");
  free(in);
  free(out);
  expect(penstock_team_agree(team, is_bad ? "no more of this" : NULL) == PENSTOCK_ERROR, "agree on failure");
  expect(strstr(penstock_last_error(), "no more of this") != NULL, "the sentence that was agreed on");
  check(penstock_team_agree(team, ""), "agree on none");
}

static void ask_a_model(void) {
  const char* const arguments[] = {"--machine", "frontier", "--n", "65536", "--nodes", "16", "--no-layers"};
  const char* json = NULL;
  check(penstock_model("gemm", arguments, 7, &json), "a model");
  expect(strstr(json, "\"time_s\": ") != NULL && strstr(json, "\"layers\": 1.0") != NULL, "the answer of a model");
  expect_failure(penstock_model("gemm", arguments, 5, &json), "--nodes needs N", "an option without its value");
  expect_failure(penstock_model("gemm", arguments + 1, 1, &json), "no option frontier", "an argument that is no option");
  const char* const twice[] = {"--nodes", "1", "--nodes", "2"};
  expect_failure(penstock_model("gemm", twice, 4, &json), "--nodes is given twice", "an option twice");
  expect_failure(penstock_model("weather", NULL, 0, &json), "'weather' is no model", "a model that there is not");
}

int main(int argc, char** argv) {
  penstock_team* const team = begin_ranks(argc, argv);
  expect(strchr(penstock_version(), '.') != NULL, "a version");
  transform_waves(team, PENSTOCK_C2C);
  transform_waves(team, PENSTOCK_R2C);
  convolve(team);
  redistribute(team);
  put_around(team);
  transpose();
  ask_a_model();
  refuse_what_cannot_be(team);
  fail_with_one_bad_rank(team);
  return end_ranks(team);
}
