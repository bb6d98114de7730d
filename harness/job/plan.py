# SPDX-License-Identifier: BSD-3-Clause
"""The plan of one job: which launches, in which order, with which points. JSON between the check and the runner.

The unit is system x MPI x study. Variants alternate (metrics.md): each round runs every variant once, in an order
drawn anew from the plan's seed, so that no variant always follows the same other one.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.base import validate
from harness.base.variants import LIMIT, WITHOUT_ENGINE, with_settings
from harness.job.program import Program
from harness.job.read_back import Probe

Point = dict[str, Any]
CALIBRATIONS = 3  # launches of a calibration, of which the medians count
PLAN = "plan.json"  # in the scratch folder of a launch
INTENTIONS = ("comp_over_comm", "comp_s")  # become work_units by the session's calibration

# Before anything is known of a network: the time of a message is taken as that of 1 Gb/s.
ASSUMED_BYTES_PER_S = 125e6
ASSUMED_LATENCY_S = 5e-5
LAUNCH_OVERHEAD_S = 0.5  # 0.1 to 0.4 on two virtual nodes, as every run prints it
# A launch may take this many times its estimate, plus the grace: the slowest variants are twice as slow as bare.
TIMEOUT_FACTOR, TIMEOUT_GRACE_S = 6.0, 45.0
# A simulation takes its time by its ranks, however long what it simulates is: of the slowest collective at 1,024 ranks.
SIMULATED_RANK_S = 0.1


@dataclass(frozen=True)
class Side:
    """One of the things that a gate holds against each other: the engine of `progress_run` (empty: the system's own)
    under `variant`. `workload` and `points`: of a side that measures something else than the study, the check run;
    `options`: more of the workload's. `environment`: variables of its ranks. `mpi`: which it runs on, if not the job's
    (`platform`: the same with its launcher and programs, known once the job is made). `samples`: of each point, if not
    as many as the plan's sampler takes. `probes`: what its MPI is asked first, of variables that somebody chose."""

    __pydantic_config__ = validate.MODEL

    name: str
    variant: str
    progress_run: str = ""
    workload: list[str] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    options: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    mpi: str = ""
    platform: Platform | None = None
    samples: int = 0
    probes: list[Probe] = field(default_factory=list)


@dataclass(frozen=True)
class Block:
    """Rounds of the same sides, by their names."""

    __pydantic_config__ = validate.MODEL

    sides: list[str]
    rounds: int


@dataclass(frozen=True)
class Stop:
    """When no further round is needed. `look`: the command that is asked before the rounds in `looks`, with the
    session's folder and the study behind it; it ends with status 0 if so. No round begins after `minutes`."""

    __pydantic_config__ = validate.MODEL

    looks: list[int]
    look: list[str]
    minutes: float


@dataclass(frozen=True)
class Rounds:
    """Launches of sides by turns: each round has every side of its block once, in an order drawn anew.

    `around`: a side that is launched before and behind every round. `stop`: when they end before the last. `drop`: side
    -> the sides of which a launch that failed puts it out; None: nothing is put out, and where an MPI is not shown to
    take the variables of one side, none is launched. `grows`: blocks are added when those before have been run, and
    there may be many of them: each round is drawn by its own number.
    """

    __pydantic_config__ = validate.MODEL

    sides: list[Side]
    blocks: list[Block]
    around: Side | None = None
    stop: Stop | None = None
    drop: dict[str, list[str]] | None = None
    grows: bool = False

    def schedule(self, stem: str, seed: int) -> list[list[Launch]]:
        """The launches of each block; rounds are counted through."""
        sides, round_, order = {side.name: side for side in self.sides}, 0, 0
        drawn = random.Random(f"{stem} {seed}")
        found: list[list[Launch]] = []

        def add(side: Side) -> None:
            nonlocal order
            identity = f"{stem}.{order:04d}.{side.name}" if self.grows else f"{stem}.{order:03d}.{side.name}"
            found[-1].append(Launch(identity, side.variant, round_, order, side=side))
            order += 1

        for block in self.blocks:
            found.append([])
            for _ in range(block.rounds):
                if self.around:
                    add(self.around)
                here = random.Random(f"{stem} {seed} {round_}") if self.grows else drawn
                for name in here.sample(block.sides, len(block.sides)):
                    add(sides[name])
                round_ += 1
        if self.around and found:
            add(self.around)
        return found

    def last(self, stem: str, seed: int) -> list[Launch]:
        """The launches of the block that is to be run: those before are over, however they ended."""
        return [launch for block in self.schedule(stem, seed)[-1:] for launch in block]


@dataclass(frozen=True)
class Gate:
    """A comparison of sides that stops when enough is known: at most so many rounds and minutes.

    `looks`, `look`: see Stop. `base`, `new`: what was asked for, in the user's words, but for a commit's whole name.
    `on_off`: each launch pauses its engine by turns, so that it is compared with itself first.
    """

    __pydantic_config__ = validate.MODEL

    sides: list[Side]
    check_run: Side
    rounds: int
    minutes: float
    looks: list[int]
    look: list[str]
    margin: float
    base: str
    new: str
    on_off: bool = False

    def in_rounds(self) -> Rounds:
        """With the check run before and behind every round."""
        names = [side.name for side in self.sides]
        stop = Stop(self.looks, self.look, self.minutes)
        return Rounds(self.sides, [Block(names, self.rounds)], around=self.check_run, stop=stop)


@dataclass(frozen=True)
class Launch:
    """One run of the workload under one variant. `identity` names its record file.

    `fixed`: the points that it measures have these values, which are settings of the engine; `engine`: the same as the
    engine takes them, "idle_us=10". `own`: axes that no other variant's points have, with their values: each point is
    measured at all of them. An axis that the points have already keeps those with one of its values. `side`: of a gate.
    """

    __pydantic_config__ = validate.MODEL

    identity: str
    variant: str
    repetition: int
    order: int
    fixed: Point = field(default_factory=dict)
    engine: list[str] = field(default_factory=list)
    own: dict[str, list[Any]] = field(default_factory=dict)
    side: Side | None = None


@dataclass(frozen=True)
class Sweep:
    """Axes that are settings of the engine, and (values, the engine's own words) for each launch of a variant."""

    axes: list[str] = field(default_factory=list)
    values: list[tuple[Point, list[str]]] = field(default_factory=lambda: [({}, [])])


def points_of(points: Sequence[Point], launch: Launch, axes: Sequence[str]) -> list[Point]:
    """The points that a launch measures: a setting of the engine is none of the points of a launch without one."""
    if launch.side and launch.side.points:
        return list(launch.side.points)
    if launch.fixed:
        return [p for p in points if all(p.get(name) == value for name, value in launch.fixed.items())]
    kept = [{name: value for name, value in point.items() if name not in axes} for point in points]
    unique = [point for index, point in enumerate(kept) if point not in kept[:index]]
    own = [dict(zip(launch.own, values, strict=True)) for values in itertools.product(*launch.own.values())]
    return [point | more for point in unique for more in own if all(point.get(n, v) == v for n, v in more.items())]


@dataclass(frozen=True)
class Sampler:
    """How often the workload repeats a point in one launch."""

    __pydantic_config__ = validate.MODEL

    min_samples: int
    max_samples: int
    warmup: int
    time_box_s: float

    def options(self) -> list[str]:
        return [
            f"--{name.replace('_', '-')}={value:g}"
            if isinstance(value, float)
            else f"--{name.replace('_', '-')}={value}"
            for name, value in asdict(self).items()
        ]


@dataclass(frozen=True)
class Platform:
    """What the job has to know of the system it runs on, copied from the system file's partition and environment."""

    __pydantic_config__ = validate.MODEL

    system: str  # ReFrame's system:partition
    mpi: str
    library: str  # a word that MPI_Get_library_version must contain
    launch_command: list[str]  # the launcher with its options, up to the program
    tasks: int  # 0, as of nodes: a launcher of the user's own decides
    nodes: int
    progress_run: str
    async_progress: dict[str, str] = field(default_factory=dict)
    network: str = ""
    network_measured: dict[str, float] = field(default_factory=dict)  # see Cluster.measured()
    emulated: bool = False  # the processors are emulated: no time measured here is hardware's
    simulated: dict[str, str] = field(default_factory=dict)  # nothing is launched, a model predicts: its files, SHA-256
    cpus_shared: bool = False  # the nodes are namespaces on one kernel: a CPU number means the same CPU on all
    cpus_too_few: str = ""  # why several ranks must share a CPU here; empty: sharing one is an error
    check_interfaces: bool = True  # the bytes of the messages must be seen on the nodes' interfaces
    reap: list[str] = field(default_factory=list)  # kills what a dead launch left on its nodes
    spack: dict[str, Any] = field(default_factory=dict)  # what was built from, if Spack built it: specs and lock


@dataclass(frozen=True)
class Plan:
    """One job. `workload` is the executable and its fixed arguments; `points` carry intentions, not work_units.

    `program`: somebody else's, which is run instead of a workload and writes no record.
    """

    __pydantic_config__ = validate.MODEL

    session: str
    study: str
    scale: str
    seed: int
    workload: list[str]
    points: list[Point]
    sampler: Sampler
    launches: list[Launch]
    platform: Platform
    test_case: str = ""
    given_timeout_s: float = 0.0  # of a launch; 0: by its estimate
    trial_factor: float = TIMEOUT_FACTOR  # times its trial, plus the grace, and a launch of a program is given up
    slowdown: float = 1.0  # that was injected into the workload: 1 but in a test of what sees it
    point_s: float = 0.0  # about how long a point takes; 0: by its message and computation
    calibrate_points: bool = False  # communication alone is measured by the study's own points, not by a message
    same_work: Point = field(default_factory=dict)  # axes, and of each the value whose work all values do
    calibrated_on: str = ""  # the MPI on which the work of these points was found, known once the job has begun
    swept: list[str] = field(default_factory=list)  # the axes that are settings of the engine
    impossible: list[tuple[Point, str]] = field(default_factory=list)  # what cannot be measured here, and why
    rounds: Rounds | None = None  # of sides; else the launches are those of a study's variants
    stop: Stop | None = None  # when no further launch of the variants is needed; of sides `rounds` says it
    on_off: bool = False  # the workload pauses an engine that polls in one of each two repetitions
    program: Program | None = None
    mpi_environment: dict[str, str] = field(default_factory=dict)  # of every launch, its calibration included
    probes: list[Probe] = field(default_factory=list)  # variables of the MPI that are read back before a search

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Plan:
        """The plan at `path`; UsageError if there is none."""
        return validate.read(Plan, path)

    @property
    def ends(self) -> Stop | None:
        """When no further round begins."""
        return self.rounds.stop if self.rounds else self.stop

    @property
    def reporting(self) -> int:
        """How many ranks have a line of each point in a record. A program that is not found here had one elsewhere."""
        return self.platform.tasks if self.workload else 1

    def under(self, launch: Launch) -> Plan:
        """The plan of this launch: a side of a gate may be on another MPI, and run another program."""
        side = launch.side
        if side is None:
            return self
        count = side.samples
        sampler = replace(self.sampler, min_samples=count, max_samples=count) if count else self.sampler
        workload = side.workload or self.workload
        return replace(self, platform=side.platform or self.platform, workload=workload, sampler=sampler)

    def variables_of(self, launch: Launch) -> dict[str, str]:
        """The variables with which a launch runs, beside those that every run has: the run's, and its side's."""
        return self.mpi_environment | (launch.side.environment if launch.side else {})

    def probes_by_platform(self) -> list[tuple[Platform, list[Probe]]]:
        """What is asked of an MPI before anything is measured: of the job's, and of those of a gate's sides."""
        found = {self.platform.mpi: (self.platform, list(self.probes))}
        for side in self.rounds.sides if self.rounds else []:
            here = side.platform or self.platform
            known = found.setdefault(here.mpi, (here, []))[1]
            known += [probe for probe in side.probes if probe not in known]
        return list(found.values())

    def points_of(self, launch: Launch) -> list[Point]:
        """The points that this launch measures, or says why it cannot."""
        return points_of(self.points, launch, self.swept)

    def reference(self, point: Point, launch: Launch | None = None) -> Point:
        """The point whose communication alone says how much `point` computes: no calibration is of the axes that only
        this launch has, and times of points with the same work can be held against each other."""
        own = launch.own if launch else {}
        return {name: self.same_work.get(name, value) for name, value in point.items() if name not in own}

    def reason_against(self, point: Point) -> str:
        """Why this point cannot be measured here; empty if it can."""
        met = (why for part, why in self.impossible if all(part.get(n) == v for n, v in point.items()))
        return next(met, "")

    def launch_estimate_s(self) -> float:
        """About how long the longest launch takes."""
        return max((launch_estimate_s(self.points_of(x), self.sampler, self.point_s) for x in self.launches), default=0)

    def estimate_s(self) -> float:
        """About how long the job takes, its calibration included."""
        return job_estimate_s(self.points, self.launches, self.swept, self.sampler, self.point_s)

    def timeout_s(self) -> float:
        """When a launch is given up: it hangs."""
        return self.given_timeout_s or self.patience_s()

    def patience_s(self) -> float:
        """The same where nobody has said when: for a calibration, too, which --set timeout_s= does not bound."""
        return TIMEOUT_GRACE_S + TIMEOUT_FACTOR * self.launch_estimate_s()


def job_estimate_s(
    points: Sequence[Point], launches: Sequence[Launch], swept: Sequence[str], sampler: Sampler, point_s: float
) -> float:
    """About how long the launches take, and the calibration's, together about one launch more, where one is needed."""
    each = [launch_estimate_s(points_of(points, launch, swept), sampler, point_s) for launch in launches]
    calibrated = any(name in point for point in points for name in INTENTIONS)
    return sum(each) + (max(each, default=0) if calibrated else 0)


def launch_estimate_s(points: Sequence[Point], sampler: Sampler, point_s: float) -> float:
    """About how long a launch of these points takes."""
    return LAUNCH_OVERHEAD_S + sum(point_s or point_estimate_s(point, sampler) for point in points)


def simulated_point_s(tasks: int) -> float:
    """About how long a point takes that is simulated."""
    return SIMULATED_RANK_S * tasks


def point_estimate_s(point: Point, sampler: Sampler) -> float:
    """About how long a point takes: communication, computation and both one after the other, for each repetition."""
    comm = ASSUMED_LATENCY_S + point.get("size_bytes", 0) / ASSUMED_BYTES_PER_S
    comp = point.get("comp_s", comm * point.get("comp_over_comm", 0))
    repetition = 2 * (comm + comp) * point.get("round_trips", 1)
    # the time box holds the warm-up, too, and lets one repetition of each happen whatever it is
    longest = max(sampler.time_box_s, 2 * repetition)
    return float(min(longest, (sampler.warmup + sampler.max_samples) * repetition))


def interleave(
    stem: str,
    variants: Mapping[str, int],
    seed: int,
    sweep: Sweep = Sweep(),
    limit: Mapping[str, Sequence[Any]] = MappingProxyType({}),
) -> list[Launch]:
    """As many launches as `variants` says of each, and of each setting that is swept, in rounds.

    A round has every variant once, in an order drawn by `seed`; one with fewer launches than there are rounds takes
    part in as many of them, evenly spread. `limit`: the axes that only the points of variant `limit` have.
    """
    shuffler = random.Random(f"{stem} {seed}")
    rounds = max(variants.values(), default=0)
    schedule: list[Launch] = []
    for round_ in range(rounds):
        here = [name for name, often in variants.items() if (round_ + 1) * often // rounds > round_ * often // rounds]
        cells = [(variant, *setting) for variant in here for setting in _settings(variant, sweep)]
        for variant, fixed, engine in shuffler.sample(cells, len(cells)):
            order, repetition = len(schedule), round_ * variants[variant] // rounds
            identity = f"{stem}.{order:03d}.{with_settings(variant, engine).replace(':', '+')}"
            own = {name: list(values) for name, values in limit.items()} if variant == LIMIT else {}
            schedule.append(Launch(identity, variant, repetition, order, fixed, engine, own))
    return schedule


def _settings(variant: str, sweep: Sweep) -> list[tuple[Point, list[str]]]:
    """What is swept of a variant: nothing where no engine takes the setting."""
    return [({}, [])] if variant in WITHOUT_ENGINE or not sweep.axes else sweep.values
