! The Fortran module as a Fortran program calls it: mpirun -n 3 test_fortran_module. Stops with another status than 0
! where anything is wrong.
program test_module
  use, intrinsic :: iso_c_binding
  use mpi
  use penstock
  implicit none
  real(c_double), parameter :: pi = acos(-1.0_c_double)
  type(penstock_team) :: team
  integer :: failed, ierror
  logical :: is_right

  is_right = .true.
  call MPI_Init(ierror)
  call team%of(MPI_COMM_WORLD)
  call transform_a_wave(penstock_c2c, .false.)
  call transform_a_wave(penstock_r2c, .true.)
  call transform_two_fields()
  call refuse_what_cannot_be()
  call team%barrier()
  call team%destroy()
  call MPI_Finalize(ierror)
  if (.not. is_right) stop 1

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) then
      print '(a, i0, 2a)', "rank ", team%rank(), ": ", what
      is_right = .false.
    end if
  end subroutine

  ! exp(i (x + 2 y + 3 z)), or its real part: one mode, and back.
  subroutine transform_a_wave(kind_of_fields, as_input)
    integer, intent(in) :: kind_of_fields
    logical, intent(in) :: as_input
    type(penstock_options) :: options
    type(penstock_plan) :: plan
    type(penstock_part) :: in, out
    complex(c_double_complex), allocatable :: field(:, :, :), spectrum(:, :, :)
    real(c_double), allocatable :: real_field(:, :, :)
    complex(c_double_complex) :: wave, expected
    integer(c_int64_t) :: x, y, z, extents(3), mode(3), places(3)
    real(c_double) :: worst, phase

    options%points = [12, 10, 14]
    options%kind_of_fields = kind_of_fields
    options%output_as_input = as_input
    call plan%create(team, options)
    in = plan%input()
    out = plan%output()
    call expect(all(in%order == [1, 2, 3]), "x is contiguous")
    extents = in%extents()
    allocate (field(extents(1), extents(2), extents(3)))
    do z = in%lower(3), in%upper(3)
      do y = in%lower(2), in%upper(2)
        do x = in%lower(1), in%upper(1)
          phase = 2 * pi * ((x - 1) / 12.0_c_double + 2 * (y - 1) / 10.0_c_double + 3 * (z - 1) / 14.0_c_double)
          wave = cmplx(cos(phase), sin(phase), c_double_complex)
          field(x - in%lower(1) + 1, y - in%lower(2) + 1, z - in%lower(3) + 1) = wave
        end do
      end do
    end do
    real_field = real(field, c_double)
    extents = out%extents()
    allocate (spectrum(extents(1), extents(2), extents(3)))
    if (kind_of_fields == penstock_c2c) then
      call plan%forward(field, spectrum, penstock_full)
    else
      call plan%forward(real_field, spectrum, penstock_full)
    end if
    worst = 0
    do z = 1, extents(3)
      do y = 1, extents(2)
        do x = 1, extents(1)
          places = [x, y, z]
          mode(out%order) = places + out%lower(out%order) - 1
          expected = 0
          if (all(mode == [2, 3, 4])) expected = merge(1.0_c_double, 0.5_c_double, kind_of_fields == penstock_c2c)
          worst = max(worst, abs(spectrum(x, y, z) - expected))
        end do
      end do
    end do
    call expect(worst < 1e-14_c_double, "the spectrum of a wave")
    if (kind_of_fields == penstock_c2c) then
      call plan%backward(spectrum, field)
      if (size(field) > 0) call expect(maxval(abs(real(field) - real_field)) < 1e-13_c_double, "what comes back")
    else
      field = real_field
      call plan%backward(spectrum, real_field)
      if (size(field) > 0) call expect(maxval(abs(real(field) - real_field)) < 1e-13_c_double, "what comes back")
    end if
    call plan%destroy()
  end subroutine

  ! Constants: their means, each a stride behind the other.
  subroutine transform_two_fields()
    type(penstock_options) :: options
    type(penstock_plan) :: plan
    type(penstock_part) :: out
    real(c_double), allocatable :: fields(:)
    complex(c_double_complex), allocatable :: spectra(:)
    options%points = [12, 10, 14]
    options%kind_of_fields = penstock_r2c
    options%fields = 2
    call plan%create(team, options)
    allocate (fields(plan%input_elements()), spectra(plan%output_elements()))
    fields = 1
    if (size(fields) > 0) fields(plan%input_stride() + 1:) = 2
    call plan%forward(fields, spectra, penstock_full)
    out = plan%output()
    if (all(out%lower == 1) .and. all(out%upper > 0)) then
      call expect(abs(spectra(1) - 1) < 1e-14_c_double, "the mean of the first field")
      call expect(abs(spectra(plan%output_stride() + 1) - 2) < 1e-14_c_double, "the mean of the second")
    end if
    call plan%destroy()
  end subroutine

  subroutine refuse_what_cannot_be()
    type(penstock_options) :: options
    type(penstock_plan) :: plan
    integer :: status
    call plan%create(team, options, status)
    call expect(status /= 0, "a plan without points")
    call expect(index(penstock_error(), "0x0x0") > 0, "the points in the sentence")
    call penstock_transform_file(team, "/nowhere/in.npy", "/nowhere/out.npy", status=status)
    call expect(status /= 0, "a file that is not there")
  end subroutine

end program
