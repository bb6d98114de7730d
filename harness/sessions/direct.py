# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the sessions of a ReFrame that runs without ./bench: `python -m harness.sessions.direct new|join|end`.

On stdin is what is asked for, as reframe_checks.own_session says it, with all jobs of the session so far. `new` makes
the session and prints its path, `join` writes down that there is a job more, `end` how it ended. The session can then
be reported, compared and resumed like any other.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base import validate
from harness.base.errors import Failure, UsageError
from harness.job.program import Program
from harness.job.salvage import salvage
from harness.sessions import identity
from harness.sessions import session as sessions
from harness.sessions.request import Request, with_program
from harness.sessions.run import missing
from harness.sites import systems
from reframe_checks.catalogue import by_names
from spack_env import site_environment as spack

HINT = "reframe"


def request_of(asked: dict[str, Any], jobs: list[dict[str, Any]]) -> Request:
    """The same as ./bench would have been asked for it."""
    programs = {job["mpi"]: Path(job["programs"]) for job in jobs}
    program = validate.parse(Program, asked["program"], "program") if asked["program"] else None
    return Request(
        studies=with_program(by_names(list(dict.fromkeys(job["study"] for job in jobs))), program),
        system=systems.of_config(Path(asked["config"]), asked["system"], asked["partition"], programs),
        mpis=list(programs),
        variants=asked["variants"],
        scale=asked["scale"],
        settings=asked["settings"],
        seed=asked["seed"],
        nodes=asked["nodes"],
        slowdown=asked["slowdown"],
        mpi_environment=asked["mpi_environment"],
    )


def _facts(request: Request, jobs: list[dict[str, Any]]) -> dict[str, Any]:
    built = {job["mpi"]: job["spack"] for job in jobs if job["spack"]}
    return {
        **request.facts(),
        "identity": identity.of(request),
        "network": jobs[0]["network"],
        "spack": {"version": spack.version(), "environments": built} if built else None,
    }


def new(said: dict[str, Any], request: Request) -> None:
    """A session folder; its path on stdout."""
    facts = {"command": said["command"], **_facts(request, said["jobs"])}
    print(sessions.create(HINT, facts).path)


def join(said: dict[str, Any], request: Request) -> None:
    """A job more in the session."""
    session = sessions.load(said["session"])
    known = {**_facts(request, said["jobs"]), "mpis": sessions.mpi_facts(request.mpis)}
    session.facts = replace(session.facts, **known)
    session.save()


def end(said: dict[str, Any], request: Request) -> None:
    """Complete if every point of its jobs is measured, or known to be impossible here."""
    session = sessions.load(said["session"])
    salvage(session.folders)
    session.finish("incomplete" if missing(request, session) else "complete")


WHAT = {"new": new, "join": join, "end": end}


def main(arguments: list[str]) -> int:
    """The exit status; what is wrong is a sentence on stderr."""
    said = json.load(sys.stdin)
    try:
        WHAT[arguments[0]](said, request_of(said["asked"], said["jobs"]))
    except (UsageError, Failure, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
