# SPDX-License-Identifier: BSD-3-Clause
"""Mends of how the preset `offload` makes the program's calls; more of them in mends_program.py."""

from __future__ import annotations

from .mend import Edit, Mend

PROCESS, FUNCTIONS = "src/offload/process.cpp", "src/offload/functions.json"
BY_CALLER = "return ult_adapter() ? CollectiveCalls::nonblocking : CollectiveCalls::by_caller;"

OFFLOAD = (
    Mend(
        "blocking collectives stay blocking",
        (
            Edit(
                PROCESS,
                "level_asked < MPI_THREAD_MULTIPLE) return CollectiveCalls::blocking;",
                "level_asked < MPI_THREAD_MULTIPLE) return CollectiveCalls::nonblocking;",
            ),
        ),
        "test_offload.py -k 'collectives_beside and mpich and not multiple'",
    ),
    Mend(
        "blocking collectives stay blocking at MPI_THREAD_MULTIPLE",
        (Edit(PROCESS, BY_CALLER, "return CollectiveCalls::nonblocking;"),),
        "test_offload.py -k 'collectives_beside and mpich and some-multiple'",
    ),
    Mend(
        "threads in collectives of several communicators do not wait for one another",
        (Edit(PROCESS, BY_CALLER, "return CollectiveCalls::blocking;"),),
        "test_offload.py -k 'sixty_four_threads_at_once and mpich'",
    ),
    Mend(
        "MPI_Sendrecv_replace under offload: source and tag of its status",
        (Edit(FUNCTIONS, '"MPI_Sendrecv_replace": "return replace(', '"MPI_Sendrecv_replaced": "return replace('),),
        "test_offload.py -k 'statuses and mpich'",
    ),
    Mend(
        "MPI_Sendrecv_replace under offload: MPI_ERROR of its status, as MPICH sets it",
        (Edit("src/offload/starts.hpp", "sets_error(SetsError::mpich_family)", "false"),),
        "test_offload.py -k 'statuses and mpich'",
    ),
    Mend(
        "offload: who borrows the communication thread's turn while that stands down does not wait for itself",
        (Edit("src/offload/communication_thread.hpp", "    if (stood_down()) [[unlikely]]\n      return false;\n"),),
        "engine_unit_tests:StandingDown.WhatItsSubmitter*",
    ),
    Mend(
        "offload: a null status of a receive from nobody",
        (Edit("src/offload/starts.hpp", "!is_wanted(status)", "status == MPI_STATUS_IGNORE"),),
        "test_offload.py -k 'null_status and mpich'",
    ),
    Mend(
        "offload: who fell asleep while the communication thread stood down is roused again",
        (Edit("src/offload/communication_thread.cpp", "    rouse_again();\n"),),
        "engine_unit_tests:StandingDown.WhoSleepsIsRoused*",
    ),
    Mend(
        "offload: the status of a receive from nobody",
        (
            Edit(
                "src/offload/starts.hpp",
                "  if (source != MPI_PROC_NULL || code",
                "  if (source == MPI_PROC_NULL || code",
            ),
        ),
        "test_offload.py -k 'statuses and debian-mpich'",
        mpi="debian-mpich",
    ),
    Mend(
        "offload: a probe is not cancelled, whatever the MPI leaves in its status",
        (Edit("src/offload/calls.cpp", "set_cancelled(status, 0);", "(void)set_cancelled;"),),
        "test_observed.py -k 'cancelled and mpich and not debian'",
    ),
    Mend(
        "offload: a test that came before a partitioned start is no reason to poll after it",
        (Edit("src/offload/table.cpp", "if (lacking > 0) take_test_in_vain();"),),
        "test_observed.py -k 'came_before_the_start'",
        "openmpi",
    ),
    Mend(
        "offload: a freed partitioned request leaves Open MPI's list by a poll that no other runs beside",
        (Edit("src/offload/starts.cpp", "if (proxy.partitions != 0) process().table.nudge();"),),
        "test_observed.py -k 'freed'",
        "openmpi",
    ),
)
