# SPDX-License-Identifier: BSD-3-Clause
"""A study for each benchmark of each workload: only so does each have the ranks, nodes and threads that it takes, while
launches, records and verification are every study's.

Each launch pauses its engine in one of each two repetitions, in random order, and is compared with itself: what a
launch is slower by than the next, by its pages or its place, is in both. What that leaves out is what the engine costs
while it is paused. That is counted in instructions a call (`./bench engine-costs --part instructions`), and a few
benchmarks with many calls are launched under bare and under what is there without an engine that polls, too.

The table says at which point a benchmark is compared. One that is not in it and that another study runs is compared at
the first point of that one's test scale, so that a new study needs no row. `workloads/tests/test_tables.py` asks
the built programs for their benchmarks: none is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.variants import polls
from harness.job.plan import INTENTIONS
from reframe_checks import catalogue
from reframe_checks.catalogue import PRESETS, Grid, Scale, Study, Value, checks
from reframe_checks.studies.shared import DEFENSIBLE, MIB

LAUNCHES = 2 * DEFENSIBLE  # one look at half of them
STANDING = ("bare", "bare-multiple", "off")
MANY_CALLS = (("microbench", "latency"), ("microbench", "many-to-many"), ("minife", "solve"), ("npb", "cg"))
WORK = {"size_bytes": MIB, "work_units": 10_000}  # some ten milliseconds of computation
# What compares two ways of an engine has nothing to be held against without one.
# A suite's kernels are benchmarks of their own.
LEFT_OUT = {
    ("microbench", "node-pairs"): "it looks at nodes, and its messages are those of `latency`",
    ("ult", "waiting"): "it compares two ways of an engine that suspends user-level threads",
    ("npb", "suite"): "each of its kernels is compared by itself",
}


@dataclass(frozen=True)
class Workload:
    """A benchmark of a program with the point at which it is compared, of which what has a default may be left out.

    `nodes` and `own_threads`: as of a Study.
    """

    program: str
    benchmark: str
    point: Mapping[str, Value]
    nodes: int = 2
    own_threads: bool = False

    @property
    def words(self) -> str:
        return f"{self.program} {self.benchmark}"


def _npb(kernel: str) -> Workload:
    return Workload("npb", kernel, {"class": "S", "mode": "blocking"})


WORKLOADS = (
    Workload("himeno", "solve", {"grid": "S", "iterations": 10}),
    Workload("interference", "ping-pong", {"detection": "spin", "grid": "XS"}, own_threads=True),
    Workload("microbench", "collective-overlap", {"collective": "ireduce", **WORK}),
    Workload("microbench", "context-switches", {"pending": True, "size_bytes": 4 * MIB, "work_units": 10_000}),
    Workload("microbench", "host-overhead", {"size_bytes": MIB}),
    Workload("microbench", "latency", {"size_bytes": 1, "round_trips": 1000}),
    Workload("microbench", "many-to-many", {"pairs": 1}),
    Workload("microbench", "n-load", {"computing_threads": 1}),
    Workload("microbench", "one-to-many", {"receivers": 1}),
    Workload("microbench", "overlap", WORK),
    Workload("minife", "solve", {"nx": 32, "ny": 32, "nz": 32, "mode": "overlapped"}),
    Workload("minife_threads", "solve", {"nx": 32, "ny": 32, "nz": 32}),
    Workload("minighost", "exchange", WORK),
    Workload("minighost", "solve", {"nx": 64, "ny": 64, "nz": 64}),
    Workload("npb", "ep", {"class": "S"}),
    *map(_npb, ("is", "cg", "mg", "ft")),
    Workload("npb", "lu", {"class": "S"}),
    Workload("pencil_fft", "transform", {"nx": 64, "ny": 64, "nz": 64, "mode": "blocking"}),
    Workload("roofline", "peak", {"operation": "fma-single"}),
    # beyond every cache, and a thread that polls for messages may take bandwidth (bosilca in open-mpi/ompi#13074)
    Workload("roofline", "triad", {"megabytes": 0, "pending": 2}),
    Workload("tasks", "contention", {"queue": "submission", "submitters": 1}, nodes=1, own_threads=True),
    Workload("ult", "concurrent-latency", {"threads": 1}),
    Workload("ult", "overlap", {"mat_size": 1, "ults": 20}),
)


def _study(number: int, found: Study, point: Mapping[str, Value]) -> Study:
    """`found` as it is launched, at one point, with the engine and without."""
    grid: Grid = {name: (value,) for name, value in point.items()}
    beside = STANDING if found.workload[:2] in MANY_CALLS else ()
    return replace(
        found,
        name=f"harm-{'-'.join(found.workload)}",
        order=2000 + number,
        of_a_paper=False,
        title=f"Is {' '.join(found.workload)} slower with the engine?",
        group="harm",
        source="No paper's",
        parameters={},
        calibrate_points=False,
        on_off=True,
        look="analysis.enough",
        scales={
            "test": Scale(*(1, (grid,), 2, 4, 1, 0.1), variants=("adaptive",), point_s=0.3, mpis=("mpich",)),
            "quick": Scale(
                *(LAUNCHES, (grid,), 20, 1000, 2, 0.75),
                variants=tuple(filter(polls, PRESETS)),
                point_s=0.95,
                looks=(DEFENSIBLE,),
                beside=beside,
                more=dict.fromkeys(beside, DEFENSIBLE),
            ),
        },
    )


def _from_table(row: Workload) -> Study:
    program = (row.program, row.benchmark)
    return Study(row.words, "", "", "", program, {}, nodes=row.nodes, own_threads=row.own_threads)


def _others() -> Iterator[tuple[Study, dict[str, Value]]]:
    """What the studies of the other groups run and the table does not have, each with a point of it."""
    done: set[tuple[str, ...]] = {(row.program, row.benchmark) for row in WORKLOADS} | set(LEFT_OUT)
    for file in catalogue.files():
        for found in catalogue.of_file(file) if file != Path(__file__) else ():
            if found.workload and found.workload[:2] not in done:
                done.add(found.workload[:2])
                yield found, _fixed(found, found.scales["test"].points()[0])


def _fixed(found: Study, point: Mapping[str, Value]) -> dict[str, Value]:
    """The point with work of its own in place of an intention, and without what is a setting of the engine."""
    engine = {name for name, axis in found.parameters.items() if axis.engine}
    kept = {name: value for name, value in point.items() if name not in engine and name not in INTENTIONS}
    return kept | ({"work_units": WORK["work_units"]} if set(INTENTIONS) & set(point) else {})


STUDIES = tuple(
    _study(number, found, point)
    for number, (found, point) in enumerate([*((_from_table(row), row.point) for row in WORKLOADS), *_others()])
)

__getattr__ = checks(__name__, STUDIES)
