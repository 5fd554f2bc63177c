/* Plane waves as fields of transforms: the spectrum of each is one number. */
#ifndef PENSTOCK_TESTS_C_WAVES_H
#define PENSTOCK_TESTS_C_WAVES_H

#include <complex.h>
#include <math.h>
#include <stdint.h>

#include "penstock/c/penstock.h"

/* The place of a point in a rank's array. */
static inline int64_t position(const penstock_fft_part* part, const int64_t point[3]) {
  int64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const int d = part->order[i];
    at = at * part->extent[d] + point[d] - part->lower[d];
  }
  return at;
}

/* The next point of a part after `point`, whose first is its lower end; 0 after the last. */
static inline int next_point(const penstock_fft_part* part, int64_t point[3]) {
  for (int d = 0; d < 3; ++d) {
    if (++point[d] < part->lower[d] + part->extent[d]) {
      return 1;
    }
    point[d] = part->lower[d];
  }
  return 0;
}

static inline int has_points(const penstock_fft_part* part) {
  return part->extent[0] * part->extent[1] * part->extent[2] > 0;
}

/* Fills this rank's array of the fields of a batch: field f is f + 1 waves of 1, 2 and 3 periods along x, y and z. */
static inline void fill_waves(const penstock_fft_options* options, const penstock_fft_plan* plan, double* field) {
  const penstock_fft_part part = penstock_fft_input_part(plan);
  const int numbers = options->type == PENSTOCK_C2C ? 2 : 1;
  for (int f = 0; f < options->batch && has_points(&part); ++f) {
    int64_t p[3] = {part.lower[0], part.lower[1], part.lower[2]};
    do {
      double* const at = field + (f * penstock_fft_input_stride(plan) + position(&part, p)) * numbers;
      const double phase = 6.28318530717958647692 * (1.0 * (double)p[0] / (double)options->size[0] +
                                                     2.0 * (double)p[1] / (double)options->size[1] +
                                                     3.0 * (double)p[2] / (double)options->size[2]);
      at[0] = (f + 1) * cos(phase);
      if (numbers == 2) {
        at[1] = (f + 1) * sin(phase);
      }
    } while (next_point(&part, p));
  }
}

/* The largest error in this rank's spectrum of these fields, of full scaling. */
static inline double wave_error(const penstock_fft_options* options, const penstock_fft_plan* plan,
                                const double complex* spectrum) {
  const penstock_fft_part part = penstock_fft_output_part(plan);
  double worst = 0;
  for (int f = 0; f < options->batch && has_points(&part); ++f) {
    int64_t p[3] = {part.lower[0], part.lower[1], part.lower[2]};
    do {
      const int is_wave = p[0] == 1 && p[1] == 2 && p[2] == 3;
      const double expected = is_wave ? (options->type == PENSTOCK_C2C ? 1.0 : 0.5) * (f + 1) : 0;
      const double error = cabs(spectrum[f * penstock_fft_output_stride(plan) + position(&part, p)] - expected);
      worst = error > worst ? error : worst;
    } while (next_point(&part, p));
  }
  return worst;
}

#endif
