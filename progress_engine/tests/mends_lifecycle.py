# SPDX-License-Identifier: BSD-3-Clause
"""Mends of how MPI begins and ends, and of what is said at the end; more of them in mends_program.py."""

from __future__ import annotations

from .mend import Edit, Mend

LIFECYCLE = "src/mpi/lifecycle.cpp"
ADVICE = "src/telemetry/advice.cpp"

LIVES = (
    Mend(
        "a program that never calls MPI_Finalize gets its report at exit",
        (Edit("src/mpi/runtime.cpp", "  write_report();\n  status().report = false;", "  status().report = false;"),),
        "test_lifecycle.py -k never_ends_mpi",
    ),
    Mend(
        "sessions: the thread level stays as asked where no thread of the engine's polls",
        (Edit("src/mpi/sessions.cpp", "threads ? Origin::session : Origin::plain_session", "Origin::session"),),
        "test_lifecycle.py -k 'sessions_get_no and mpich'",
    ),
    Mend(
        "a world after a session that brought an engine without threads",
        (
            Edit(
                LIFECYCLE,
                "  if (!policy.points.threads()) return init_as_asked(below, argc, argv, asked, provided, plain);\n",
            ),
        ),
        "test_lifecycle.py -k 'sessions_get_no and mpich and explicit'",
    ),
    Mend(
        "a world after a session that is not fit for the engine's threads",
        (Edit(LIFECYCLE, "  if (enough) return code;\n", "  if (enough || !enough) return code;\n"),),
        "test_lifecycle.py -k 'sessions_get_no and mpich and adaptive'",
    ),
    Mend(
        "what a report says is there when static objects are destroyed",
        (
            Edit(
                "src/mpi/runtime.cpp",
                "  static auto* the_status = new Status;  // never destroyed: a report may be asked for at any time\n"
                "  return *the_status;",
                "  static Status the_status;\n  return the_status;",
            ),
        ),
        "test_lifecycle.py -k 'static_object and mpich'",
    ),
    Mend(
        "a report that is asked for while another thread ends MPI",
        (Edit("src/mpi/c_api.cpp", "to_json(make_report_if_possible())", "to_json(make_report())"),),
        "test_lifecycle.py -k 'while_another_thread_ends and mpich'",
    ),
    Mend(
        "MPI_Abort under offload: the communication thread is quiet",
        (Edit("src/mpi/runtime.cpp", " offload->pause(exit_timeout);\n  deactivate", " (void)offload;\n  deactivate"),),
        "test_hazards.py -k nothing_is_tested_beside",
    ),
    Mend(
        "a fork while a thread of the engine's holds the table of fabrics",
        (
            Edit(
                "src/platform/fork_mutex.cpp",
                "pthread_atfork(before_fork, after_fork, after_fork);",
                "static_cast<void>(before_fork), static_cast<void>(after_fork);",
            ),
        ),
        "engine_unit_tests:FabricsOfAForkedProcess.*",
    ),
    Mend(
        "an engine of another ABI is refused",
        (Edit(LIFECYCLE, "  if (policy && !foreign.empty()) {", "  if (policy && foreign.size() == 1) {"),),
        "test_lifecycle.py -k name_says_nothing",
    ),
    Mend(
        "the program's crash handler in a call that was handed over",
        (Edit("src/platform/scheduling.hpp", "sigdelset(&blocked, own);", "(void)own;"),),
        "engine_unit_tests:CommunicationThreadTest.BlocksSignals*",
    ),
    Mend(
        "advice: leave it off where nothing was pending while the program computed",
        (Edit(ADVICE, "  if (!computes_beside) return", "  if (!facts.active) return"),),
        "engine_unit_tests:Advice.LeavesItOff*",
    ),
    Mend(
        "advice: leave it off where the program starts nothing",
        (Edit(ADVICE, "  if (facts.tracked == 0) return", "  if (!facts.active) return"),),
        "engine_unit_tests:Advice.LeavesItOff*",
    ),
    Mend(
        "advice: an MPI that progresses by itself",
        (Edit(ADVICE, '  if (moved_nothing)\n    return "its polls', '  if (!facts.active)\n    return "its polls'),),
        "engine_unit_tests:Advice.SeesAnMpi*",
    ),
    Mend(
        "advice: a setting where the timer alone wakes",
        (
            Edit(
                ADVICE,
                "facts.wakes >= enough_wakes && facts.announced == 0",
                "facts.wakes < enough_wakes && facts.announced == 0",
            ),
        ),
        "engine_unit_tests:Advice.NamesTheSetting",
    ),
)
