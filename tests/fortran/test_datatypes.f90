! Messages of datatypes by Fortran's two modules of MPI, without libpenstock-mpi and with it: every element is where MPI's
! definition says.
module by_older_module
  use mpi
  implicit none
  integer, parameter :: rows = 300, columns = 4
contains
  logical function is_right()
    integer :: rank, ranks, next, previous, column, error, i
    integer :: requests(2)
    double precision :: matrix(columns, rows), received(rows), turned(columns, rows)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    next = mod(rank + 1, ranks)
    previous = mod(rank + ranks - 1, ranks)
    matrix = reshape([(dble(i + 10000 * rank), i = 1, columns * rows)], shape(matrix))
    turned = 0
    call MPI_Type_vector(rows, 1, columns, MPI_DOUBLE_PRECISION, column, error)
    call MPI_Type_commit(column, error)
    call MPI_Irecv(received, rows, MPI_DOUBLE_PRECISION, previous, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(matrix(2, 1), 1, column, next, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    is_right = all(received == [(dble(columns * (i - 1) + 2 + 10000 * previous), i = 1, rows)])
    call MPI_Sendrecv(matrix(3, 1), 1, column, next, 2, turned(1, 1), 1, column, previous, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
    is_right = is_right .and. all(turned(1, :) == [(dble(columns * (i - 1) + 3 + 10000 * previous), i = 1, rows)]) &
               .and. all(turned(2:, :) == 0)
    call MPI_Type_free(column, error)
  end function
end module

module by_newer_module
  use mpi_f08
  implicit none
  integer, parameter :: extent = 24
contains
  logical function is_right()
    integer :: rank, ranks, i, j
    integer, allocatable :: counts(:), places(:)
    type(MPI_Datatype), allocatable :: slabs(:), blocks(:)
    integer, allocatable :: source(:, :), destination(:, :)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    allocate (counts(ranks), places(ranks), slabs(ranks), blocks(ranks))
    allocate (source(ranks * extent, extent), destination(extent, ranks * extent))
    counts = 1
    places = 0
    do i = 1, ranks
      call MPI_Type_create_subarray(2, shape(source), [extent, extent], [(i - 1) * extent, 0], MPI_ORDER_FORTRAN, &
                                    MPI_INTEGER, slabs(i))
      call MPI_Type_create_subarray(2, shape(destination), [extent, extent], [0, (i - 1) * extent], &
                                    MPI_ORDER_FORTRAN, MPI_INTEGER, blocks(i))
      call MPI_Type_commit(slabs(i))
      call MPI_Type_commit(blocks(i))
    end do
    do j = 1, extent
      source(:, j) = [(1000 * (rank * extent + j) + i, i = 1, ranks * extent)]
    end do
    destination = 0
    call MPI_Alltoallw(source, counts, places, slabs, destination, counts, places, blocks, MPI_COMM_WORLD)
    is_right = .true.
    do j = 1, ranks * extent
      is_right = is_right .and. all(destination(:, j) == [(1000 * j + rank * extent + i, i = 1, extent)])
    end do
    do i = 1, ranks
      call MPI_Type_free(slabs(i))
      call MPI_Type_free(blocks(i))
    end do
  end function
end module

program test_datatypes
  use mpi
  use by_older_module, only: are_messages_right => is_right
  use by_newer_module, only: is_transposition_right => is_right
  implicit none
  logical :: is_right
  integer :: error
  call MPI_Init(error)
  is_right = are_messages_right()
  is_right = is_transposition_right() .and. is_right
  call MPI_Finalize(error)
  if (.not. is_right) error stop 'an element is elsewhere'
end program
