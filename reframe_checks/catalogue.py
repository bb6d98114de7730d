# SPDX-License-Identifier: BSD-3-Clause
"""What a study is: its parameters, the scales at which it runs, what --set may change, what it needs of a system. And
every study there is, found by its file: one of reframe_checks/studies has those of a paper, or of another group, as
STUDIES. There is no list to add to.

A study's points are the union of grids; a grid is one tuple of values an axis. `comp_over_comm` and `comp_s` are
intentions: the schedule runner turns them into `work_units` by the session's calibration (see harness.job). An
axis that is a setting of the engine is swept by a launch for each of its values; variants without the engine run once.

A study or a point may need more of a system than MPI, as features of ReFrame's partition; `cores>=n` is held against
`cores` of its extras: the cores of one node. A system that says nothing of its cores is taken to have enough.

Who asks for a group or a study gets the file of it alone; the others are imported when all studies are asked for. For
ReFrame a file has a check for each of its studies; a study itself needs no ReFrame, which takes longer to import than
all of them.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.base import validate, variants
from harness.base.errors import UsageError, meant, there_are
from harness.job.plan import TIMEOUT_FACTOR, TIMEOUT_GRACE_S, Launch, Sweep, interleave
from harness.job.program import Program

FEATURES = {  # of a partition -> what is said where it lacks it
    "smt": "no core here has a second hardware thread",
    "rdma": "no network interface here has RDMA",
    "remote": "all ranks run on one node here",
    "mwait": "the CPU shows neither UMWAIT nor MWAITX here",
    "two-sockets": "a node has one socket here",
}
ALWAYS = ["*"]  # as ReFrame says it
_CORES = re.compile(r"cores>=(\d+)")


@dataclass(frozen=True)
class Need:
    """`feature` is needed by the points that have one of the values of every parameter in `where`; empty: by all."""

    feature: str
    where: Mapping[str, tuple[str | int | float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.feature not in FEATURES and not _CORES.fullmatch(self.feature):
            raise ValueError(f"no such feature: {self.feature}")

    def concerns(self, point: Mapping[str, object]) -> bool:
        return all(point.get(name) in values for name, values in self.where.items())

    def lacking(self, features: Collection[str], cores: int | None) -> str:
        """Why a system with these features cannot run it; empty if it can."""
        if wanted := _CORES.fullmatch(self.feature):
            least = int(wanted[1])
            return f"{least} cores a node are needed and there are {cores}" if cores and cores < least else ""
        return "" if self.feature in features else FEATURES[self.feature]


def why_not(needs: Collection[Need], point: Mapping[str, object], features: Collection[str], cores: int | None) -> str:
    """Why `point` cannot be measured on this system, all reasons in one sentence; empty if it can."""
    reasons = [need.lacking(features, cores) for need in needs if need.concerns(point)]
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def valid_systems(needs: Collection[Need]) -> list[str]:
    """What all points need, as ReFrame's valid_systems; how many cores there are it cannot ask for."""
    features = [need.feature for need in needs if not need.where and need.feature in FEATURES]
    return [" ".join(f"+{feature}" for feature in features)] if features else ALWAYS


Value = str | int | float
Point = dict[str, Value]
Grid = dict[str, tuple[Value, ...]]

BASELINES = ("bare", "mpi-async")
PRESETS = ("off", "explicit", "thread", "timer", "idle", "adaptive")
FLAGS = {"true": True, "false": False}


@dataclass(frozen=True)
class Parameter:
    """One axis of a study. `kind` parses a value from the command line; `choices` are all there are, if not empty.

    `engine`: the setting of the engine that the axis is, if it is one; its value is `factor` times the axis's.
    """

    meaning: str
    kind: type[str] | type[int] | type[float] | type[bool]
    choices: tuple[str, ...] = ()
    engine: str = ""
    factor: int = 1

    def parse(self, name: str, text: str) -> Value:
        """The value that `text` means, or UsageError. Numbers are quantities: finite and not negative."""
        if self.kind is bool:
            if text not in FLAGS:
                raise UsageError(f"--set {name}={text}: true or false is wanted.")
            return FLAGS[text]
        if self.kind is str:
            if text not in self.choices:
                near = meant(text, self.choices)
                raise UsageError(f"--set {name}={text}: {near}one of {', '.join(self.choices)} is wanted.")
            return text
        try:
            value = self.kind(validate.in_bytes(name, text))
        except ValueError:
            value = -1
        if not 0 <= float(value) < 2**40:
            number = "whole number" if self.kind is int else "number"
            like = ", as in 65536, 64KB or 4MB," if name.endswith("_bytes") else ""
            raise UsageError(f"--set {name}={text}: a {number} that is not negative{like} is wanted.")
        return value


def size_text(value: Value) -> str:
    """65536 -> 64KB, as --set takes it."""
    units = reversed(validate.UNITS.items())
    whole = (f"{int(value) // factor}{unit}B" for unit, factor in units if int(value) % factor == 0)
    return next(whole, str(value)) if value else str(value)


MOST_LAUNCHES = 10_000
RANKS = "ranks"  # of somebody else's code
# What bounds a launch, beside the study's own axes: Scale's fields of the same names.
LIMITS = {
    "launches": Parameter("launches a variant", int),
    "min_samples": Parameter("samples at least, a point", int),
    "max_samples": Parameter("samples at most, a point", int),
    "warmup": Parameter("repetitions discarded before the first sample", int),
    "time_box_s": Parameter("seconds after which a point stops sampling", float),
    "timeout_s": Parameter("seconds after which a launch is given up; else by its estimate", float),
    "trial_factor": Parameter(
        "a launch of somebody else's program is given up after so many times what its trial took, and "
        f"{TIMEOUT_GRACE_S:.0f} s more",
        float,
    ),
    "time_limit_s": Parameter("seconds that a batch job may take; else by its estimate", float),
}


@dataclass(frozen=True)
class Scale:
    """How much of a study runs: launches a variant, the points of a launch, the sampler's limits.

    `timeout_s` (a launch) and `time_limit_s` (the job): 0 leaves them to the estimate. `point_s`: about how long a
    point takes, where the estimate by message size and computation does not fit. `mpis`: which ones a run takes that
    names none, if not all. `more`: launches of those variants that need more of them than the others, because a claim
    is decided on them. `limit`: the axes of the points of variant `limit`, see Launch.own; a study without them has no
    such variant. `looks`: after how many launches the study's `look` is asked whether that was enough. `beside`: what
    is launched beside the variants that a run names.
    """

    launches: int
    grids: tuple[Grid, ...]
    min_samples: int
    max_samples: int
    warmup: int
    time_box_s: float
    variants: tuple[str, ...] = BASELINES + PRESETS
    timeout_s: float = 0.0
    trial_factor: float = TIMEOUT_FACTOR
    time_limit_s: float = 0.0
    point_s: float = 0.0
    mpis: tuple[str, ...] = ()
    more: Mapping[str, int] = field(default_factory=dict)
    limit: Grid = field(default_factory=dict)
    looks: tuple[int, ...] = ()
    beside: tuple[str, ...] = ()

    def points(self) -> list[Point]:
        """The union of the grids, in their order, each point once."""
        unique = {tuple(point.items()): point for grid in self.grids for point in _expand(grid)}
        return list(unique.values())


def _expand(grid: Grid) -> Iterator[Point]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


@dataclass(frozen=True)
class Study:
    """One experiment, mostly of a paper. `workload` is the executable and its fixed arguments; without one `program` is
    run, somebody else's, which each run names anew.

    `nodes`: how many it takes, 0 as many as the run is given. `own_threads`: its ranks have several busy threads, which
    they place themselves: no rank is bound. `shared_memory`: its ranks talk through the memory of their one node.
    `needs`: what the system must have for it, or for some of its points.
    `order`: its place in lists and runs, hundreds by paper; without one it is among the last.
    `on_off`: each launch pauses its engine in one of each two repetitions, so that it is compared with itself. `look`:
    the Python module that says between two launches whether enough is known, see harness.job.plan.Stop.
    `calibrate_points`: communication alone is what its own points do without work, not one message of `size_bytes`.
    `same_work`: axes, and of each the value whose work all values do, so that their times can be compared.
    """

    name: str
    title: str
    group: str  # what it is run with, as in `./bench run pioman`: the paper that it reproduces, or what else it is for
    source: str
    workload: tuple[str, ...]
    scales: Mapping[str, Scale]
    tasks_per_node: int = 1
    nodes: int = 0
    own_threads: bool = False
    shared_memory: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    calibrate_points: bool = False
    same_work: dict[str, Value] = field(default_factory=dict)
    order: int = 1000
    of_a_paper: bool = True  # else `./bench run all` leaves it out
    program: Program | None = None
    case: str = ""  # of harness.codes: somebody else's program that is looked for where the study runs
    ranks: int = 0  # of a case: not its own number
    on_off: bool = False
    look: str = ""

    @property
    def check_name(self) -> str:
        """Of its check, for ReFrame: OverlapRatio for overlap-ratio."""
        return "".join(word.capitalize() for word in self.name.split("-"))

    @property
    def _case(self) -> Any:
        from harness.codes.known import CASES  # noqa: PLC0415 - most studies are of programs of ours

        return CASES[self.case][1]

    def tasks(self, nodes: int) -> int:
        """Ranks of a launch in a run that is given `nodes`; 1 where a launcher of the user's own decides."""
        if self.case:
            return self.ranks or self._case.ranks
        if not self.workload:
            return self.named().ranks or 1
        return self.tasks_per_node * (self.nodes or nodes)

    def asked(self, settings: Mapping[str, str]) -> Study:
        """The study with what `settings` change of it beside its points: how many ranks a case is given."""
        if not self.case or RANKS not in settings:
            return self
        number = Parameter("ranks", int).parse(RANKS, settings[RANKS])
        if not self._case.any_ranks and number != self._case.ranks:
            raise UsageError(f"Study {self.name} runs on {self._case.ranks} ranks: what it reads is for as many.")
        if int(number) < 1:
            raise UsageError(f"--set {RANKS}={number}: more than 0 is wanted.")
        return replace(self, ranks=int(number))

    def reporting(self, nodes: int) -> int:
        """How many ranks have a line of each point in a record."""
        return self.tasks(nodes) if self.workload else 1

    def with_program(self, program: Program | None) -> Study:
        """The study, if it has no workload with this program."""
        return self if self.workload or self.case or not program else replace(self, program=program)

    def named(self) -> Program:
        """The program that is run instead of a workload; UsageError if nobody has named one."""
        if self.program is None:  # of a case it is found later
            raise UsageError(f"Study {self.name} runs a program of yours: ./bench compare-program takes it.")
        return self.program

    def sweep(self, scale: Scale) -> Sweep:
        """The axes that are settings of the engine, and every combination of their values."""
        axes = {name: axis for name, axis in self._axes().items() if axis.engine}
        swept = [name for name in axes if any(name in grid for grid in scale.grids)]
        found: dict[tuple[tuple[str, Value], ...], tuple[Point, list[str]]] = {}
        for point in scale.points():
            fixed = {name: point[name] for name in swept if name in point}
            options = [f"{axes[name].engine}={_scaled(value, axes[name])}" for name, value in fixed.items()]
            found[tuple(fixed.items())] = (fixed, options)
        return Sweep(swept, list(found.values()))

    def launches(self, stem: str, scale: Scale, names: list[str], seed: int) -> list[Launch]:
        """The interleaved schedule of this study with these variants."""
        often = {name: scale.more.get(name, scale.launches) for name in names}
        return interleave(stem, often, seed, self.sweep(scale), scale.limit)

    def _axes(self) -> dict[str, Parameter]:
        """The study's own axes, and the engine's settings under their own names, where it has no axis of that name."""
        own = set[str]().union(*(self._grid_axes(scale) for scale in self.scales.values()))
        names = [name for name in variants.numeric() if name not in own]
        engine = {name: Parameter(f"the engine's {name}", int, engine=name) for name in names}
        return engine | dict(self.parameters)

    @staticmethod
    def _grid_axes(scale: Scale) -> set[str]:
        return {name for grid in scale.grids for name in grid}

    def scale(self, name: str, settings: Mapping[str, str]) -> Scale:
        """The scale with `settings` applied: an axis's values ("size_bytes": "1024,65536") or one of LIMITS."""
        if name not in self.scales:
            raise UsageError(f"Study {self.name} has no scale '{name}'. {there_are(name, self.scales)}")
        scale = self.scales[name]
        for key, text in settings.items():
            scale = self._with_setting(scale, key, text)
        return replace(scale, min_samples=min(scale.min_samples, scale.max_samples))

    def _with_setting(self, scale: Scale, key: str, text: str) -> Scale:
        if key in LIMITS:
            value = LIMITS[key].parse(key, text)
            if not value and key != "warmup":
                raise UsageError(f"--set {key}={text}: more than 0 is wanted.")
            if key == "launches" and int(value) > MOST_LAUNCHES:
                raise UsageError(f"--set {key}={text}: {MOST_LAUNCHES} at most are wanted.")
            limit: dict[str, Any] = {key: value}
            return replace(scale, **(limit | ({"more": {}} if key == "launches" else {})))
        if key == RANKS and self.case:
            return scale  # of the study, see `asked`
        axes = self._axes()
        if key in axes:
            values = tuple(axes[key].parse(key, part) for part in text.split(","))
            _check_range(f"--set {key}={text}", axes[key], values)
            if key in scale.limit and key not in self._grid_axes(scale):
                if 0 in values:
                    raise UsageError(f"--set {key}={text}: more than 0 is wanted.")
                return replace(scale, limit=scale.limit | {key: values})
            return replace(scale, grids=tuple(grid | {key: values} for grid in scale.grids))
        known = [*axes, *LIMITS, *([RANKS] if self.case else [])]
        raise UsageError(f"Study {self.name} has no parameter '{key}'. {there_are(key, known)}")


def _check_range(where: str, axis: Parameter, values: Sequence[Value]) -> None:
    """UsageError for a value that the engine does not take: each of its launches would fail."""
    limits = variants.numeric().get(axis.engine)
    outside = [_scaled(one, axis) for one in values if limits and not limits[0] <= _scaled(one, axis) <= limits[1]]
    if limits and outside:
        raise UsageError(f"{where}: the engine's {axis.engine} is {limits[0]} to {limits[1]}, not {outside[0]}.")


def _scaled(value: Value, axis: Parameter) -> int:
    return round(float(value) * axis.factor)


FOLDER = Path(__file__).resolve().parent / "studies"
SHARED = ("__init__", "shared")  # what the studies have in common; no studies themselves


def files() -> list[Path]:
    return sorted(file for file in FOLDER.glob("*.py") if file.stem not in SHARED)


@functools.cache
def of_file(file: Path) -> tuple[Study, ...]:
    found: tuple[Study, ...] = importlib.import_module(f"reframe_checks.studies.{file.stem}").STUDIES
    return found


def file_of(name: str) -> Path | None:
    """Where the study or the group of this name is, if there is one: a group is in one file."""
    stem, word = name.replace("-", "_"), f'"{name}"'  # a name that is put together of others stands in no file as it is
    likely = sorted(files(), key=lambda file: (file.stem != stem, word not in file.read_text()))
    return next((file for file in likely if any(name in (one.name, one.group) for one in of_file(file))), None)


@functools.cache
def studies() -> dict[str, Study]:
    """By name, in the order in which they are listed and run."""
    groups: dict[str, Path] = {}
    for file in files():
        for study in of_file(file):
            there = groups.setdefault(study.group, file)
            if there != file:
                raise ValueError(f"{file}: study '{study.name}' of group '{study.group}' belongs into {there}.")
    return _in_order(study for file in files() for study in of_file(file))


def _in_order(found: Iterable[Study]) -> dict[str, Study]:
    return {study.name: study for study in sorted(found, key=lambda study: (study.order, study.name))}


def groups() -> dict[str, list[str]]:
    """The names of the studies by what asks for several of them: all that are of a paper, or a group's."""
    found: dict[str, list[str]] = {"all": [name for name, study in studies().items() if study.of_a_paper]}
    for study in studies().values():
        found.setdefault(study.group, []).append(study.name)
    return found


def by_names(names: list[str]) -> list[Study]:
    """The studies of these names or groups, each once, or UsageError with the names there are."""
    chosen: dict[str, Study] = {}
    for name in names:
        chosen |= _named(name)
    return list(chosen.values())


def _named(name: str) -> dict[str, Study]:
    if name == "all":
        return {name: study for name, study in studies().items() if study.of_a_paper}
    file = file_of(name)
    if file is None:
        raise _unknown(name)
    return _in_order(study for study in of_file(file) if name in (study.name, study.group))


def _unknown(name: str) -> UsageError:
    members = groups()
    near = meant(name, [*members, *studies()])
    there = f"groups: {', '.join(sorted(members))}; ./bench list studies names all studies."
    return UsageError(f"There is no study or group called '{name}'. {near}There are {there}")


REGISTRY = "_rfm_test_registry"  # the attribute by which a file has checks for ReFrame


def checks(module: str, studies: Sequence[Study]) -> Callable[[str], Any]:
    """The `__getattr__` of a file of studies: the checks are made when ReFrame asks the file for them. Of a study
    alone neither they nor ReFrame are imported."""

    def asked_for(name: str) -> Any:
        if name != REGISTRY:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return importlib.import_module("reframe_checks.base_check").registry(module, studies)

    return asked_for
