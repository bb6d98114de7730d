# SPDX-License-Identifier: BSD-3-Clause
"""Short sessions of one program, one after the other, so that `compare` can be asked whether it stays silent:

    .venv/bin/python -m harness.sessions.same_again --pairs 300 [--mpi mpich,openmpi] [--variant bare]
    .venv/bin/python -m analysis.benchmarks.aa --use tested $(.venv/bin/python -m harness.sessions.same_again --list S)

The first session, S, is an ordinary one. The others do its work, as those of `./bench run --like` do, by the plans of
its jobs, but without ReFrame, whose start takes longer than their launches. Each has all MPIs, one after the other, so
that these have the same hours; six launches on each, the fewest with which both tests of `compare` can be significant
(of six against six 924 exchanges are different ones, of five against five 252, too few for half a per cent).

`--like S` goes on behind the sessions that S has already. One with a point that was not measured counts for nothing.
How many pairs there shall be is said before the first of them: who stops when the numbers look good shows nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.base.paths import ROOT, require_clone
from harness.base.steps import say
from harness.job.plan import Plan
from harness.sessions import run as runs
from harness.sessions import session as sessions
from harness.sessions.facts import State
from harness.sessions.request import Request, choose_mpis, choose_variants, from_facts
from harness.sessions.session import Session
from harness.sites import systems
from harness.sites.systems import Opened
from reframe_checks.catalogue import by_names

HINT = "same-again"
STUDY = "overlap-ratio"
SETTINGS = {
    "size_bytes": "262144,1048576",
    "comp_over_comm": "1",
    "pattern": "both",
    "launches": "6",
    "min_samples": "3",
    "max_samples": "4",
}
KEEP_PLANS = {"RFM_KEEP_STAGE_FILES": "yes"}
MOST_LOST = 3


def asked(mpis: str, variants: str) -> Request:
    """What every session runs, on the virtual cluster."""
    system = systems.by_name("vcluster")
    return Request(by_names([STUDY]), system, choose_mpis(mpis, system), choose_variants(variants), settings=SETTINGS)


def series(first: Session) -> list[Session]:
    """The complete sessions with the work of `first`, itself before them, in the order in which they were taken."""
    found = [sessions.load(name) for name in sessions.names() if f"-{HINT}" in name]
    return [one for one in found if _is_of(one, first) and one.facts.state == "complete"]


def _is_of(one: Session, first: Session) -> bool:
    """Whether it is another session of the same program as it is now: built anew it would be another."""
    return one.name == first.name or (one.facts.work_of == first.name and one.facts.identity == first.facts.identity)


def plans_of(first: Session) -> list[Plan]:
    """The plans of its jobs, in the order of its MPIs. Failure where ReFrame has not left them."""
    found = [Plan.load(path) for path in sorted((first.path / "reframe").rglob("plan.json"))]
    of = {plan.platform.mpi: plan for plan in found}
    if lacking := [mpi for mpi in first.facts.mpi_names if mpi not in of]:
        raise Failure(f"{first.path} has no plan of its job on {lacking[0]}: begin a new series, without --like.")
    return [of[mpi] for mpi in first.facts.mpi_names]


def take(request: Request, first: Session, opened: Opened) -> Session:
    """One session more, with the work of `first`."""
    session = runs.new_session(request, HINT, sys.argv[1:])
    runs.take_work(session, first)
    session.facts.network = opened.network
    with session.alone():
        state: State = "interrupted"
        try:
            for plan in plans_of(first):
                _job(replace(plan, session=session.name), session, opened)
            state = "incomplete" if runs.missing(request, session) else "complete"
        finally:
            session.finish(state)
    return session


def _job(plan: Plan, session: Session, opened: Opened) -> None:
    """What ReFrame would do: the runner with this plan on the login node."""
    mpi = MPIS[plan.platform.mpi]
    file = session.folders.scratch / f"{mpi.name}.plan.json"
    plan.save(file)
    job = opened.login([sys.executable, "-m", "harness.job.runner", str(file), str(session.path)])
    limit_s = plan.timeout_s() * (1 + len(plan.launches))
    log = session.folders.logs / f"{mpi.name}.job.log"
    process.run(job, {"PYTHONPATH": str(ROOT)} | mpi.environment("tcp"), log, limit_s)
    file.unlink()


def begin(request: Request) -> Session:
    """The first session: whole, with ReFrame, whose plans stay. Failure where a point of it was not measured."""
    os.environ.update(KEEP_PLANS)
    session = runs.new_session(request, HINT, sys.argv[1:])
    if not runs.run(request, session):
        raise Failure(f"The first session, {session.name}, lacks points: ./bench report {session.name} says why.")
    return session


def go_on(request: Request, first: Session, count: int) -> None:
    """Take sessions until there are `count`, the first among them. Failure where several in a row lack points."""
    have, lost = len(series(first)), 0
    with request.system.open(request.nodes) as opened:
        while have < count:
            began = time.monotonic()
            session = take(request, first, opened)
            good = session.facts.state == "complete"
            have, lost = have + good, 0 if good else lost + 1
            say(f"{have} of {count}: {session.name}, {session.facts.state}, {time.monotonic() - began:.1f} s")
            if lost == MOST_LOST:
                raise Failure(f"{lost} sessions in a row lack points: ./bench report {session.name} says why.")


def main(words: Sequence[str] | None = None) -> int:
    require_clone("A series of sessions")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=0, help="how many pairs of sessions there shall be")
    parser.add_argument("--mpi", default="mpich,openmpi")
    parser.add_argument("--variant", default="bare")
    parser.add_argument("--like", default="", metavar="SESSION", help="go on behind this first session")
    parser.add_argument("--list", default="", metavar="SESSION", help="the sessions behind this one, itself first")
    arguments = parser.parse_args(words)
    try:
        if arguments.list:
            print("\n".join(str(one.path) for one in series(sessions.load(arguments.list))))
            return 0
        first = sessions.load(arguments.like) if arguments.like else None
        request = from_facts(first.facts) if first else asked(arguments.mpi, arguments.variant)
        if arguments.pairs < 1:
            raise UsageError(f"--pairs {arguments.pairs}: how many pairs of sessions there shall be, 1 at least.")
        if reason := request.system.why_not():
            raise UsageError(reason)
        runs.set_up(request)
        with runs.measuring(request.system, HINT):
            first = first or begin(request)
            say(f"the first session is {first.name}: --like {first.name} goes on behind it")
            go_on(request, first, 2 * arguments.pairs)
    except (UsageError, Failure) as error:
        print(f"same_again: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
