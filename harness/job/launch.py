# SPDX-License-Identifier: BSD-3-Clause
"""One launch: its files, its command, and the record it leaves, whatever happens to it. And what the launches of the
calibration say, which come before all others.

A launch writes into scratch/<record's name>/ and is moved to records/ when it ends (or by session.salvage).

The calibration leads from intentions to fixed work: how much makes comp = comm, or a computation of so many seconds. It
is made once a session for each study and system, bare, by the first job that needs it, in several launches of which the
medians count: a launch differs from the next by some per cent. The jobs of the other MPIs take what it published. Every
launch of a point then does exactly the same work, whatever its MPI and variant, so their times can be held against each
other: a slow moment during the calibration moves a point along its axis for all of them alike and can favour none. The
analysis takes comm and comp from each MPI's own bare launches. So comp = comm is exact for the calibrating MPI alone,
and what the ratio was on each is stated with every point.

The middle of the calibrations of all MPIs would be no fairer, the work is the same for all either way; and it would
need a job of each MPI before the first launch, on a cluster a second wait in the queue for each.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.base import process
from harness.base.paths import python
from harness.base.validate import bytes_text
from harness.base.variants import Recipe, polls, with_settings
from harness.job import known_failures, reap, records, verify
from harness.job.plan import INTENTIONS, PLAN, Launch, Plan, Point, Side
from harness.job.reap import MARK
from harness.job.records import Folders, RecordFile


@dataclass(frozen=True)
class Outcome:
    """How a launch ended: `status` as in the record's end line, the reason if not ok, its wall time, and what it found
    in a few words."""

    launch: Launch
    status: str
    reason: str
    seconds: float
    found: str = ""


class Interrupted(BaseException):
    """The job was told to stop: preemption, time limit, Ctrl-C. Like KeyboardInterrupt, no handler swallows it."""


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def context(plan: Plan, launch: Launch) -> dict[str, Any]:
    """What the record's header says about this launch beyond what the workload itself sees."""
    return {
        "session": plan.session,
        "launch": launch.identity,
        "study": plan.study,
        "system": plan.platform.system,
        "mpi": plan.platform.mpi,
        "variant": launch.variant,
        "repetition": launch.repetition,
        "order": launch.order,
        "scale": plan.scale,
        "test_case": plan.test_case,
        "network": plan.platform.network,
        **({"network_measured": plan.platform.network_measured} if plan.platform.network_measured else {}),
        **({"side": launch.side.name} if launch.side else {}),
        **({"emulated": True} if plan.platform.emulated else {}),
        **({"simulated": {"files": plan.platform.simulated}} if plan.platform.simulated else {}),
        **({"calibrated_on": plan.calibrated_on} if plan.calibrated_on else {}),
        **({"mpi_environment": plan.variables_of(launch)} if plan.variables_of(launch) else {}),
        **({"injected_slowdown": plan.slowdown} if plan.slowdown != 1 else {}),
        **({"spack": plan.platform.spack} if plan.platform.spack else {}),
    }


@dataclass(frozen=True)
class Watch:
    """What is known of a running launch: its log, the record that it writes, if it does, and when it is given up."""

    log: Path
    output: Path | None
    timeout_s: float
    folder: Path | None = None  # where it runs, if not in the job's own
    of_program: bool = False  # somebody else's program: it may leave processes behind though it ends well
    errors: Path | None = None  # where its stderr goes, if not to the log


def name_of(log: Path) -> str:
    """The launch's whose output goes to this file, in a session's folder: no other launch on any node has it."""
    return f"{log.stem}@{hashlib.sha256(os.fsencode(log.resolve())).hexdigest()[:16]}"


def execute(plan: Plan, arguments: list[str], environment: dict[str, str], watch: Watch) -> process.Exit:
    """Run a launch's command; what may have left something is reaped on its nodes before anything else is measured.

    The status alone does not say so: Open MPI's mpirun may lose a node and end with 0. The record's end line does.
    """
    clean, name = False, name_of(watch.log)
    try:
        ended = process.run(
            arguments, environment | {MARK: name}, watch.log, watch.timeout_s, watch.folder, watch.errors
        )
        clean = ended.status == 0 and not (watch.output and records.read_when_whole(watch.output).cut_off)
    finally:
        if not clean or watch.of_program:
            reap.kill(name)
        if not clean or (watch.of_program and plan.platform.nodes > 1):
            everywhere = [*plan.platform.launch_command, *python("-m", reap.__name__, name)]
            said = Path(os.devnull) if clean else watch.log  # a program's log is about to be read
            process.note(plan.platform.reap or everywhere, said)
    return ended


def command(plan: Plan, recipe: Recipe, options: list[str], side: Side | None = None) -> list[str]:
    """The whole command line of a launch."""
    own = side.options if side else []
    return recipe.line(plan.platform.launch_command, [*plan.workload, *options, *own])


def step_words(record: RecordFile) -> str:
    """How long a step took at the longest message, of the slowest point and rank the median; empty where none was."""
    steps: dict[int, list[float]] = {}
    for line in record.points:
        if times := line.get("samples", {}).get("total_s"):
            steps.setdefault(line["point"].get("size_bytes", 0), []).append(statistics.median(times))
    size = max(steps, default=0)
    return f"a step of {bytes_text(size)} takes {1e3 * max(steps[size]):.3g} ms" if size else ""


@dataclass(frozen=True)
class Attempt:
    """One try at `points` of a launch."""

    plan: Plan
    launch: Launch
    recipe: Recipe
    points: list[Point]
    folders: Folders
    target: Path  # where its record goes
    skipped: list[tuple[Point, str]] = field(default_factory=list)  # points that cannot be measured here, and why
    started: str = field(default_factory=now)

    def run(self) -> Outcome:
        """Run the launch and put its record in its place. On Interrupted the finished points are kept, too."""
        output = self._write_input()
        try:
            watch = Watch(self.folders.logs / f"{self.launch.identity}.log", output, self.plan.timeout_s())
            ended = execute(self.plan, self._arguments(), self.recipe.environment, watch)
        except Interrupted:
            left = records.read(output)
            if left.points:
                verify.condemn(self.plan, self.launch, left)
                self._keep(left, "interrupted", "the job was told to stop")
            raise
        left = records.read(output)
        wrong = verify.condemn(self.plan, self.launch, left)
        judged = judge(self.plan, ended, left, wrong)
        status, reason = known_failures.told(self.plan, self.launch, left, *judged, watch.log)
        _fill(left, self.points, status, reason)
        left.points += [records.unmeasured(point, "skipped", why) for point, why in self.skipped]
        self._keep(left, status, reason, launch_s=ended.seconds)
        return Outcome(self.launch, status, reason, ended.seconds, step_words(left))

    @property
    def _scratch(self) -> Path:
        # named after the record, so that what a killed job leaves can be put in its place (salvage)
        return self.folders.scratch / self.target.stem

    @property
    def _files(self) -> dict[str, Path]:
        names = {"points": "points.json", "context": "context.json", "output": "record.jsonl"}
        return {option: self._scratch / name for option, name in names.items()}

    def _write_input(self) -> Path:
        self._scratch.mkdir(exist_ok=True)  # but not its parents: a session that is lost stays lost
        self._files["points"].write_text(json.dumps(self.points))
        self._files["context"].write_text(json.dumps(context(self.plan, self.launch)))
        self.plan.save(self._scratch / PLAN)
        self._files["output"].unlink(missing_ok=True)
        return self._files["output"]

    def _arguments(self) -> list[str]:
        files = [f"--{name}={path}" for name, path in self._files.items()]
        paused = self.plan.on_off and polls(with_settings(self.launch.variant, self.launch.engine))
        on_off = ["--on-off"] if paused else []
        return command(self.plan, self.recipe, [*files, *self.plan.sampler.options(), *on_off], self.launch.side)

    def _keep(self, left: RecordFile, status: str, reason: str, **more: Any) -> None:
        if left.header is None:
            left.header = records.empty_header(context(self.plan, self.launch), self._arguments(), self.started)
        end = left.end or {"ranks": [], "elapsed_s": 0.0}
        left.end = end | {"status": status} | ({"reason": reason} if reason else {}) | more
        records.write(self.target, left)
        shutil.rmtree(self._scratch, ignore_errors=True)


def judge(plan: Plan, ended: process.Exit, left: RecordFile, wrong: list[str]) -> tuple[str, str]:
    """The status of a launch and the sentence behind it."""
    if ended.status is None:
        return "timeout", f"did not end within {plan.timeout_s():.0f} s; last words: {ended.last_line or 'none'}"
    if ended.status != 0:
        return "failed", f"exit status {ended.status}; last words: {ended.last_line or 'none'}"
    if left.cut_off:
        return "failed", f"the record is cut off; last words: {ended.last_line or 'none'}"
    return ("failed", "; ".join(wrong)) if wrong else ("ok", "")


def _fill(left: RecordFile, points: list[Point], status: str, reason: str) -> None:
    """Give every planned point a line."""
    measured = {records.key(line["point"]) for line in left.points}
    if status == "ok":
        status, reason = "failed", "the workload left it out"
    left.points += [records.unmeasured(point, status, reason) for point in points if records.key(point) not in measured]


SLEPT_UNIT_S = 1e-6  # of workloads/common/fixed_work.h


@dataclass(frozen=True)
class Calibration:
    """`unit_s`: seconds of one unit of work on the slowest rank; `comm_s`: what is sent (`sent`) -> its time alone.

    Both are medians: the fastest repetition of a unit is not what a computation of a second sees. `mpi`: measured on
    which one; empty in the file of a session in which each MPI was calibrated by itself.
    """

    unit_s: float
    comm_s: dict[str, float]
    mpi: str = ""

    def with_work(self, point: Point, reference: Point | None = None) -> Point:
        """`point` with the work_units that its intention means, by the communication of `reference`, see Plan."""
        if "comp_over_comm" in point:
            alone = self.comm_s.get(sent(reference or point))
            seconds = point["comp_over_comm"] * (self.comm_s[str(point["size_bytes"])] if alone is None else alone)
        elif "comp_s" in point:
            seconds = point["comp_s"]
        else:
            return point
        return point | {
            "work_units": round(seconds / (SLEPT_UNIT_S if point.get("compute") == "sleep" else self.unit_s))
        }

    @staticmethod
    def middle(of: list[Calibration]) -> Calibration:
        """The medians of several, which are of the same MPI and points."""
        comm_s = {what: statistics.median(one.comm_s[what] for one in of) for what in of[0].comm_s}
        return Calibration(statistics.median(one.unit_s for one in of), comm_s, of[0].mpi)

    def publish(self, path: Path) -> Calibration:
        """Put this at `path` unless another job has been faster; the one that is there, for all jobs alike.

        Safe between processes and hosts: a link is made whole or not at all. Raises OSError.
        """
        partial = path.with_name(f"{path.name}.{self.mpi}.part")
        partial.write_text(json.dumps(asdict(self), indent=1) + "\n")
        try:
            os.link(partial, path)
        except FileExistsError:
            if first := Calibration.load(path):
                return first
            partial.replace(path)  # damaged: nobody can have taken it
        finally:
            partial.unlink(missing_ok=True)
        return self

    @staticmethod
    def wanted(points: list[Point]) -> bool:
        """Whether any point states an intention that needs calibration."""
        return any(name in point for point in points for name in INTENTIONS)

    @staticmethod
    def options(points: list[Point], points_file: Path | None) -> list[str]:
        """The workload's options that measure what these points need: messages by size, or the points of this file."""
        if points_file is not None:
            points_file.write_text(json.dumps(_alone(points)))
            return ["--calibrate", f"--points={points_file}"]
        sizes = sorted({point["size_bytes"] for point in points if "comp_over_comm" in point})
        return ["--calibrate", *(["--size", ",".join(map(str, sizes))] if sizes else [])]

    @staticmethod
    def of_record(record: RecordFile, mpi: str, turns: float = 1.0) -> Calibration:
        """What such a launch measured; KeyError or ValueError if its record lacks a part. `turns`: see cpu_turns."""
        units: dict[int, float] = {}
        comm: dict[str, list[float]] = {}
        for line in record.points:
            samples: dict[str, list[float]] = line["samples"]
            point = line["point"]
            if point.get("calibration") == "unit":
                units[line["rank"]] = statistics.median(samples["unit_s"])
            elif "calibration" not in point:
                comm.setdefault(sent(point), []).append(_time_alone(samples))
            elif line["rank"] == 0:
                comm[str(point["size_bytes"])] = [_time_alone(samples)]
        return Calibration(turns * max(units.values()), {what: max(times) for what, times in comm.items()}, mpi)

    @staticmethod
    def load(path: Path) -> Calibration | None:
        """What is at `path`; None if there is nothing, or nothing whole."""
        try:
            data = json.loads(path.read_text())
            return Calibration(data["unit_s"], dict(data["comm_s"]), data.get("mpi", ""))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def sent(point: Point) -> str:
    """A point without its computation: what its communication alone depends on."""
    return records.key({name: value for name, value in point.items() if name not in INTENTIONS})


def _alone(points: list[Point]) -> list[Point]:
    """Points of communication alone, for a workload that does not send one message between two ranks."""
    unique = {sent(point): point for point in points if "comp_over_comm" in point}
    return [
        {name: value for name, value in point.items() if name not in INTENTIONS} | {"work_units": 0}
        for point in unique.values()
    ]


def cpu_turns(record: RecordFile, cpus_shared: bool) -> float:
    """How many ranks take turns on a CPU, at most: a unit is measured in CPU time, of which each then has its share.

    `cpus_shared`: a CPU's number means the same CPU on all hosts.
    """
    ranks = (record.header or {}).get("ranks", [])
    places = [
        frozenset(("" if cpus_shared else rank["host"], cpu) for cpu in rank["cpus_allowed"])
        for rank in ranks
        if rank["cpus_allowed"]
    ]
    return max([1.0, *(places.count(place) / len(place) for place in places)])


def _time_alone(samples: dict[str, list[float]]) -> float:
    """The acknowledgement that closes a transfer is not part of it, where the machine was quiet enough to tell both:
    on a busy one its median can be the longer one, and there is no work of less than no time."""
    whole = statistics.median(samples["comm_s"])
    transfer = whole - statistics.median(samples.get("ack_s", [0.0]))
    return transfer if transfer > 0 else whole
