# SPDX-License-Identifier: BSD-3-Clause
"""Mends of how MPI begins and ends; more of them in mends_program.py."""

from __future__ import annotations

from .mend import Edit, Mend

LIFECYCLE = "src/mpi/lifecycle.cpp"

LIVES = (
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
)
