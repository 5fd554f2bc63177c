/* Penstock's C interface: distributed 3-D transforms, memory that ranks of a team read and write, compiled copies.
 *
 * Every function returns a penstock_status: PENSTOCK_OK, or PENSTOCK_ERROR, whose sentence penstock_last_error has. What
 * is collective must be called by every rank of the team, in the same order; where one rank fails, all do. Results come
 * through pointers, which are written only where the status is PENSTOCK_OK. Objects are destroyed by their destroy
 * functions, which take NULL. Structures of options begin with their size: fill them by their init function, then change
 * what is to differ, so that programs go on with later versions of the library that know more options.
 *
 * Directions are 0 (x), 1 (y) and 2 (z); in a field's array x is contiguous unless its order says otherwise.
 */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum penstock_status { PENSTOCK_OK = 0, PENSTOCK_ERROR = 1 } penstock_status;

/* The sentence of this thread's last call that failed; "" where none has. Valid until the thread's next call. */
const char* penstock_last_error(void);
/* The version of the library, as "0.1.0". */
const char* penstock_version(void);

/* ---- Teams ---------------------------------------------------------------------------------------------------- */

/* An ordered group of ranks that communicate. What is made over a team must be destroyed before it. */
typedef struct penstock_team penstock_team;

/* The team of this process alone. Needs no MPI. */
penstock_status penstock_team_alone(penstock_team** team);
/* Collective over a communicator, given by its number for Fortran (MPI_Comm_c2f; mpi4py's py2f): the team of its ranks.
 * MPI must be initialised, and outlive the team. Fails where the library was built without MPI. */
penstock_status penstock_team_of_fortran(int communicator, penstock_team** team);
#ifdef MPI_VERSION
static inline penstock_status penstock_team_of(MPI_Comm communicator, penstock_team** team) {
  return penstock_team_of_fortran((int)MPI_Comm_c2f(communicator), team);
}
#endif
penstock_status penstock_team_destroy(penstock_team* team);

int penstock_team_rank(const penstock_team* team);
int penstock_team_size(const penstock_team* team);
/* Collective: returns when every rank has called it. */
penstock_status penstock_team_barrier(penstock_team* team);
/* Collective: agrees on failure. `failure` is this rank's sentence; NULL or "": none. Where a rank has one, all ranks
 * fail, with the sentence of the lowest. */
penstock_status penstock_team_agree(penstock_team* team, const char* failure);

/* ---- Transforms ----------------------------------------------------------------------------------------------- */

typedef enum penstock_fft_type {
  PENSTOCK_C2C = 0, /* complex fields */
  PENSTOCK_R2C = 1, /* real fields; the spectrum has n/2 + 1 points in the direction of the first Fourier transform */
  PENSTOCK_R2R = 2  /* real fields by sines and cosines */
} penstock_fft_type;

/* How a direction is transformed: by Fourier's, or by one between real numbers under FFTW's names. */
typedef enum penstock_fft_kind {
  PENSTOCK_DEFAULT_KIND = -1, /* Fourier; REDFT10 for type r2r */
  PENSTOCK_REDFT00 = 0,
  PENSTOCK_REDFT10,
  PENSTOCK_REDFT01,
  PENSTOCK_REDFT11,
  PENSTOCK_RODFT00,
  PENSTOCK_RODFT10,
  PENSTOCK_RODFT01,
  PENSTOCK_RODFT11,
  PENSTOCK_R2HC,
  PENSTOCK_HC2R,
  PENSTOCK_DHT
} penstock_fft_kind;

/* The factor on a result: 1, 1/sqrt(N) or 1/N. */
typedef enum penstock_scaling { PENSTOCK_NO_SCALING = 0, PENSTOCK_SYMMETRIC = 1, PENSTOCK_FULL = 2 } penstock_scaling;

/* The part of a field that a rank holds: a box, and how it lies in the rank's array. `order` is that of its directions
 * from slowest to fastest: {2, 1, 0} is [z][y][x]. The pitches are the elements from one row to the next and from one
 * plane to the next; 0: no padding. */
typedef struct penstock_fft_part {
  int64_t lower[3];
  int64_t extent[3];
  int order[3];
  int64_t row_pitch;
  int64_t plane_pitch;
} penstock_fft_part;

/* The options of a plan. They must be the same on every rank, except threads and the boxes of the parts. */
typedef struct penstock_fft_options {
  size_t struct_size;                   /* set by penstock_fft_options_init */
  int64_t size[3];                      /* points of the field in x, y, z */
  int64_t modes[3];                     /* of the spectrum, where it has fewer than the field's points; 0: all */
  int type;                             /* a penstock_fft_type; c2c */
  int is_single;                        /* single precision; 0 */
  int kinds[3];                         /* of penstock_fft_kind; default */
  int along[3];                         /* whether a direction is transformed; 1 */
  int sequence[3];                      /* in which directions are transformed; 0, 1, 2 */
  int grid[2];                          /* ranks that cut the second and the third of the sequence; 0: chosen */
  int is_output_as_input;               /* the spectrum lies as the input does; 0: along the last direction, cheaper */
  const penstock_fft_part* input_part;  /* this rank's part of the field; NULL: the plan chooses */
  const penstock_fft_part* output_part; /* and of the spectrum */
  int threads;                          /* of this rank; 1 */
  int batch;                            /* fields per call; 1 */
  int is_interleaved;                   /* the fields' elements of a point lie beside each other; 0 */
  int measures;                         /* lengths are taken apart, and the grid is chosen, by timing; 0 */
  int convolves;                        /* the plan can convolve; 0 */
  int collocates;                       /* the plan can collocate; 0 */
  int has_arrays;                       /* the plan has arrays of its own, which peers write; 0 */
  uint64_t memory_budget_bytes;         /* that a plan may take on one node; 0: what the system has left */
} penstock_fft_options;

void penstock_fft_options_init(penstock_fft_options* options, size_t struct_size);
#define PENSTOCK_FFT_OPTIONS_INIT(options) penstock_fft_options_init((options), sizeof(*(options)))

/* A transform over the ranks of a team, planned once and run many times; by one thread of a rank at a time. */
typedef struct penstock_fft_plan penstock_fft_plan;

/* Collective. Fails on every rank where the options cannot be used, differ, or need more memory than there is. */
penstock_status penstock_fft_plan_create(penstock_team* team, const penstock_fft_options* options,
                                         penstock_fft_plan** plan);
penstock_status penstock_fft_plan_destroy(penstock_fft_plan* plan);

/* This rank's part of the field, and of the spectrum by indices from 0. */
penstock_fft_part penstock_fft_input_part(const penstock_fft_plan* plan);
penstock_fft_part penstock_fft_output_part(const penstock_fft_plan* plan);
/* The elements that this rank's array of all fields needs, and those from one field of a batch to the next. Elements are
 * complex or real numbers, as the type has them there. */
int64_t penstock_fft_input_elements(const penstock_fft_plan* plan);
int64_t penstock_fft_output_elements(const penstock_fft_plan* plan);
int64_t penstock_fft_input_stride(const penstock_fft_plan* plan);
int64_t penstock_fft_output_stride(const penstock_fft_plan* plan);
/* The plan's own arrays, where its options have them; NULL where they have none, or this rank holds nothing. */
void* penstock_fft_input_array(penstock_fft_plan* plan);
void* penstock_fft_output_array(penstock_fft_plan* plan);

/* Collective: transforms from space to the spectrum, and back. `in` and `out` may be the same, or have nothing in
 * common; they have the elements that the functions above tell. `scaling` is a penstock_scaling. Where an argument of one
 * rank cannot be, the plan is of no more use: the other ranks fail as well, now or at their next call. */
penstock_status penstock_fft_forward(penstock_fft_plan* plan, const void* in, void* out, int scaling);
penstock_status penstock_fft_backward(penstock_fft_plan* plan, const void* in, void* out, int scaling);

/* A transform under way. */
typedef struct penstock_fft_execution penstock_fft_execution;
penstock_status penstock_fft_start_forward(penstock_fft_plan* plan, const void* in, void* out, int scaling,
                                           penstock_fft_execution** execution);
penstock_status penstock_fft_start_backward(penstock_fft_plan* plan, const void* in, void* out,
                                            int scaling, penstock_fft_execution** execution);
/* Does what can be done without waiting; tells whether all is done. */
penstock_status penstock_fft_progress(penstock_fft_execution* execution, int* is_done);
/* Completes the transform and destroys the execution, also where it fails, or progress has failed before. */
penstock_status penstock_fft_wait(penstock_fft_execution* execution);

/* Called for each row of the spectrum (all kz at one kx, ky) or of the points (all x at one y, z): `elements` numbers,
 * which it may change; of interleaved fields beside each other. Several threads call it at the same time. Anything but 0
 * ends the transform on every rank. */
typedef int (*penstock_fft_row_function)(int64_t first, int64_t second, void* row, size_t elements, void* data);

/* Collective: forward, `on_spectrum` for each row, and backward, in one call: from space to space. The plan's options
 * have `convolves`. */
penstock_status penstock_fft_convolve(penstock_fft_plan* plan, const void* in, void* out,
                                      penstock_fft_row_function on_spectrum, void* data, int scaling);
/* Collective: backward, `on_points` for each row, and forward: from spectrum to spectrum. The plan's options have
 * `collocates`. */
penstock_status penstock_fft_collocate(penstock_fft_plan* plan, const void* in, void* out,
                                       penstock_fft_row_function on_points, void* data, int scaling);

/* The time of the last transform on this rank, and what of it was transforming, copying and waiting for peers. */
typedef struct penstock_fft_times {
  double total_s;
  double transform_s;
  double move_s;
  double wait_s;
} penstock_fft_times;
penstock_fft_times penstock_fft_last_times(const penstock_fft_plan* plan);

/* ---- Transforms of fields in files, larger than memory --------------------------------------------------------- */

typedef struct penstock_fft_file_options {
  size_t struct_size;       /* set by penstock_fft_file_options_init */
  int is_backward;          /* the input is the spectrum; 0 */
  int type;                 /* c2c or r2c; c2c */
  int64_t points_x;         /* of a real output; 0: the even number of its spectrum */
  int scaling;              /* a penstock_scaling; none */
  int64_t memory_bytes;     /* of this rank; 0: its share of a quarter of what the system has left */
  int threads;              /* of this rank; 1 */
} penstock_fft_file_options;

void penstock_fft_file_options_init(penstock_fft_file_options* options, size_t struct_size);
#define PENSTOCK_FFT_FILE_OPTIONS_INIT(options) penstock_fft_file_options_init((options), sizeof(*(options)))

/* Collective over the team: transforms the field `input` (.npy, .nii, .mrc, or F.h5:/dataset) into `output`, in two
 * passes over the files. Where an earlier run was killed, goes on with it. */
penstock_status penstock_fft_file(penstock_team* team, const char* input, const char* output,
                                  const penstock_fft_file_options* options);

/* ---- Memory that peers read and write -------------------------------------------------------------------------- */

/* Memory of every rank of a team, with signals that tell of arrivals: 64-bit counters that start at 0. */
typedef struct penstock_segment penstock_segment;

/* Collective: `bytes` bytes, zeroed, and `signals` signals on each rank; both may differ between ranks. */
penstock_status penstock_segment_create(penstock_team* team, size_t bytes, size_t signals, penstock_segment** segment);
/* Not collective: the peers must be done with this rank's part. */
penstock_status penstock_segment_destroy(penstock_segment* segment);
/* This rank's part. */
void* penstock_segment_local(penstock_segment* segment);
/* The part of `peer` in this process; NULL where it is not mapped here, or there is no such rank. */
void* penstock_segment_address_at(penstock_segment* segment, int peer);

/* Writes `bytes` bytes to `offset` of the peer's part; returns when they are there. */
penstock_status penstock_put(penstock_segment* segment, int peer, size_t offset, const void* data, size_t bytes);
/* The same, and then adds one to the peer's signal; returns when `data` may be changed. A rank that sees the signal sees
 * the data. */
penstock_status penstock_put_signal(penstock_segment* segment, int peer, size_t offset, const void* data, size_t bytes,
                                    size_t signal);
/* Reads the peer's part. */
penstock_status penstock_get(penstock_segment* segment, int peer, size_t offset, void* data, size_t bytes);
/* Adds one to the peer's signal. */
penstock_status penstock_notify(penstock_segment* segment, int peer, size_t signal);
/* Waits until this rank's own signal is at least `at_least`. */
penstock_status penstock_wait(penstock_segment* segment, size_t signal, uint64_t at_least);
/* Whether it is; makes progress once. */
penstock_status penstock_test(penstock_segment* segment, size_t signal, uint64_t at_least, int* has_arrived);
/* Adds to a 64-bit word of the peer's part, atomically; tells its value from before. */
penstock_status penstock_fetch_add(penstock_segment* segment, int peer, size_t offset, uint64_t value,
                                   uint64_t* before);

/* ---- Compiled copies ------------------------------------------------------------------------------------------- */

/* A loop of a layout: `extent` times, `stride` bytes apart. */
typedef struct penstock_level {
  int64_t extent;
  int64_t stride;
} penstock_level;

/* A copy that was compiled for the machine; many threads may run it at once. */
typedef struct penstock_mover penstock_mover;

/* Compiles the copy of elements of `element_bytes` bytes from one nest of loops to another, each given from the outermost
 * level to the innermost: element k of the source's order goes to element k of the destination's. */
penstock_status penstock_mover_create(const penstock_level* source, size_t source_levels,
                                      const penstock_level* destination, size_t destination_levels,
                                      int64_t element_bytes, penstock_mover** mover);
penstock_status penstock_mover_destroy(penstock_mover* mover);
void penstock_mover_run(const penstock_mover* mover, const void* source, void* destination);

#ifdef __cplusplus
}
#endif

#endif
