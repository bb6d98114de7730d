# SPDX-License-Identifier: BSD-3-Clause
"""One launch: its files, its command, and the record it leaves, whatever happens to it.

A launch writes into scratch/<record's name>/ and is moved to records/ when it ends. Whatever is still in scratch when
nothing runs any more belongs to a launch that was cut off; its finished points are good if it was what it said it was.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import shutil
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import process
from harness.base.byte_sizes import bytes_text
from harness.base.errors import UsageError
from harness.base.paths import python
from harness.base.variants import Recipe, polls, with_settings
from harness.job import known_failures, reap, records, verify
from harness.job.plan import Launch, Plan, Point, Side
from harness.job.reap import MARK
from harness.job.records import Folders, RecordFile

PLAN = "plan.json"
REASON = "the job was killed during this launch"


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


def salvage(folders: Folders) -> int:
    """Turn leftovers into record files; return how many. Call it only while no job of this session runs.

    Raises OSError where a record cannot be written; its leftovers stay then, for the next time.
    """
    saved = 0
    for scratch in sorted(path for path in folders.scratch.glob("*") if path.is_dir()):
        target = folders.records / f"{scratch.name}.jsonl"
        left = records.read(scratch / "record.jsonl")
        if left.points and left.header is not None and not target.exists() and _verify(scratch / PLAN, left):
            left.end = (left.end or {"ranks": [], "elapsed_s": 0.0}) | {"status": "interrupted", "reason": REASON}
            records.write(target, left)
            saved += 1
        shutil.rmtree(scratch, ignore_errors=True)
    return saved


def _verify(plan_file: Path, left: records.RecordFile) -> bool:
    """Condemn what the runner would have condemned; False if it cannot be told, for lack of the plan."""
    identity = (left.header or {}).get("context", {}).get("launch")
    try:
        plan = Plan.load(plan_file)
        launch = next(launch for launch in plan.launches if launch.identity == identity)
    except (UsageError, StopIteration):
        return False
    verify.condemn(plan, launch, left)
    return True
