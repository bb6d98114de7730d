# SPDX-License-Identifier: BSD-3-Clause
"""Runs cells of the matrix of mpi4py's suite and keeps what came of them: see runs.py.

    python -m progress_engine.tests.third_party.matrix --mpi mpich,openmpi --ranks 2 --variant adaptive,idle

The suite goes in parts (--parts), each with its own time limit; the engine is built where it is not. The status is 1 if
something was not as without the engine. A bare run of the same day comes first. Parts that ended are kept in .bench for
the day, and a cell that came out the same today is not run again: a run that stopped (--stop-after) goes on where it
was.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from dataclasses import dataclass, replace
from itertools import product

from harness.base.mpis import MPIS, Mpi
from harness.base.paths import STATE_DIR
from harness.setup import build
from progress_engine.tests.third_party.mpi4py_suite import TOUCHED, Outcome, compare, modules, only, run
from progress_engine.tests.third_party.runs import VARIANTS, Run, engine_commit, load, save, today

SUITES = {
    "all": "mpi4py 4.1.2, all of it",
    "some": "mpi4py 4.1.2, what the engine touches most",
    "serialized": "mpi4py 4.1.2, at MPI_THREAD_SERIALIZED, without test_rma.py",
}
# The suite asks for MPI_THREAD_MULTIPLE where nothing else is said.
ENVIRONMENTS = {"serialized": {"MPI4PY_RC_THREAD_LEVEL": "serialized"}}
TIME_LIMIT_STATUS = (124, 137)


@dataclass(frozen=True)
class Time:
    """Seconds for a part of the suite, and for all of this run."""

    part: float
    end: float

    def left(self) -> float:
        """For the next part."""
        left = self.end - time.monotonic()
        if left < 15:
            raise SystemExit("out of time: what is missing goes on with the next run")
        return min(self.part, left)

    def used_up(self, outcome: Outcome) -> bool:
        """True if it was ended by the part's own limit."""
        if outcome.status in TIME_LIMIT_STATUS:
            self.left()
        return outcome.status in TIME_LIMIT_STATUS


@dataclass(frozen=True)
class Suite:
    """What runs: `files`, a key of SUITES. The parts are of every n-th file: alike in what they take."""

    files: str
    parts: int

    def part(self, number: int) -> list[str]:
        files = sorted(TOUCHED) if self.files == "some" else modules()
        if self.files == "serialized":
            files.remove("test_rma.py")
        return files[number :: self.parts]

    @property
    def environment(self) -> dict[str, str]:
        return ENVIRONMENTS.get(self.files, {})


def in_parts(mpi: Mpi, ranks: int, variant: str, suite: Suite, limit: Time) -> Outcome:
    whole = Outcome(0)
    for part in range(suite.parts):
        whole += kept_part(mpi, ranks, variant, suite, part, limit)
    return whole


def kept_part(mpi: Mpi, ranks: int, variant: str, suite: Suite, part: int, limit: Time) -> Outcome:
    """One part, made today with this engine if it came to its end before; so that an interrupted run can go on."""
    words = (
        today(),
        engine_commit() if variant != "bare" else "",
        mpi.name,
        ranks,
        variant,
        suite.files,
        part,
        suite.parts,
    )
    kept = STATE_DIR / "third_party" / ("-".join(map(str, words)) + ".pickle")
    if kept.exists():
        outcome: Outcome = pickle.loads(kept.read_bytes())
        return outcome
    begin = time.monotonic()
    outcome = run(mpi, ranks, variant, only(suite.part(part)), limit.left(), suite.environment)
    outcome = replace(outcome, seconds=time.monotonic() - begin)
    if outcome.tests and not limit.used_up(outcome):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(outcome))
    return outcome


def bare(mpi: Mpi, ranks: int, suite: Suite, limit: Time) -> Outcome:
    outcome = in_parts(mpi, ranks, "bare", suite, limit)
    if outcome.status in TIME_LIMIT_STATUS:
        raise SystemExit(f"{mpi.title}, {ranks} ranks: the bare suite did not end: {unfinished(outcome)}")
    if {rank for rank, _ in outcome.tests} != set(range(ranks)):
        raise SystemExit(f"{mpi.title}, {ranks} ranks: not every rank ran a test: {outcome.output[-500:]}")
    save(as_run(mpi, ranks, "bare", suite, outcome, "ended"))
    return outcome


def unfinished(outcome: Outcome) -> str:
    return ", ".join(sorted({test for (_, test), status in outcome.tests.items() if status == "never ended"}))


def as_run(mpi: Mpi, ranks: int, variant: str, suite: Suite, outcome: Outcome, result: str, flaky: int = 0) -> Run:
    counts = {status: outcome.count(status) for status in ("passed", "failed", "skipped")}
    engine, seconds = engine_commit() if variant != "bare" else "", round(outcome.seconds)
    name = SUITES[suite.files]
    return Run(today(), engine, name, mpi.name, ranks, variant, result, **counts, flaky=flaky, seconds=seconds)


def cell(mpi: Mpi, ranks: int, variant: str, suite: Suite, limit: Time) -> Run:
    before = bare(mpi, ranks, suite, limit)
    outcome = in_parts(mpi, ranks, variant, suite, limit)
    comparison = compare(mpi, ranks, variant, outcome, before, limit.left(), suite.environment)
    limit.left()
    words = [f"rank {rank}: {test}: {change}" for (rank, test), change in comparison.changed.items()]
    result = f"{len(words)} tests, the first: {'; '.join(words[:3])}" if words else "same"
    if outcome.status in TIME_LIMIT_STATUS and words:
        result = f"ended by its limit of {limit.part:.0f} s in {unfinished(outcome)}"
    return as_run(mpi, ranks, variant, suite, outcome, result, comparison.flaky)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default=",".join(MPIS))
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--variant", default=",".join(VARIANTS[1:]))
    parser.add_argument("--files", choices=SUITES, default="all")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="seconds a part")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds in all")
    options = parser.parse_args()
    for option, known in (("mpi", MPIS), ("ranks", ["1", "2", "4"]), ("variant", VARIANTS[1:])):
        for name in getattr(options, option).split(","):
            if name not in known:
                parser.error(f"--{option}: '{name}' is none of {', '.join(known)}.")
    suite = Suite(options.files, options.parts)
    limit = Time(options.limit, time.monotonic() + options.stop_after)
    done = {run.cell for run in load() if run.date == today() and run.result == "same"}
    names = options.mpi.split(","), map(int, options.ranks.split(",")), options.variant.split(",")
    different = 0
    for mpi, ranks, variant in product(*names):
        if (SUITES[suite.files], mpi, ranks, variant) in done:
            continue
        build.ensure(MPIS[mpi], "progress_engine/all")
        one = cell(MPIS[mpi], ranks, variant, suite, limit)
        save(one)
        print(f"{mpi}, {ranks} ranks, {variant}: {one.result}, {one.flaky} flaky, {one.seconds} s", flush=True)
        different += one.result != "same"
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
