/* What the tests of the C interface share: expectations that name the rank, and a team of this process or of all ranks. */
#ifndef PENSTOCK_TESTS_C_CHECKS_H
#define PENSTOCK_TESTS_C_CHECKS_H

#ifdef PENSTOCK_TEST_MPI
#include <mpi.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock/c/penstock.h"

static int failures = 0;
static int my_rank = 0;

static inline void expect(int is_right, const char* what) {
  if (!is_right) {
    fprintf(stderr, "rank %d: %s (last error: '%s')\n", my_rank, what, penstock_last_error());
    ++failures;
  }
}

static inline void check(penstock_status status, const char* what) {
  if (status != PENSTOCK_OK) {
    fprintf(stderr, "rank %d: %s: %s\n", my_rank, what, penstock_last_error());
    exit(1);
  }
}

/* A failure whose sentence has this part. */
static inline void expect_failure(penstock_status status, const char* part, const char* what) {
  expect(status == PENSTOCK_ERROR && strstr(penstock_last_error(), part) != NULL, what);
}

static inline penstock_team* begin_ranks(int argc, char** argv) {
  penstock_team* team = NULL;
#ifdef PENSTOCK_TEST_MPI
  MPI_Init(&argc, &argv);
  check(penstock_team_of(MPI_COMM_WORLD, &team), "a team");
#else
  (void)argc;
  (void)argv;
  check(penstock_team_alone(&team), "a team");
#endif
  my_rank = penstock_team_rank(team);
  return team;
}

/* The status of the program. */
static inline int end_ranks(penstock_team* team) {
  check(penstock_team_destroy(team), "destroy a team");
#ifdef PENSTOCK_TEST_MPI
  MPI_Finalize();
#endif
  return failures == 0 ? 0 : 1;
}

#endif
