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
  call multiply_matrices(penstock_no_op, penstock_transpose)
  call multiply_matrices(penstock_conjugate_transpose, penstock_no_op)
  if (team%rank() == 0) call multiply_files()
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

  ! The element of a matrix of small whole numbers, whose products are exact.
  pure complex(c_double_complex) function element(seed, row, column)
    integer, intent(in) :: seed
    integer(c_int64_t), intent(in) :: row, column
    element = cmplx(mod(row * 7 + column * 3 + seed, 11_c_int64_t) - 5, mod(row + column * seed, 5_c_int64_t) - 2, &
                    c_double_complex)
  end function

  subroutine fill(matrix, seed, rows, columns, blocks)
    type(penstock_matrix), intent(inout) :: matrix
    integer, intent(in) :: seed
    integer(c_int64_t), intent(in) :: rows, columns, blocks(2)
    complex(c_double_complex), pointer :: elements(:, :)
    real(c_double), pointer :: others(:, :)
    integer(c_int64_t) :: i, j
    call matrix%create(team, rows, columns, penstock_complex128, blocks)
    call matrix%local(elements)
    do j = 1, size(elements, 2)
      do i = 1, size(elements, 1)
        elements(i, j) = element(seed, matrix%row(i), matrix%column(j))
      end do
    end do
    call matrix%local(others)
    call expect(.not. associated(others), "elements of another kind")
    call expect(matrix%row(size(elements, 1) + 1_c_int64_t) == 0, "a row that is not here")
  end subroutine

  ! Beside Fortran's own matmul.
  subroutine multiply_matrices(op_a, op_b)
    integer, intent(in) :: op_a, op_b
    integer(c_int64_t), parameter :: m = 9, n = 8, k = 7
    type(penstock_matrix) :: a, b, c
    type(penstock_multiply_options) :: options
    complex(c_double_complex) :: whole_a(m, k), whole_b(k, n), expected(m, n)
    complex(c_double_complex), pointer :: found(:, :)
    integer(c_int64_t) :: i, j
    if (op_a == penstock_no_op) then
      call fill(a, 1, m, k, [2_c_int64_t, 3_c_int64_t])
    else
      call fill(a, 1, k, m, [2_c_int64_t, 3_c_int64_t])
    end if
    if (op_b == penstock_no_op) then
      call fill(b, 2, k, n, [0_c_int64_t, 0_c_int64_t])
    else
      call fill(b, 2, n, k, [0_c_int64_t, 0_c_int64_t])
    end if
    call fill(c, 3, m, n, [0_c_int64_t, 0_c_int64_t])
    options%op_a = op_a
    options%op_b = op_b
    options%alpha = (2, 1)
    options%beta = -1
    call c%multiply(a, b, options)
    do j = 1, k
      do i = 1, m
        whole_a(i, j) = element(1, i, j)
        if (op_a /= penstock_no_op) whole_a(i, j) = element(1, j, i)
        if (op_a == penstock_conjugate_transpose) whole_a(i, j) = conjg(whole_a(i, j))
      end do
      do i = 1, n
        whole_b(j, i) = element(2, j, i)
        if (op_b /= penstock_no_op) whole_b(j, i) = element(2, i, j)
      end do
    end do
    expected = (2, 1) * matmul(whole_a, whole_b)
    call c%local(found)
    do j = 1, size(found, 2)
      do i = 1, size(found, 1)
        call expect(found(i, j) == expected(c%row(i), c%column(j)) - element(3, c%row(i), c%column(j)), "a product")
      end do
    end do
    call a%destroy()
    call b%destroy()
    call c%destroy()
  end subroutine

  ! A square matrix of float64 in a .npy file of Fortran order.
  subroutine write_npy(path, elements)
    character(*), intent(in) :: path
    real(c_double), intent(in) :: elements(3, 3)
    character(118) :: header
    integer :: unit
    header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 3), }"
    header(118:118) = new_line('a')
    open (newunit=unit, file=path, access="stream", form="unformatted", status="replace")
    write (unit) char(147)//"NUMPY"//char(1)//char(0)//char(118)//char(0), header, elements
    close (unit)
  end subroutine

  subroutine multiply_files()
    type(penstock_multiply_options) :: options
    real(c_double) :: a(3, 3), b(3, 3), c(3, 3)
    integer :: i, unit
    character(1) :: run  ! tests of other numbers of ranks run meanwhile
    write (run, '(i0)') team%size()
    a = reshape([(real(i, c_double), i=1, 9)], [3, 3])
    b = reshape([(real(2 * i - 7, c_double), i=1, 9)], [3, 3])
    call write_npy("fortran_a"//run, a)
    call write_npy("fortran_b"//run, b)
    call write_npy("fortran_c"//run, a)
    options%op_a = penstock_transpose
    options%alpha = 2
    options%beta = 3
    options%memory_bytes = 67108864
    options%threads = 2
    call penstock_multiply_files("fortran_a"//run, "fortran_b"//run, "fortran_c"//run, options)
    open (newunit=unit, file="fortran_c"//run, access="stream", form="unformatted", status="old")
    read (unit, pos=129) c
    close (unit, status="delete")
    call expect(all(c == 2 * matmul(transpose(a), b) + 3 * a), "a product of files")
    open (newunit=unit, file="fortran_a"//run)
    close (unit, status="delete")
    open (newunit=unit, file="fortran_b"//run)
    close (unit, status="delete")
  end subroutine

  subroutine refuse_what_cannot_be()
    type(penstock_options) :: options
    type(penstock_plan) :: plan
    type(penstock_matrix) :: matrix
    integer :: status
    call plan%create(team, options, status)
    call expect(status /= 0, "a plan without points")
    call expect(index(penstock_error(), "0x0x0") > 0, "the points in the sentence")
    call penstock_transform_file(team, "/nowhere/in.npy", "/nowhere/out.npy", status=status)
    call expect(status /= 0, "a file that is not there")
    call penstock_multiply_files("/nowhere/a.npy", "/nowhere/b.npy", "/nowhere/c.npy", status=status)
    call expect(status /= 0 .and. index(penstock_error(), "/nowhere/a.npy") > 0, "a matrix that is not there")
    call matrix%create(team, -1_c_int64_t, 4_c_int64_t, status=status)
    call expect(status /= 0, "less than no rows")
    call matrix%multiply(matrix, matrix, status=status)
    call expect(status /= 0 .and. index(penstock_error(), "NULL") > 0, "a product of no matrices")
  end subroutine

end program
