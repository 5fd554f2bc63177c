/* Transforms a wave forward and back on all ranks: mpirun -n 2 ./first_transform [points along x] */
#include <math.h>
#include <mpi.h>
#include <penstock/penstock.h>
#include <stdio.h>
#include <stdlib.h>
static void check(penstock_status status) { /* what fails has failed on every rank */
  if (status != PENSTOCK_OK && fprintf(stderr, "%s\n", penstock_last_error()) > 0) exit(MPI_Finalize() + 1);
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  penstock_team* team = NULL;
  check(penstock_team_of(MPI_COMM_WORLD, &team));
  penstock_fft_options options;
  PENSTOCK_FFT_OPTIONS_INIT(&options);
  options.type = PENSTOCK_R2C, options.has_arrays = 1;
  options.size[0] = argc > 1 ? atoi(argv[1]) : 96, options.size[1] = 100, options.size[2] = 90;
  penstock_fft_plan* plan = NULL;
  check(penstock_fft_plan_create(team, &options, &plan));
  double* const field = penstock_fft_input_array(plan); /* this rank's part, x fastest */
  const int64_t points = penstock_fft_input_elements(plan);
  for (int64_t i = 0; i < points; ++i) field[i] = sin(0.1 * i);
  check(penstock_fft_forward(plan, field, penstock_fft_output_array(plan), PENSTOCK_NO_SCALING));
  check(penstock_fft_backward(plan, penstock_fft_output_array(plan), field, PENSTOCK_FULL));
  double error = 0;
  for (int64_t i = 0; i < points; ++i) error = fmax(error, fabs(field[i] - sin(0.1 * i)));
  printf("rank %d: %ld points, error %.1e\n", penstock_team_rank(team), (long)points, error);
  return penstock_fft_plan_destroy(plan) || penstock_team_destroy(team) || MPI_Finalize() || error > 1e-14;
}
