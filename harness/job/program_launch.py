# SPDX-License-Identifier: BSD-3-Clause
"""A launch of somebody else's program: the record is written here, from its time, its output and the engine's reports.

Before anything is timed the program runs once as it is (`trial`): what it prints then is what every launch must print,
and how long it took says when a launch hangs.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from harness.base import process, validate
from harness.base.errors import UsageError
from harness.base.variants import WITHOUT_ENGINE, Recipe
from harness.codes.output import warnings
from harness.job import program as programs
from harness.job import records
from harness.job.launch import Outcome, Watch, context, execute, now
from harness.job.plan import TIMEOUT_GRACE_S, Launch, Plan, Point
from harness.job.program import CALLERS_PYTHONPATH, Program, Reading, Unusable
from harness.job.records import Folders, RecordFile
from harness.job.verify import engine_of

BASE = "bare"
LOOK_S = 0.2  # how long it is looked at what others take of the CPUs, before a launch: of its own time nobody knows
REPORT_FILE = "PROGRESS_ENGINE_REPORT_FILE"
DAMAGED = "its report is damaged"
SAID = ("progress-run:", "progress engine:")
# What glibc's loader says then.
DROPPED = re.compile(r"object '(.*libprogress_engine\.so)' from LD_PRELOAD cannot be preloaded \(([^)]*)\)")
DIFFERS = "its results differ between launches of bare by itself"


@dataclass(frozen=True)
class Trial:
    """What the program did once, as it is."""

    __pydantic_config__ = validate.MODEL

    seconds: float
    result: str

    def patience_s(self, plan: Plan) -> float:
        """When a launch is given up, which took `seconds` as it was."""
        return min(plan.timeout_s(), TIMEOUT_GRACE_S + plan.trial_factor * self.seconds)


@dataclass(frozen=True)
class Ran:
    """How a launch of a program ended: `reading` None where it is not to be used, for `reason`."""

    ended: process.Exit
    reports: list[dict[str, Any]]
    reading: Reading | None
    reason: str = ""
    warnings: int = 0

    @property
    def status(self) -> str:
        if self.ended.status is None:
            return "timeout"
        return "ok" if self.reading else "failed"


@dataclass(frozen=True)
class ProgramAttempt:
    """One launch of the plan's program; where its record goes."""

    plan: Plan
    launch: Launch
    recipe: Recipe
    points: list[Point]
    folders: Folders
    target: Path
    trial: Trial

    def run(self) -> Outcome:
        """Run the launch and put its record in its place. Raises Interrupted, and then there is none."""
        started = now()
        others_s = LOOK_S * psutil.cpu_percent(LOOK_S) / 100
        patience = self.trial.patience_s(self.plan)
        ran = _run(self.plan, self.launch, self.recipe, self.folders, patience)
        if ran.reading and ran.reading.result != self.trial.result:
            theirs, ours = programs.short(ran.reading.result), programs.short(self.trial.result)
            as_it_is = self.launch.variant == BASE and self.plan.variables_of(self.launch) == self.plan.mpi_environment
            why = DIFFERS if as_it_is else "its result is not that of bare"
            ran = replace(ran, reading=None, reason=f"{why}: '{theirs}' instead of '{ours}'")
        record = self._record(ran, started)
        for line in record.points:
            line["noise"] = {"watched_s": LOOK_S, "others_s": others_s}
        records.write(self.target, record)
        bad = next((line for line in record.points if line["status"] != "ok"), None)
        status, reason = (bad["status"], bad["reason"]) if bad and ran.status == "ok" else (ran.status, ran.reason)
        return Outcome(self.launch, status, reason, ran.ended.seconds)

    def _record(self, ran: Ran, started: str) -> RecordFile:
        program, note = _program(self.plan), context(self.plan, self.launch)
        arguments = command(self.plan, self.recipe)
        header = records.empty_header(note, arguments, started) | {
            "workload": {"name": program.name, "version": None},
            "quantities": program.quantities(),
            "world_size": program.ranks or None,
        }
        ranks = [
            {"rank": rank, "cpus_observed": [], "interface_bytes": {}, "engine": report}
            for rank, report in enumerate(ran.reports)
        ]
        end: dict[str, Any] = {"status": ran.status, "ranks": ranks, "elapsed_s": ran.ended.seconds}
        end |= {"launch_s": ran.ended.seconds, "warnings": ran.warnings} | (
            {"reason": ran.reason} if ran.reason else {}
        )
        if ran.reading is None:
            return RecordFile(header, [records.unmeasured(p, ran.status, ran.reason) for p in self.points], end)
        lines = [_line(point, ran.reading.at(point, program.quantities())) for point in self.points]
        return RecordFile(header, lines, end | ({"result": ran.reading.result} if ran.reading.result else {}))


def _line(point: Point, found: dict[str, float] | str) -> dict[str, Any]:
    """A point's line of a record."""
    if isinstance(found, str):
        return records.unmeasured(point, "failed", found)
    samples = {name: [value] for name, value in found.items()}
    return {"point": point, "rank": 0, "status": "ok", "samples": samples}


def prepare(plan: Plan, folders: Folders) -> None:
    """What the program wants to be done once in its folder, by each job anew. Raises Unusable."""
    program = _program(plan)
    log = folders.logs / f"{plan.study}.{plan.platform.mpi}.prepare.log"
    for arguments in program.prepare:
        ended = process.run(arguments, _environment(Recipe()), log, plan.timeout_s(), Path(program.folder))
        if ended.status != 0:
            name = next(Path(word).name for word in arguments if word != sys.executable)
            how = "did not end in time" if ended.status is None else f"exit status {ended.status}"
            raise Unusable(f"{program.name}: {name}, which prepares it: {how}; last words: {ended.last_line or 'none'}")


def trial_name(study: str, system: str, mpi: str) -> str:
    return f"{study}.{system}.{mpi}.trial"


def trial_of(plan: Plan) -> str:
    return trial_name(plan.study, plan.platform.system.partition(":")[0], plan.platform.mpi)


def kept_trial(folders: Folders, name: str) -> Trial | None:
    """What an earlier job of the session kept; None if none did. Raises UsageError if it is none."""
    path = folders.calibration / f"{name}.json"
    return validate.read(Trial, path) if path.exists() else None


def refuse(folders: Folders, name: str, why: str) -> None:
    """Leave the sentence why the program cannot be used, of a job that only tries it: it has no records that say so."""
    _refusal(folders, name).write_text(f"{why}\n", encoding="utf-8", errors="backslashreplace")


def refused(folders: Folders, name: str) -> str:
    """That sentence; empty where the program can be used, or was not tried yet."""
    with contextlib.suppress(FileNotFoundError):
        return _refusal(folders, name).read_text(encoding="utf-8").strip()
    return ""


def _refusal(folders: Folders, name: str) -> Path:
    return folders.calibration / f"{name}.unusable.txt"


def trial(plan: Plan, folders: Folders) -> Trial:
    """The program as it is, once a session and MPI. Raises Unusable with the sentence why it cannot be compared."""
    stem = trial_of(plan)
    _refusal(folders, stem).unlink(missing_ok=True)
    try:
        kept = kept_trial(folders, stem)
    except UsageError as error:
        raise Unusable(str(error)) from error
    if kept:
        return kept
    program = _program(plan)
    for path, called in program.files().items():
        if wrong := programs.another_mpi(path, plan.platform.library, _environment(Recipe())):
            raise Unusable(f"{called}: {wrong}")
    as_it_is = Recipe().within(plan.mpi_environment)
    ran = _run(plan, Launch(stem, BASE, 0, 0), as_it_is, folders, plan.timeout_s())
    if ran.reading is None:
        raise Unusable(f"{program.name}: {ran.reason}")
    found = Trial(ran.ended.seconds, ran.reading.result)
    (folders.calibration / f"{stem}.json").write_text(json.dumps(asdict(found), indent=1) + "\n")
    return found


def command(plan: Plan, recipe: Recipe) -> list[str]:
    """The whole command line of a launch."""
    program = _program(plan)
    return recipe.line([*program.driver, *plan.platform.launch_command], program.command)


def _program(plan: Plan) -> Program:
    if plan.program is None:
        raise AssertionError("a plan of a workload of ours")
    return plan.program


def _environment(recipe: Recipe) -> dict[str, str]:
    """That of the caller, in which PYTHONPATH is not the harness's own."""
    return dict(os.environ) | {"PYTHONPATH": os.environ.get(CALLERS_PYTHONPATH, "")} | recipe.environment


def _run(plan: Plan, launch: Launch, recipe: Recipe, folders: Folders, timeout_s: float) -> Ran:
    program = _program(plan)
    scratch = folders.scratch / launch.identity
    scratch.mkdir(exist_ok=True)
    said = [folders.logs / f"{launch.identity}.{kind}" for kind in ("log", "err")]  # stdout and stderr
    before = [path.stat().st_size if path.exists() else 0 for path in said]
    arguments = command(plan, _profiled(program, _reporting(recipe, scratch), folders.profiles))
    watch = Watch(said[0], None, timeout_s, Path(program.folder), of_program=True, errors=said[1])
    for left in _written(program):
        left.unlink()
    try:
        ended = execute(plan, arguments, _environment(recipe), watch)
        reports = _reports(scratch, folders.profiles if program.profiled else None, launch, program.ranks, ended)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    output, errors = map(_behind, said, before)
    ran = Ran(ended, reports, None, warnings=warnings(output, errors))
    if ended.status != 0:
        how = f"did not end within {timeout_s:.0f} s" if ended.status is None else f"exit status {ended.status}"
        return replace(ran, reason=f"{how}; last words: {ended.last_line or 'none'}")
    if wrong := _wrong_engine(launch, reports, program.ranks, output + errors):
        return replace(ran, reason=wrong)
    files = _written(program)
    if program.written and not files:
        return replace(ran, reason=f"it wrote no file {program.written}")
    if files:
        output = f"{output}\n{files[-1].read_text(errors='replace')}"
    try:
        reading = programs.read(program, output, ended.seconds, errors)
    except Unusable as error:
        return replace(ran, reason=str(error))
    launched = reading.measured if program.driver else 1  # a driver launches each of its codes
    if wrong := _wrong_engine(launch, reports, launched * program.ranks, output + errors):
        return replace(ran, reason=wrong)
    return replace(ran, reading=reading)


def _behind(path: Path, place: int) -> str:
    """What a file holds from there on."""
    with path.open("rb") as stream:
        stream.seek(place)
        return stream.read().decode(errors="replace")


def _written(program: Program) -> list[Path]:
    """The files with its results, the newest last."""
    if not program.written:
        return []
    return sorted(Path(program.folder).glob(program.written), key=lambda path: (path.stat().st_mtime_ns, path.name))


def _reporting(recipe: Recipe, folder: Path) -> Recipe:
    """The same, with the engine's report of each rank in `folder`, also of one that the program itself brings."""
    file = str(folder / "engine.%r.%h.%p.json")
    if recipe.prefix[-1:] != ["--"]:  # no engine: nothing, or variables alone
        return recipe.within({REPORT_FILE: file})
    *options, end = recipe.prefix
    return replace(recipe, prefix=[*options, "--report-file", file, end])


def _profiled(program: Program, recipe: Recipe, folder: Path) -> Recipe:
    """The same, with the profiles of a program that is profiled in `folder`; without the engine there are none."""
    if not program.profiled or recipe.prefix[-1:] != ["--"]:
        return recipe
    *options, end = recipe.prefix
    settings = [word for key, value in program.profiled.items() for word in ("--set", f"{key}={value}")]
    return replace(recipe, prefix=[*options, "--profile", str(folder), *settings, end])


def _reports(
    folder: Path, profiles: Path | None, launch: Launch, ranks: int, ended: process.Exit
) -> list[dict[str, Any]]:
    """The engine's reports in the order of their ranks; of a launch that ended well those of all, if they come, once
    their profiles are there, too."""

    def look() -> list[dict[str, Any]]:
        files = sorted(folder.glob("engine.*.json"), key=lambda path: (len(path.name.split(".")[1]), path.name))
        return [_report(path) for path in files]

    def whole(found: list[dict[str, Any]]) -> bool:
        good = [report for report in found if report.get("reason") != DAMAGED]
        wanted = max(1, _ranks(ranks, good))
        profiled = profiles is None or len(list(profiles.glob("profile.*.json"))) >= wanted
        return len(good) >= wanted and profiled

    without = launch.variant.partition(":")[0] in WITHOUT_ENGINE
    return look() if without or ended.status != 0 else records.when_there(folder, look, whole)


def _report(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return {"preset": "?", "active": False, "reason": DAMAGED}


def _ranks(ranks: int, reports: list[dict[str, Any]]) -> int:
    """How many there are: where a launcher of one's own has started them (0), those that report say it."""
    return ranks or max((report.get("world_size") or 0 for report in reports), default=0)


def _wrong_engine(launch: Launch, reports: list[dict[str, Any]], ranks: int, output: str) -> str:
    """Why the variant that ran is not the one that was asked for; empty if it is."""
    without = launch.variant.partition(":")[0] in WITHOUT_ENGINE
    ranks = _ranks(ranks, reports)
    if not without and (not reports or (ranks and len(reports) < ranks)):
        said = [line for line in output.splitlines() if line.startswith(SAID)]
        of = f" of {ranks}" if ranks else ""
        why = f": {programs.short(said[0])}" if said else " (did its launcher put progress-run on each rank?)"
        if dropped := DROPPED.search(output):
            why = f": the loader dropped {dropped[1]} ({dropped[2]}), as in a sandbox that does not show its folder"
        return f"the engine reported on {len(reports)}{of} ranks{why}"
    wrong = (engine_of(rank, launch.variant, report) for rank, report in enumerate(reports))
    return next(filter(None, wrong), "")
