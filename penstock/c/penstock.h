/* Penstock's C interface: distributed 3-D transforms and multiplies, both also of files larger than memory; memory
 * that ranks of a team read and write, exchanges between them, compiled copies.
 *
 * Every function returns a penstock_status: PENSTOCK_OK, or PENSTOCK_ERROR, whose sentence penstock_last_error has.
 * What is collective must be called by every rank of the team, in the same order; where one rank fails, all do.
 * Results come through pointers, which are written only where the status is PENSTOCK_OK. Objects are destroyed by
 * their destroy functions, which take NULL. Structures of options begin with their size: fill them by their init
 * function, then change what is to differ, so that programs go on with later versions of the library that know more
 * options.
 *
 * Directions are 0 (x), 1 (y) and 2 (z); in a field's array x is contiguous unless its order says otherwise. */
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
  uint64_t memory_budget_bytes;         /* that a plan may take on one node, or of one device; 0: what is left there */
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
/* The elements that this rank's array of all fields needs, and those from one field of a batch to the next. Elements
 * are complex or real numbers, as the type has them there. */
int64_t penstock_fft_input_elements(const penstock_fft_plan* plan);
int64_t penstock_fft_output_elements(const penstock_fft_plan* plan);
int64_t penstock_fft_input_stride(const penstock_fft_plan* plan);
int64_t penstock_fft_output_stride(const penstock_fft_plan* plan);
/* The plan's own arrays, where its options have them; NULL where they have none, or this rank holds nothing. */
void* penstock_fft_input_array(penstock_fft_plan* plan);
void* penstock_fft_output_array(penstock_fft_plan* plan);

/* Collective: transforms from space to the spectrum, and back. `in` and `out` may be the same, or have nothing in
 * common; they have the elements that the functions above tell. `scaling` is a penstock_scaling. Where an argument of
 * one rank cannot be, the plan is of no more use: the other ranks fail as well, now or at their next call. */
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
 * which it may change; of interleaved fields beside each other. Several threads call it at the same time. Anything but
 * 0 ends the transform on every rank. */
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

/* The bytes of a core's second-level cache on this machine; where the system does not tell, those of a usual one. What
 * fits into it may be faster in another library. */
int64_t penstock_cache_l2_bytes(void);

/* ---- Devices, and transforms on them ---------------------------------------------------------------------------- */

/* An accelerator, reached by OpenCL or by CUDA's driver; the library looks for both when devices are first asked for.
 * Any thread may use it. It stays open as long as what was made with it. */
typedef struct penstock_device penstock_device;

typedef enum penstock_device_interface { PENSTOCK_CUDA = 0, PENSTOCK_OPENCL = 1 } penstock_device_interface;

/* What a device is. The items of a work-group share local memory: the threads of CUDA's blocks share memory. */
typedef struct penstock_device_properties {
  int interface;               /* a penstock_device_interface */
  int number;                  /* among its interface's devices, as CUDA counts them; -1: it is not listed */
  char name[256];
  char driver[256];            /* its name and version */
  uint64_t memory_bytes;       /* of the device */
  uint64_t local_memory_bytes; /* of a work-group at most */
  int64_t group_items;         /* the same */
  int64_t compute_units;
  int has_double;              /* it computes in double precision */
  int is_host;                 /* the host's processors: device memory is host memory */
} penstock_device_properties;

/* The devices of this system, those of CUDA before those of OpenCL: writes the first `capacity` of them, and how many
 * there are. An accelerator that both reach is there twice. */
penstock_status penstock_device_list(penstock_device_properties* devices, size_t capacity, size_t* count);
/* Collective: opens a device for each rank. `selector`, which may differ between ranks, is "cuda:N" or "opencl:N", the
 * N-th of its interface, or "any": the accelerators of each node go to its ranks in turn, and a node without one has
 * its first device. */
penstock_status penstock_device_open(penstock_team* team, const char* selector, penstock_device** device);
/* The device of the program's own cl_context and cl_device_id, so that memory of that context can be used. CUDA needs
 * none: devices have their primary context, as CUDA's runtime does. */
penstock_status penstock_device_open_opencl(void* context, void* id, penstock_device** device);
penstock_status penstock_device_destroy(penstock_device* device);
penstock_device_properties penstock_device_describe(const penstock_device* device);
/* The device memory that is free now; of OpenCL, which does not tell, all that the device has. */
penstock_status penstock_device_available_bytes(const penstock_device* device, uint64_t* bytes);
/* Waits for the work of a stream of the program's own: a CUstream (1: CUDA's default stream; 2: this thread's), or a
 * cl_command_queue. */
penstock_status penstock_device_finish(const penstock_device* device, uint64_t stream);

/* A location in device memory: `offset` bytes into what `handle` stands for, a pointer of CUDA or a cl_mem. */
typedef struct penstock_location {
  uint64_t handle;
  uint64_t offset;
} penstock_location;

/* Memory of a device. */
typedef struct penstock_device_memory penstock_device_memory;

/* Fails where the device has no room for `bytes` bytes. What is there at first is undefined. */
penstock_status penstock_device_memory_create(const penstock_device* device, uint64_t bytes,
                                              penstock_device_memory** memory);
penstock_status penstock_device_memory_destroy(penstock_device_memory* memory);
/* Where it begins. */
penstock_location penstock_device_memory_location(const penstock_device_memory* memory);
/* Copy `bytes` bytes; return when they are there. */
penstock_status penstock_copy_to_device(const penstock_device* device, penstock_location to, const void* from,
                                        uint64_t bytes);
penstock_status penstock_copy_to_host(const penstock_device* device, void* to, penstock_location from, uint64_t bytes);

/* Collective: a plan whose transforms run on devices, this rank's on `device`; c2c and r2c. Of the options those of
 * threads and measuring do not matter. Fails as penstock_fft_plan_create does, and where a device cannot transform
 * this or has too little memory.
 *
 * Functions of plans take it as well, but for those that begin executions, convolve or collocate: arrays that
 * penstock_fft_forward and its like are given are in host memory, and pass through the device; the first such call
 * takes device memory for chunks of them, beyond memory_budget_bytes. */
penstock_status penstock_fft_plan_create_on_device(penstock_team* team, const penstock_device* device,
                                                   const penstock_fft_options* options, penstock_fft_plan** plan);
/* Collective: penstock_fft_forward and penstock_fft_backward of a plan on devices, with arrays in device memory. Each
 * has room for the elements that the plan tells, which nothing can check. What streams of the program's own do with the
 * arrays must be done: see penstock_device_finish. The result is there when the function returns. */
penstock_status penstock_fft_forward_on_device(penstock_fft_plan* plan, penstock_location in, penstock_location out,
                                               int scaling);
penstock_status penstock_fft_backward_on_device(penstock_fft_plan* plan, penstock_location in, penstock_location out,
                                                int scaling);

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

/* ---- Matrices and their multiplies ----------------------------------------------------------------------------- */

/* The elements of a matrix; complex ones are real part and imaginary part. */
typedef enum penstock_number {
  PENSTOCK_FLOAT32 = 0,
  PENSTOCK_FLOAT64 = 1,
  PENSTOCK_COMPLEX64 = 2,
  PENSTOCK_COMPLEX128 = 3
} penstock_number;

/* How a matrix lies on the ranks of a team: blocks of rows and columns, dealt out in turn to a grid of ranks, as
 * ScaLAPACK does. Rank r of the grid is in row r / grid[1] and column r % grid[1]; ranks beyond it have no elements.
 * The options must be the same on every rank. */
typedef struct penstock_matrix_options {
  size_t struct_size; /* set by penstock_matrix_options_init */
  int64_t extents[2]; /* rows and columns; 0, 0 */
  int64_t blocks[2];  /* rows and columns of a block; 0: one block a rank, as even as can be */
  int grid[2];        /* rows and columns of ranks; 0: chosen */
  int type;           /* a penstock_number; float64 */
} penstock_matrix_options;

void penstock_matrix_options_init(penstock_matrix_options* options, size_t struct_size);
#define PENSTOCK_MATRIX_OPTIONS_INIT(options) penstock_matrix_options_init((options), sizeof(*(options)))

/* A matrix on the ranks of a team. It owns its elements, which begin as zeros. */
typedef struct penstock_matrix penstock_matrix;

/* Collective. Fails on every rank where the options cannot be used or differ, or a rank lacks the memory. */
penstock_status penstock_matrix_create(penstock_team* team, const penstock_matrix_options* options,
                                       penstock_matrix** matrix);
/* Not collective: the peers must be done with this rank's elements. */
penstock_status penstock_matrix_destroy(penstock_matrix* matrix);

/* This rank's elements: rows one after the other, without padding. A rank may read and write them between calls that
 * are collective. */
void* penstock_matrix_local(penstock_matrix* matrix);
/* The rows (0) or columns (1) of this rank's elements. */
int64_t penstock_matrix_local_extent(const penstock_matrix* matrix, int dimension);
/* The row (0) or column (1) of the whole matrix that this rank has as number `position`; -1 where it has none there. */
int64_t penstock_matrix_index(const penstock_matrix* matrix, int dimension, int64_t position);

/* Write and read `extents[0]` x `extents[1]` elements from row first[0] and column first[1] on, on whichever ranks
 * they lie. `data` has rows that begin `leading` elements apart. Not collective; return when all is there. What was
 * put is seen by others behind a barrier. */
penstock_status penstock_matrix_put(penstock_matrix* matrix, const int64_t first[2], const int64_t extents[2],
                                    const void* data, int64_t leading);
penstock_status penstock_matrix_get(penstock_matrix* matrix, const int64_t first[2], const int64_t extents[2],
                                    void* data, int64_t leading);

/* The operation on a factor: none, its transpose, or its transpose with conjugated elements. */
typedef enum penstock_op { PENSTOCK_NO_OP = 0, PENSTOCK_TRANSPOSE = 1, PENSTOCK_CONJUGATE_TRANSPOSE = 2 } penstock_op;

/* How ranks get the blocks of A and B; see docs/gemm.md. */
typedef enum penstock_gemm_algorithm {
  PENSTOCK_AUTOMATIC = 0,
  PENSTOCK_STATIONARY = 1,
  PENSTOCK_CANNON = 2,
  PENSTOCK_LAYERED = 3
} penstock_gemm_algorithm;

/* C = alpha op(A) op(B) + beta C. Scalars are real part and imaginary part; the latter is 0 for real matrices. With
 * beta 0 C is not read. The options must be the same on every rank, except threads. */
typedef struct penstock_gemm_options {
  size_t struct_size;    /* set by penstock_gemm_options_init */
  int op_a;              /* a penstock_op; none */
  int op_b;              /* likewise */
  double alpha[2];       /* 1, 0 */
  double beta[2];        /* 0, 0 */
  int threads;           /* of this rank; 1 */
  int algorithm;         /* of penstock_gemm: a penstock_gemm_algorithm; automatic */
  int layers[3];         /* of penstock_gemm, layered: layers, rows and columns of ranks; zeros: chosen */
  uint64_t memory_bytes; /* of penstock_gemm: besides the matrices, of a node's ranks; 0: half of what is left */
} penstock_gemm_options;

void penstock_gemm_options_init(penstock_gemm_options* options, size_t struct_size);
#define PENSTOCK_GEMM_OPTIONS_INIT(options) penstock_gemm_options_init((options), sizeof(*(options)))

/* Collective over `team`, which all three matrices are of. They are different objects of one type of elements.
 * `options` may be NULL: C = A B. Where a rank fails midway, the team is of no more use. */
penstock_status penstock_gemm(penstock_team* team, penstock_matrix* a, penstock_matrix* b, penstock_matrix* c,
                              const penstock_gemm_options* options);

/* The same for arrays of this process: op(A) is extents[0] x extents[2], op(B) extents[2] x extents[1], C extents[0] x
 * extents[1] elements of `type`, a penstock_number. Rows of an array begin `leading` elements apart. C has nothing in
 * common with A and B. `options` may be NULL. */
penstock_status penstock_gemm_arrays(int type, const int64_t extents[3], const void* a, int64_t leading_a,
                                     const void* b, int64_t leading_b, void* c, int64_t leading_c,
                                     const penstock_gemm_options* options);

/* ---- Multiplies of matrices in files, larger than memory -------------------------------------------------------- */

typedef struct penstock_gemm_file_options {
  size_t struct_size;   /* set by penstock_gemm_file_options_init */
  int op_a;             /* a penstock_op; none */
  int op_b;             /* likewise */
  double alpha[2];      /* 1, 0 */
  double beta[2];       /* 0, 0; with another one C must exist */
  int64_t memory_bytes; /* for blocks of the matrices; 0: a quarter of what the system has left */
  int threads;          /* 1 */
  int has_no_scratch;   /* no blocks are kept in unnamed files beside C; 0 */
} penstock_gemm_file_options;

void penstock_gemm_file_options_init(penstock_gemm_file_options* options, size_t struct_size);
#define PENSTOCK_GEMM_FILE_OPTIONS_INIT(options) penstock_gemm_file_options_init((options), sizeof(*(options)))

/* C = alpha op(A) op(B) + beta C of .npy files of one type of elements, in C or Fortran order, by this process alone.
 * C is neither A nor B, and is replaced when the new one is complete. Where an earlier run was killed, goes on with
 * it. `options` may be NULL. */
penstock_status penstock_gemm_file(const char* a, const char* b, const char* c,
                                   const penstock_gemm_file_options* options);

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
/* The same, and then adds one to the peer's signal; returns when `data` may be changed. A rank that sees the signal
 * sees the data. */
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

/* ---- Exchanges ------------------------------------------------------------------------------------------------- */

/* A message that this rank writes in every round of an exchange: `bytes` bytes, not 0, at `offset` of the peer's
 * segment. There it is number `index` of what the peer lists as incoming. */
typedef struct penstock_outgoing {
  int peer;
  size_t offset;
  size_t bytes;
  size_t index;
} penstock_outgoing;

/* A message that this rank receives in every round: `bytes` bytes from the peer at `offset` of its own segment. */
typedef struct penstock_incoming {
  int peer;
  size_t offset;
  size_t bytes;
} penstock_incoming;

/* A list of messages between the ranks of a team, fixed beforehand and repeated in rounds. In a round each rank calls
 * open; for each outgoing message destination, writes there, and send; for each incoming message wait, then reads it;
 * and finish when all is sent and read. A message is written in the peer's memory where that is mapped here, else in a
 * buffer. */
typedef struct penstock_exchange penstock_exchange;

/* Collective. Fails on every rank where a message is not listed by both its ranks, in the same order, or does not lie
 * in the segment. The segment must be destroyed after the exchange. */
penstock_status penstock_exchange_create(penstock_team* team, penstock_segment* segment,
                                         const penstock_outgoing* outgoing, size_t outgoing_count,
                                         const penstock_incoming* incoming, size_t incoming_count,
                                         penstock_exchange** exchange);
penstock_status penstock_exchange_destroy(penstock_exchange* exchange);
/* Begins a round: the peers may write this rank's incoming memory. */
penstock_status penstock_exchange_open(penstock_exchange* exchange);
/* Waits until outgoing message `message` may be written; tells where. */
penstock_status penstock_exchange_destination(penstock_exchange* exchange, size_t message, void** destination);
/* Sends outgoing message `message`, which is complete. */
penstock_status penstock_exchange_send(penstock_exchange* exchange, size_t message);
/* Waits until incoming message `message` has arrived. */
penstock_status penstock_exchange_wait(penstock_exchange* exchange, size_t message);
/* Whether it has; makes progress once. */
penstock_status penstock_exchange_test(penstock_exchange* exchange, size_t message, int* has_arrived);
/* Ends a round: waits until what was sent has left. */
penstock_status penstock_exchange_finish(penstock_exchange* exchange);

/* Bytes that go to one rank, or come from it. */
typedef struct penstock_send_block {
  const void* data;
  size_t bytes;
} penstock_send_block;
typedef struct penstock_receive_block {
  void* data;
  size_t bytes;
} penstock_receive_block;

/* A collective call under way. The memory that it was given must stay, and must not be changed, until it is waited
 * for. */
typedef struct penstock_event penstock_event;

/* Collective: every rank sends a block to every rank, itself included. Block k of `send`, of as many blocks as ranks,
 * goes to rank k; block k of `receive` takes what rank k sends, and is as long. Many may be under way at once. */
penstock_status penstock_start_exchange_blocks(penstock_team* team, const penstock_send_block* send,
                                               const penstock_receive_block* receive, penstock_event** event);
/* Does what can be done without waiting; tells whether all is done. */
penstock_status penstock_event_test(penstock_event* event, int* is_done);
/* Completes the call and destroys the event, also where it fails, or a test has failed before. */
penstock_status penstock_event_wait(penstock_event* event);

/* Collective: the same with blocks of `bytes` bytes each, one after the other in order of rank; returns when it is
 * done. */
penstock_status penstock_exchange_blocks(penstock_team* team, const void* send, void* receive, size_t bytes);

/* ---- Models of machines ---------------------------------------------------------------------------------------- */

/* Asks a model ("fft", "gemm", "pingpong", "plan", "project", "scaling" or "topology") as `penstock model` does: `arguments` are those that
 * the command takes behind the model's name, such as "--machine", "frontier", "--nodes", "64". `json` becomes what the
 * command writes by --json; valid until this thread's next call of this function. */
penstock_status penstock_model(const char* model, const char* const* arguments, size_t count, const char** json);

/* ---- Compiled copies ------------------------------------------------------------------------------------------- */

/* A loop of a layout: `extent` times, `stride` bytes apart. */
typedef struct penstock_level {
  int64_t extent;
  int64_t stride;
} penstock_level;

/* A copy that was compiled for the machine; many threads may run it at once. */
typedef struct penstock_mover penstock_mover;

/* Compiles the copy of elements of `element_bytes` bytes from one nest of loops to another, each given from the
 * outermost level to the innermost: element k of the source's order goes to element k of the destination's. */
penstock_status penstock_mover_create(const penstock_level* source, size_t source_levels,
                                      const penstock_level* destination, size_t destination_levels,
                                      int64_t element_bytes, penstock_mover** mover);
penstock_status penstock_mover_destroy(penstock_mover* mover);
void penstock_mover_run(const penstock_mover* mover, const void* source, void* destination);

#ifdef __cplusplus
}
#endif

#endif
