! Transforms a wave forward and back on all ranks: mpirun -n 2 ./first_transform [points along x]
program first_transform
  use, intrinsic :: iso_c_binding
  use mpi
  use penstock
  implicit none
  type(penstock_team) :: team
  type(penstock_plan) :: plan
  type(penstock_options) :: options
  complex(c_double_complex), allocatable :: field(:), back(:), spectrum(:)
  character(20) :: argument
  integer :: i, ierror

  call MPI_Init(ierror)
  call team%of(MPI_COMM_WORLD)
  options%points = [96, 100, 90]
  call get_command_argument(1, argument)
  if (argument /= "") read (argument, *) options%points(1)
  call plan%create(team, options)  ! without a status, a failure ends the program with its sentence
  allocate (field(plan%input_elements()), back(plan%input_elements()), spectrum(plan%output_elements()))
  field = [(cmplx(sin(0.1d0 * i), 0, c_double_complex), i=1, size(field))]
  call plan%forward(field, spectrum)
  call plan%backward(spectrum, back, penstock_full)
  print '(2(a, i0), a, es7.1)', "rank ", team%rank(), ": ", size(field), " points, error ", maxval(abs(back - field))
  if (any(abs(back - field) > 1d-14)) error stop 1
  call plan%destroy()
  call team%destroy()
  call MPI_Finalize(ierror)
end program
