! SPDX-License-Identifier: BSD-3-Clause
! Some sites of where.c in Fortran 2008.
module known
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: doubles = 524288, rounds = 5
  integer :: rank, other
  real(real64) :: computed = 0, waited = 0, whole = 0, late_by = 0, began, waits

contains

  function now() result(time)  ! of all processes of a machine
    real(real64) :: time
    integer(int64) :: count, rate
    call system_clock(count, rate)
    time = real(count, real64) / real(rate, real64)
  end function

  function delay() result(since)  ! how long this process was ready to run and did not, since it last asked
    real(real64) :: since, ran, waited_ns
    real(real64), save :: before = 0
    integer :: file
    open (newunit=file, file='/proc/self/schedstat', action='read')
    read (file, *) ran, waited_ns
    close (file)
    since = 1d-9 * waited_ns - before
    before = 1d-9 * waited_ns
  end function

  subroutine compute(seconds, operations)
    real(real64), intent(in) :: seconds
    integer, intent(in) :: operations
    real(real64) :: begin
    begin = now()
    do while (now() - begin < seconds)
    end do
    computed = computed + operations * (now() - begin)
  end subroutine

  subroutine end_waiting(operations, theirs)
    integer, intent(in) :: operations
    real(real64), intent(in) :: theirs
    real(real64) :: end
    end = now()
    waited = waited + end - waits
    whole = whole + operations * (end - began)
    late_by = late_by + max(0d0, min(theirs, end) - waits)
  end subroutine

  subroutine tell(name, line, count, parts)
    character(*), intent(in) :: name
    integer, intent(in) :: line, count, parts
    real(real64) :: delayed
    delayed = delay()
    if (line > 0) then
      print '(a,i0,5a,i0,a,i0,a,i0,5(a,f0.9))', 'site ', rank, ' ', name, ' ', name, ':', line, ' count ', count, &
        ' parts ', parts, ' computed ', computed, ' waited ', waited, ' whole ', whole, ' late ', late_by, ' delay ', &
        delayed
      flush (6)
    end if
    computed = 0; waited = 0; whole = 0; late_by = 0
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine

  subroutine exchange(outgoing, incoming)
    real(real64), asynchronous :: outgoing(:), incoming(:)
    type(MPI_Request) :: requests(2)
    integer :: round, line
    do round = 1, rounds
      began = now()
      call MPI_Irecv(incoming, doubles, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, requests(1)); line = __LINE__
      outgoing(1) = now()
      call MPI_Isend(outgoing, doubles, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, requests(2))
      call compute(0.02d0, 1)
      waits = now()
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call end_waiting(1, incoming(1))
    end do
    call tell('exchange', line, rounds, 2)
  end subroutine

  subroutine late(message)
    real(real64), asynchronous :: message(:)
    type(MPI_Request) :: request
    integer :: round, line
    line = 0
    do round = 1, rounds
      call MPI_Barrier(MPI_COMM_WORLD)
      if (rank == 0) then
        call compute(0.03d0, 1)
        message(1) = now()
        call MPI_Send(message, 1, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD)
        cycle
      end if
      began = now()
      call MPI_Irecv(message, 1, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, request); line = __LINE__
      call compute(0.01d0, 1)
      waits = now()
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call end_waiting(1, message(1))
    end do
    call tell('late', line, rounds, 1)
  end subroutine

  subroutine blocking(message)
    real(real64) :: message(:)
    integer :: round, line
    line = 0
    do round = 1, rounds
      call MPI_Barrier(MPI_COMM_WORLD)
      if (rank == 0) then
        call compute(0.02d0, 1)
        message(1) = now()
        call MPI_Send(message, 1, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD)
        cycle
      end if
      began = now()
      waits = now()
      call MPI_Recv(message, 1, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); line = __LINE__
      call end_waiting(1, message(1))
    end do
    call tell('blocking', line, rounds, 1)
  end subroutine

  subroutine collective()
    integer, asynchronous :: mine, total
    type(MPI_Request) :: request
    integer :: round, line
    mine = rank
    do round = 1, rounds
      call MPI_Barrier(MPI_COMM_WORLD)
      began = now()
      call MPI_Iallreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request); line = __LINE__
      call compute(merge(0.03d0, 0.01d0, rank == 0), 1)
      waits = now()
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call end_waiting(1, 0d0)
    end do
    call tell('collective', line, rounds, 1)
  end subroutine

  subroutine window(message)
    real(real64), asynchronous :: message(:)
    real(real64), asynchronous :: there(1024)
    type(MPI_Win) :: win
    integer :: round, line
    line = 0
    call MPI_Win_create(there, 8192_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    do round = 1, rounds
      if (rank == 0) then
        call MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win)
        began = now()
        call MPI_Put(message, 1024, MPI_DOUBLE_PRECISION, 1, 0_MPI_ADDRESS_KIND, 1024, MPI_DOUBLE_PRECISION, win)
        line = __LINE__ - 1
        call compute(0.01d0, 1)
        waits = now()
        call MPI_Win_unlock(1, win)
        call end_waiting(1, 0d0)
      end if
      call MPI_Barrier(MPI_COMM_WORLD)
    end do
    call tell('window', line, rounds, 1)
    call MPI_Win_free(win)
  end subroutine
end module

program where
  use known
  implicit none
  real(real64), allocatable, asynchronous :: outgoing(:), incoming(:)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  allocate(outgoing(doubles), incoming(doubles))
  outgoing = 0
  incoming = 0
  call exchange(outgoing, incoming)
  call late(outgoing)
  call blocking(outgoing)
  call collective()
  call window(outgoing)
  call MPI_Finalize()
end program
