! SPDX-License-Identifier: BSD-3-Clause
! Overlap through mpif.h (-DMPIF_H), the module mpi (-DUSE_MPI) or mpi_f08 (-DMPI_F08): exchanges messages between
! two ranks while it computes. Prints, of rank 0, how many operations were started and the share of the communication
! that the computation hid (best times of several rounds).
program overlap
#if defined(USE_MPI)
  use mpi
#elif defined(MPI_F08)
  use mpi_f08
#endif
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer, parameter :: length = 1000000, rounds = 8
#if defined(MPI_F08)
  real(8), allocatable, asynchronous :: outgoing(:), incoming(:)
  type(MPI_Request) :: requests(2)
#else
  real(8), allocatable :: outgoing(:), incoming(:)
  integer :: requests(2)
#endif
  real(8) :: communication, computation, both, start, sink
  integer :: rank, peer, error, round, operations

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  allocate(outgoing(length), incoming(length))
  outgoing = rank
  operations = 0
  sink = 0
  call exchange()
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)

  communication = huge(communication)
  do round = 1, rounds
    start = begin()
    call exchange()
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    communication = min(communication, MPI_Wtime() - start)
  end do
  computation = 2 * communication
  both = huge(both)
  do round = 1, rounds
    start = begin()
    call exchange()
    call compute(computation)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    both = min(both, MPI_Wtime() - start)
  end do
  if (any(incoming /= peer)) call MPI_Abort(MPI_COMM_WORLD, 3, error)
  if (rank == 0) print '(a,i0,a,f8.3)', 'operations ', operations, ' hidden ', &
    1 - (both - computation) / communication
  call MPI_Finalize(error)

contains

  ! Both ranks begin together; the message after the barrier is none that the barrier still moves.
  function begin() result(time)
    real(8) :: time
    call MPI_Barrier(MPI_COMM_WORLD, error)
    time = MPI_Wtime()
  end function

  subroutine exchange()
    call MPI_Irecv(incoming, length, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(outgoing, length, MPI_DOUBLE_PRECISION, peer, 1, MPI_COMM_WORLD, requests(2), error)
    operations = operations + 2
  end subroutine

  subroutine compute(seconds)
    real(8), intent(in) :: seconds
    real(8) :: until
    until = MPI_Wtime() + seconds
    do while (MPI_Wtime() < until)
      sink = sink * 0.5d0 + 1
    end do
  end subroutine

end program
