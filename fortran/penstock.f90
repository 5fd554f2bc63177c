! Penstock from Fortran: distributed 3-D transforms and matrix multiplies over the C interface, libpenstock-c. Compile
! this file with the program, as module files belong to a compiler, and link -lpenstock-c.
!
! Arrays are as Fortran has them: of a matrix (row, column), with a column contiguous; of a field (x, y, z), with x
! contiguous. The spectrum lies as (z, y, x), with z
! contiguous, or where the options say `output_as_input` as (x, y, z). Indices of parts count from 1.
!
! Every procedure that can fail has an optional last argument `status`: 0, or 1 where penstock_error() has the sentence.
! Without it a failure ends the program with the sentence.
module penstock
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  public :: penstock_team, penstock_plan, penstock_options, penstock_part, penstock_error, penstock_transform_file
  public :: penstock_matrix, penstock_multiply_options, penstock_multiply_files

  integer, parameter, public :: penstock_c2c = 0, penstock_r2c = 1, penstock_r2r = 2
  integer, parameter, public :: penstock_default_kind = -1, penstock_redft00 = 0, penstock_redft10 = 1, &
      penstock_redft01 = 2, penstock_redft11 = 3, penstock_rodft00 = 4, penstock_rodft10 = 5, penstock_rodft01 = 6, &
      penstock_rodft11 = 7, penstock_r2hc = 8, penstock_hc2r = 9, penstock_dht = 10
  integer, parameter, public :: penstock_no_scaling = 0, penstock_symmetric = 1, penstock_full = 2

  integer, parameter, public :: penstock_float32 = 0, penstock_float64 = 1, penstock_complex64 = 2, &
      penstock_complex128 = 3
  integer, parameter, public :: penstock_no_op = 0, penstock_transpose = 1, penstock_conjugate_transpose = 2

  ! The part of a field that a rank holds: indices from `lower` to `upper` in x, y and z, and the directions (1 is x)
  ! from the fastest to the slowest in its array.
  type :: penstock_part
    integer(c_int64_t) :: lower(3) = 1
    integer(c_int64_t) :: upper(3) = 0
    integer :: order(3) = [1, 2, 3]
  contains
    procedure :: extents => part_extents  ! of the array, from the fastest dimension on
  end type

  ! The options of a plan: the same on every rank, but for threads and parts.
  type :: penstock_options
    integer(c_int64_t) :: points(3) = 0  ! in x, y and z
    integer :: kind_of_fields = penstock_c2c
    logical :: single_precision = .false.
    integer :: kinds(3) = penstock_default_kind
    logical :: along(3) = .true.
    logical :: output_as_input = .false.
    integer :: threads = 1
    integer :: fields = 1
    logical :: measures = .false.
    logical :: has_parts = .false.  ! `input` and `output` are this rank's parts
    type(penstock_part) :: input
    type(penstock_part) :: output
  end type

  ! An ordered group of ranks. What is made with it must be destroyed before it.
  type :: penstock_team
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: alone => team_alone        ! (status): this process alone; needs no MPI
    procedure :: of => team_of              ! (comm, status): collective; of mpi_f08's communicators comm%MPI_VAL
    procedure :: rank => team_rank          ! from 0
    procedure :: size => team_size
    procedure :: barrier => team_barrier    ! (status): collective
    procedure :: destroy => team_destroy    ! (status)
  end type

  ! A transform over the ranks of a team.
  type :: penstock_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => plan_create      ! (team, options, status): collective
    procedure :: input => plan_input        ! this rank's part of the field
    procedure :: output => plan_output      ! and of the spectrum
    procedure :: input_elements => plan_input_elements    ! of this rank's array of all fields
    procedure :: output_elements => plan_output_elements
    procedure :: input_stride => plan_input_stride        ! elements from one of several fields to the next
    procedure :: output_stride => plan_output_stride
    procedure :: forward => plan_forward    ! (in, out, scaling, status): collective
    procedure :: backward => plan_backward  ! (in, out, scaling, status): collective
    procedure :: destroy => plan_destroy    ! (status)
  end type

  ! A product C = alpha op(A) op(B) + beta C: the same on every rank, but for threads.
  type :: penstock_multiply_options
    integer :: op_a = penstock_no_op
    integer :: op_b = penstock_no_op
    complex(c_double_complex) :: alpha = 1
    complex(c_double_complex) :: beta = 0
    integer :: threads = 1
    integer(c_int64_t) :: memory_bytes = 0  ! besides the matrices; of files, for their blocks; 0: chosen
  end type

  ! A matrix on the ranks of a team, of zeros to begin with. It owns its elements.
  type :: penstock_matrix
    private
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: team = c_null_ptr
    integer :: kind_of_elements = penstock_float64
  contains
    procedure :: create => matrix_create      ! (team, rows, columns, kind_of_elements, blocks, status): collective
    procedure :: multiply => matrix_multiply  ! (a, b, options, status): collective; of this one, C
    procedure :: row => matrix_row            ! the row of the whole matrix that is number i here; 0: there is none
    procedure :: column => matrix_column
    procedure, private :: local_float32, local_float64, local_complex64, local_complex128
    ! (array): a pointer to this rank's elements; null where they are of another kind
    generic :: local => local_float32, local_float64, local_complex64, local_complex128
    procedure :: destroy => matrix_destroy    ! (status)
  end type

  type, bind(c) :: c_part
    integer(c_int64_t) :: lower(3)
    integer(c_int64_t) :: extent(3)
    integer(c_int) :: order(3)
    integer(c_int64_t) :: row_pitch
    integer(c_int64_t) :: plane_pitch
  end type

  type, bind(c) :: c_options
    integer(c_size_t) :: struct_size
    integer(c_int64_t) :: points(3)
    integer(c_int64_t) :: modes(3)
    integer(c_int) :: kind_of_fields
    integer(c_int) :: is_single
    integer(c_int) :: kinds(3)
    integer(c_int) :: along(3)
    integer(c_int) :: sequence(3)
    integer(c_int) :: grid(2)
    integer(c_int) :: is_output_as_input
    type(c_ptr) :: input_part
    type(c_ptr) :: output_part
    integer(c_int) :: threads
    integer(c_int) :: batch
    integer(c_int) :: is_interleaved
    integer(c_int) :: measures
    integer(c_int) :: convolves
    integer(c_int) :: collocates
    integer(c_int) :: has_arrays
    integer(c_int64_t) :: memory_budget_bytes
  end type

  type, bind(c) :: c_file_options
    integer(c_size_t) :: struct_size
    integer(c_int) :: is_backward
    integer(c_int) :: kind_of_fields
    integer(c_int64_t) :: points_x
    integer(c_int) :: scaling
    integer(c_int64_t) :: memory_bytes
    integer(c_int) :: threads
  end type

  type, bind(c) :: c_matrix_options
    integer(c_size_t) :: struct_size
    integer(c_int64_t) :: extents(2)
    integer(c_int64_t) :: blocks(2)
    integer(c_int) :: grid(2)
    integer(c_int) :: kind_of_elements
  end type

  type, bind(c) :: c_gemm_options
    integer(c_size_t) :: struct_size
    integer(c_int) :: op_a
    integer(c_int) :: op_b
    complex(c_double_complex) :: alpha
    complex(c_double_complex) :: beta
    integer(c_int) :: threads
    integer(c_int) :: algorithm
    integer(c_int) :: layers(3)
    integer(c_int64_t) :: memory_bytes
  end type

  type, bind(c) :: c_gemm_file_options
    integer(c_size_t) :: struct_size
    integer(c_int) :: op_a
    integer(c_int) :: op_b
    complex(c_double_complex) :: alpha
    complex(c_double_complex) :: beta
    integer(c_int64_t) :: memory_bytes
    integer(c_int) :: threads
    integer(c_int) :: has_no_scratch
  end type

  interface
    function c_last_error() bind(c, name="penstock_last_error") result(sentence)
      import :: c_ptr
      type(c_ptr) :: sentence
    end function
    function c_strlen(string) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: string
      integer(c_size_t) :: length
    end function
    function c_team_alone(team) bind(c, name="penstock_team_alone") result(status)
      import :: c_ptr, c_int
      type(c_ptr), intent(out) :: team
      integer(c_int) :: status
    end function
    function c_team_of_fortran(comm, team) bind(c, name="penstock_team_of_fortran") result(status)
      import :: c_ptr, c_int
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: team
      integer(c_int) :: status
    end function
    function c_team_destroy(team) bind(c, name="penstock_team_destroy") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: team
      integer(c_int) :: status
    end function
    function c_team_rank(team) bind(c, name="penstock_team_rank") result(rank)
      import :: c_ptr, c_int
      type(c_ptr), value :: team
      integer(c_int) :: rank
    end function
    function c_team_size(team) bind(c, name="penstock_team_size") result(ranks)
      import :: c_ptr, c_int
      type(c_ptr), value :: team
      integer(c_int) :: ranks
    end function
    function c_team_barrier(team) bind(c, name="penstock_team_barrier") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: team
      integer(c_int) :: status
    end function
    subroutine c_options_init(options, struct_size) bind(c, name="penstock_fft_options_init")
      import :: c_options, c_size_t
      type(c_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end subroutine
    function c_plan_create(team, options, plan) bind(c, name="penstock_fft_plan_create") result(status)
      import :: c_ptr, c_int, c_options
      type(c_ptr), value :: team
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function
    function c_plan_destroy(plan) bind(c, name="penstock_fft_plan_destroy") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: plan
      integer(c_int) :: status
    end function
    function c_input_part(plan) bind(c, name="penstock_fft_input_part") result(part)
      import :: c_ptr, c_part
      type(c_ptr), value :: plan
      type(c_part) :: part
    end function
    function c_output_part(plan) bind(c, name="penstock_fft_output_part") result(part)
      import :: c_ptr, c_part
      type(c_ptr), value :: plan
      type(c_part) :: part
    end function
    function c_input_elements(plan) bind(c, name="penstock_fft_input_elements") result(elements)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: plan
      integer(c_int64_t) :: elements
    end function
    function c_output_elements(plan) bind(c, name="penstock_fft_output_elements") result(elements)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: plan
      integer(c_int64_t) :: elements
    end function
    function c_input_stride(plan) bind(c, name="penstock_fft_input_stride") result(elements)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: plan
      integer(c_int64_t) :: elements
    end function
    function c_output_stride(plan) bind(c, name="penstock_fft_output_stride") result(elements)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: plan
      integer(c_int64_t) :: elements
    end function
    function c_forward(plan, in, out, scaling) bind(c, name="penstock_fft_forward") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: plan
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int), value :: scaling
      integer(c_int) :: status
    end function
    function c_backward(plan, in, out, scaling) bind(c, name="penstock_fft_backward") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: plan
      type(*), intent(in) :: in(*)
      type(*), intent(inout) :: out(*)
      integer(c_int), value :: scaling
      integer(c_int) :: status
    end function
    subroutine c_file_options_init(options, struct_size) bind(c, name="penstock_fft_file_options_init")
      import :: c_file_options, c_size_t
      type(c_file_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end subroutine
    function c_file(team, input, output, options) bind(c, name="penstock_fft_file") result(status)
      import :: c_ptr, c_int, c_char, c_file_options
      type(c_ptr), value :: team
      character(kind=c_char), intent(in) :: input(*)
      character(kind=c_char), intent(in) :: output(*)
      type(c_file_options), intent(in) :: options
      integer(c_int) :: status
    end function
    subroutine c_matrix_options_init(options, struct_size) bind(c, name="penstock_matrix_options_init")
      import :: c_matrix_options, c_size_t
      type(c_matrix_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end subroutine
    function c_matrix_create(team, options, matrix) bind(c, name="penstock_matrix_create") result(status)
      import :: c_ptr, c_int, c_matrix_options
      type(c_ptr), value :: team
      type(c_matrix_options), intent(in) :: options
      type(c_ptr), intent(out) :: matrix
      integer(c_int) :: status
    end function
    function c_matrix_destroy(matrix) bind(c, name="penstock_matrix_destroy") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: matrix
      integer(c_int) :: status
    end function
    function c_matrix_local(matrix) bind(c, name="penstock_matrix_local") result(elements)
      import :: c_ptr
      type(c_ptr), value :: matrix
      type(c_ptr) :: elements
    end function
    function c_matrix_local_extent(matrix, dimension) bind(c, name="penstock_matrix_local_extent") result(extent)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: matrix
      integer(c_int), value :: dimension
      integer(c_int64_t) :: extent
    end function
    function c_matrix_index(matrix, dimension, position) bind(c, name="penstock_matrix_index") result(index)
      import :: c_ptr, c_int, c_int64_t
      type(c_ptr), value :: matrix
      integer(c_int), value :: dimension
      integer(c_int64_t), value :: position
      integer(c_int64_t) :: index
    end function
    subroutine c_gemm_options_init(options, struct_size) bind(c, name="penstock_gemm_options_init")
      import :: c_gemm_options, c_size_t
      type(c_gemm_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end subroutine
    function c_gemm(team, a, b, c, options) bind(c, name="penstock_gemm") result(status)
      import :: c_ptr, c_int, c_gemm_options
      type(c_ptr), value :: team, a, b, c
      type(c_gemm_options), intent(in) :: options
      integer(c_int) :: status
    end function
    subroutine c_gemm_file_options_init(options, struct_size) bind(c, name="penstock_gemm_file_options_init")
      import :: c_gemm_file_options, c_size_t
      type(c_gemm_file_options), intent(out) :: options
      integer(c_size_t), value :: struct_size
    end subroutine
    function c_gemm_file(a, b, c, options) bind(c, name="penstock_gemm_file") result(status)
      import :: c_int, c_char, c_gemm_file_options
      character(kind=c_char), intent(in) :: a(*), b(*), c(*)
      type(c_gemm_file_options), intent(in) :: options
      integer(c_int) :: status
    end function
  end interface

contains

  ! The sentence of this thread's last call that failed.
  function penstock_error() result(sentence)
    character(:), allocatable :: sentence
    type(c_ptr) :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    text = c_last_error()
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate (character(size(letters)) :: sentence)
    do i = 1, size(letters)
      sentence(i:i) = letters(i)
    end do
  end function

  subroutine settle(found, status)
    integer(c_int), intent(in) :: found
    integer, intent(out), optional :: status
    if (present(status)) then
      status = found
    else if (found /= 0) then
      write (error_unit, '(2a)') "penstock: ", penstock_error()
      stop 1, quiet=.true.
    end if
  end subroutine

  pure function part_extents(part) result(extents)
    class(penstock_part), intent(in) :: part
    integer(c_int64_t) :: extents(3)
    extents = part%upper(part%order) - part%lower(part%order) + 1
  end function

  subroutine team_alone(team, status)
    class(penstock_team), intent(inout) :: team
    integer, intent(out), optional :: status
    call settle(c_team_alone(team%handle), status)
  end subroutine

  subroutine team_of(team, comm, status)
    class(penstock_team), intent(inout) :: team
    integer, intent(in) :: comm
    integer, intent(out), optional :: status
    call settle(c_team_of_fortran(int(comm, c_int), team%handle), status)
  end subroutine

  integer function team_rank(team)
    class(penstock_team), intent(in) :: team
    team_rank = c_team_rank(team%handle)
  end function

  integer function team_size(team)
    class(penstock_team), intent(in) :: team
    team_size = c_team_size(team%handle)
  end function

  subroutine team_barrier(team, status)
    class(penstock_team), intent(in) :: team
    integer, intent(out), optional :: status
    call settle(c_team_barrier(team%handle), status)
  end subroutine

  subroutine team_destroy(team, status)
    class(penstock_team), intent(inout) :: team
    integer, intent(out), optional :: status
    call settle(c_team_destroy(team%handle), status)
    team%handle = c_null_ptr
  end subroutine

  function to_c(part) result(result_part)
    type(penstock_part), intent(in) :: part
    type(c_part) :: result_part
    result_part%lower = part%lower - 1
    result_part%extent = part%upper - part%lower + 1
    result_part%order = int(part%order(3:1:-1) - 1, c_int)
    result_part%row_pitch = 0
    result_part%plane_pitch = 0
  end function

  function from_c(part) result(result_part)
    type(c_part), intent(in) :: part
    type(penstock_part) :: result_part
    result_part%lower = part%lower + 1
    result_part%upper = part%lower + part%extent
    result_part%order = part%order(3:1:-1) + 1
  end function

  subroutine plan_create(plan, team, options, status)
    class(penstock_plan), intent(inout) :: plan
    class(penstock_team), intent(in) :: team
    type(penstock_options), intent(in) :: options
    integer, intent(out), optional :: status
    type(c_options) :: c
    type(c_part), target :: input, output
    call c_options_init(c, c_sizeof(c))
    c%points = options%points
    c%kind_of_fields = int(options%kind_of_fields, c_int)
    c%is_single = merge(1_c_int, 0_c_int, options%single_precision)
    c%kinds = int(options%kinds, c_int)
    c%along = merge(1_c_int, 0_c_int, options%along)
    c%is_output_as_input = merge(1_c_int, 0_c_int, options%output_as_input)
    c%threads = int(options%threads, c_int)
    c%batch = int(options%fields, c_int)
    c%measures = merge(1_c_int, 0_c_int, options%measures)
    if (options%has_parts) then
      input = to_c(options%input)
      output = to_c(options%output)
      c%input_part = c_loc(input)
      c%output_part = c_loc(output)
    end if
    call settle(c_plan_create(team%handle, c, plan%handle), status)
  end subroutine

  function plan_input(plan) result(part)
    class(penstock_plan), intent(in) :: plan
    type(penstock_part) :: part
    part = from_c(c_input_part(plan%handle))
  end function

  function plan_output(plan) result(part)
    class(penstock_plan), intent(in) :: plan
    type(penstock_part) :: part
    part = from_c(c_output_part(plan%handle))
  end function

  integer(c_int64_t) function plan_input_elements(plan)
    class(penstock_plan), intent(in) :: plan
    plan_input_elements = c_input_elements(plan%handle)
  end function

  integer(c_int64_t) function plan_output_elements(plan)
    class(penstock_plan), intent(in) :: plan
    plan_output_elements = c_output_elements(plan%handle)
  end function

  integer(c_int64_t) function plan_input_stride(plan)
    class(penstock_plan), intent(in) :: plan
    plan_input_stride = c_input_stride(plan%handle)
  end function

  integer(c_int64_t) function plan_output_stride(plan)
    class(penstock_plan), intent(in) :: plan
    plan_output_stride = c_output_stride(plan%handle)
  end function

  ! `in` and `out` are contiguous arrays of the plan's numbers, the same one or different ones, of as many as
  ! input_elements and output_elements tell. Of several fields each begins a stride behind the one before.
  subroutine plan_forward(plan, in, out, scaling, status)
    class(penstock_plan), intent(in) :: plan
    type(*), intent(in) :: in(*)
    type(*), intent(inout) :: out(*)
    integer, intent(in), optional :: scaling
    integer, intent(out), optional :: status
    integer(c_int) :: factor
    factor = penstock_no_scaling
    if (present(scaling)) factor = int(scaling, c_int)
    call settle(c_forward(plan%handle, in, out, factor), status)
  end subroutine

  subroutine plan_backward(plan, in, out, scaling, status)
    class(penstock_plan), intent(in) :: plan
    type(*), intent(in) :: in(*)
    type(*), intent(inout) :: out(*)
    integer, intent(in), optional :: scaling
    integer, intent(out), optional :: status
    integer(c_int) :: factor
    factor = penstock_no_scaling
    if (present(scaling)) factor = int(scaling, c_int)
    call settle(c_backward(plan%handle, in, out, factor), status)
  end subroutine

  subroutine plan_destroy(plan, status)
    class(penstock_plan), intent(inout) :: plan
    integer, intent(out), optional :: status
    call settle(c_plan_destroy(plan%handle), status)
    plan%handle = c_null_ptr
  end subroutine

  ! Collective: transforms the field in the file `input` into the file `output`, also larger than memory; see
  ! penstock.h.
  subroutine penstock_transform_file(team, input, output, kind_of_fields, backward, points_x, scaling, status)
    class(penstock_team), intent(in) :: team
    character(*), intent(in) :: input, output
    integer, intent(in), optional :: kind_of_fields
    logical, intent(in), optional :: backward
    integer(c_int64_t), intent(in), optional :: points_x  ! of a real output; else the even number of its spectrum
    integer, intent(in), optional :: scaling
    integer, intent(out), optional :: status
    type(c_file_options) :: c
    call c_file_options_init(c, c_sizeof(c))
    if (present(kind_of_fields)) c%kind_of_fields = int(kind_of_fields, c_int)
    if (present(backward)) c%is_backward = merge(1_c_int, 0_c_int, backward)
    if (present(points_x)) c%points_x = points_x
    if (present(scaling)) c%scaling = int(scaling, c_int)
    call settle(c_file(team%handle, trim(input)//c_null_char, trim(output)//c_null_char, c), status)
  end subroutine

  ! Blocks are the rows and columns of what is dealt out to the ranks in turn; without them one block a rank.
  subroutine matrix_create(matrix, team, rows, columns, kind_of_elements, blocks, status)
    class(penstock_matrix), intent(inout) :: matrix
    class(penstock_team), intent(in) :: team
    integer(c_int64_t), intent(in) :: rows, columns
    integer, intent(in), optional :: kind_of_elements  ! else penstock_float64
    integer(c_int64_t), intent(in), optional :: blocks(2)
    integer, intent(out), optional :: status
    type(c_matrix_options) :: c
    call c_matrix_options_init(c, c_sizeof(c))
    ! The library has rows contiguous: what it knows is the transposed matrix.
    c%extents = [columns, rows]
    if (present(kind_of_elements)) c%kind_of_elements = int(kind_of_elements, c_int)
    if (present(blocks)) c%blocks = blocks(2:1:-1)
    matrix%team = team%handle
    matrix%kind_of_elements = c%kind_of_elements
    call settle(c_matrix_create(team%handle, c, matrix%handle), status)
  end subroutine

  ! The transposed product: C' = op(B)' op(A)'.
  subroutine matrix_multiply(matrix, a, b, options, status)
    class(penstock_matrix), intent(inout) :: matrix
    class(penstock_matrix), intent(in) :: a, b
    type(penstock_multiply_options), intent(in), optional :: options
    integer, intent(out), optional :: status
    type(c_gemm_options) :: c
    call c_gemm_options_init(c, c_sizeof(c))
    if (present(options)) then
      c%op_a = int(options%op_b, c_int)
      c%op_b = int(options%op_a, c_int)
      c%alpha = options%alpha
      c%beta = options%beta
      c%threads = int(options%threads, c_int)
      c%memory_bytes = options%memory_bytes
    end if
    call settle(c_gemm(matrix%team, b%handle, a%handle, matrix%handle, c), status)
  end subroutine

  integer(c_int64_t) function matrix_row(matrix, i)
    class(penstock_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i
    matrix_row = c_matrix_index(matrix%handle, 1_c_int, i - 1) + 1
  end function

  integer(c_int64_t) function matrix_column(matrix, i)
    class(penstock_matrix), intent(in) :: matrix
    integer(c_int64_t), intent(in) :: i
    matrix_column = c_matrix_index(matrix%handle, 0_c_int, i - 1) + 1
  end function

  function local_extents(matrix) result(extents)
    class(penstock_matrix), intent(in) :: matrix
    integer(c_int64_t) :: extents(2)
    extents = [c_matrix_local_extent(matrix%handle, 1_c_int), c_matrix_local_extent(matrix%handle, 0_c_int)]
  end function

  subroutine local_float32(matrix, array)
    class(penstock_matrix), intent(in) :: matrix
    real(c_float), pointer, intent(out) :: array(:, :)
    nullify (array)
    if (matrix%kind_of_elements /= penstock_float32) return
    call c_f_pointer(c_matrix_local(matrix%handle), array, local_extents(matrix))
  end subroutine

  subroutine local_float64(matrix, array)
    class(penstock_matrix), intent(in) :: matrix
    real(c_double), pointer, intent(out) :: array(:, :)
    nullify (array)
    if (matrix%kind_of_elements /= penstock_float64) return
    call c_f_pointer(c_matrix_local(matrix%handle), array, local_extents(matrix))
  end subroutine

  subroutine local_complex64(matrix, array)
    class(penstock_matrix), intent(in) :: matrix
    complex(c_float_complex), pointer, intent(out) :: array(:, :)
    nullify (array)
    if (matrix%kind_of_elements /= penstock_complex64) return
    call c_f_pointer(c_matrix_local(matrix%handle), array, local_extents(matrix))
  end subroutine

  subroutine local_complex128(matrix, array)
    class(penstock_matrix), intent(in) :: matrix
    complex(c_double_complex), pointer, intent(out) :: array(:, :)
    nullify (array)
    if (matrix%kind_of_elements /= penstock_complex128) return
    call c_f_pointer(c_matrix_local(matrix%handle), array, local_extents(matrix))
  end subroutine

  subroutine matrix_destroy(matrix, status)
    class(penstock_matrix), intent(inout) :: matrix
    integer, intent(out), optional :: status
    call settle(c_matrix_destroy(matrix%handle), status)
    matrix%handle = c_null_ptr
  end subroutine

  ! C = alpha op(A) op(B) + beta C of matrices in .npy files, also larger than memory, by this process alone; see
  ! penstock.h.
  subroutine penstock_multiply_files(a, b, c, options, status)
    character(*), intent(in) :: a, b, c
    type(penstock_multiply_options), intent(in), optional :: options
    integer, intent(out), optional :: status
    type(c_gemm_file_options) :: how
    call c_gemm_file_options_init(how, c_sizeof(how))
    if (present(options)) then
      how%op_a = int(options%op_a, c_int)
      how%op_b = int(options%op_b, c_int)
      how%alpha = options%alpha
      how%beta = options%beta
      how%threads = int(options%threads, c_int)
      how%memory_bytes = options%memory_bytes
    end if
    call settle(c_gemm_file(trim(a)//c_null_char, trim(b)//c_null_char, trim(c)//c_null_char, how), status)
  end subroutine

end module
