# SPDX-License-Identifier: BSD-3-Clause
"""Runs a plan on the allocation it finds itself in: `python -m harness.job.runner PLAN.json SESSION`.

It goes on after a failed launch, skips what earlier runs of the same session finished, and on SIGTERM (preemption,
time limit) stops at once with everything finished kept. Exit status: 0 every point ok or skipped, 1 some failed,
WRONG_PLAN the plan is not one, STOPPED it was told to stop, UNWRITABLE the session's folder takes no more records.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from harness.base import machine, process
from harness.base.errors import UsageError
from harness.base.paths import ROOT, python
from harness.base.variants import LIMIT, Recipe, recipe, with_settings
from harness.job import read_back, records
from harness.job.launch import (
    Attempt,
    Calibration,
    Interrupted,
    Outcome,
    Watch,
    command,
    context,
    cpu_turns,
    execute,
    now,
)
from harness.job.plan import CALIBRATIONS, Launch, Plan, Platform, Point
from harness.job.program import Unusable
from harness.job.program_launch import DIFFERS, ProgramAttempt, Trial, prepare, refuse, trial, trial_of
from harness.job.records import STOPPED, UNWRITABLE, Folders
from harness.job.slurm_energy import SlurmEnergy

DESCRIBE_TIMEOUT_S = 60.0
LOOK_TIMEOUT_S = 120.0
WRONG_PLAN = 2
TRIAL = "test"  # the scale of which nothing is claimed: its calibration is as short as its points
OF_WORKLOADS = "this variant is a setting of the workloads, and the program is none"
NO_LIMIT = "this study's messages are moved by MPI alone: it has no limit to compare with"


class Runner:
    """One job. Not thread safe; one runner a (session, study, system, MPI)."""

    def __init__(self, plan: Plan, session: Path) -> None:
        self.plan = plan
        self.folders = Folders(session)
        self.folders.make()
        self.outcomes: list[Outcome] = []
        self.started = time.monotonic()
        self.begun = -1  # the round that was begun last
        self.trial: Trial | None = None  # of somebody else's program
        self.broken: set[str] = set()  # sides that failed, now or in an earlier run of the same block

    @functools.cached_property
    def energy(self) -> SlurmEnergy:
        return SlurmEnergy()

    def run(self) -> int:
        """Run what is missing; return the exit status."""
        started = time.monotonic()
        todo = self._todo()
        share = len(todo) / max(1, len(self.plan.launches))
        self._tell(event="job", launches=len(todo), estimate_s=share * self.plan.estimate_s())
        status = self._work(todo)
        self._tell(event="end", status=status, failed=self._failed(), seconds=time.monotonic() - started)
        return status

    def _work(self, todo: list[tuple[Launch, list[Point]]]) -> int:
        left = list(todo)
        try:
            untaken = self._read_back()
            if left and untaken and self.plan.rounds and not self._drops:
                self._leave_out(left, f"the MPI is not shown to take {'; '.join(untaken)}")
                return 0
            if left:
                self._describe_nodes()
                calibration = self._calibration()
            elif self.plan.program and not self.plan.launches:
                return self._try_program()
            while left:
                if enough := self._enough(left[0][0]):
                    self._leave_out(left, enough)
                    break
                launch, points = left.pop(0)
                if out := self._out(launch):
                    self._record_without_run(launch, points, "skipped", out)
                elif against := self._against(launch):
                    self._record_without_run(launch, points, "failed", against)
                else:
                    self._launch(launch, points, calibration)
        except Interrupted:
            return STOPPED
        except (CalibrationError, Unusable) as error:
            # a side that failed is out: what its launch never came to is no failure of its own
            self._leave_out(left, f"{records.NOT_RUN}{error}" if self._drops else str(error), "failed")
        return 1 if self._failed() else 0

    def _try_program(self) -> int:
        """Before a search: can the program be used, and how long does it take?"""
        try:
            self._calibration()
        except Unusable as error:
            refuse(self.folders, trial_of(self.plan), str(error))
            return 1
        return 0

    def _enough(self, launch: Launch) -> str:
        """Why no further round begins; empty if one does. Asked behind the check run that ends the round before."""
        rounds, stop = self.plan.rounds, self.plan.ends
        beside = rounds is not None and launch.side == rounds.around
        if stop is None or launch.repetition == self.begun or beside:
            return ""
        self.begun = launch.repetition
        if time.monotonic() - self.started > 60 * stop.minutes:
            return f"{records.NOT_NEEDED}: the time was up"
        if launch.repetition not in stop.looks:
            return ""
        log = self.folders.logs / f"{self.plan.study}.{self.plan.platform.mpi}.look.log"
        look = [*stop.look, str(self.folders.session), self.plan.study]
        looked = process.run(look, {"PYTHONPATH": str(ROOT)}, log, LOOK_TIMEOUT_S)
        return f"{records.NOT_NEEDED}: the verdict was known" if looked.status == 0 else ""

    @property
    def _drops(self) -> bool:
        """Whether a side that failed is launched no more."""
        return self.plan.rounds is not None and self.plan.rounds.drop is not None

    def _causes(self, launch: Launch) -> list[str]:
        """The sides of which a launch that failed puts this one out."""
        drop = self.plan.rounds.drop if self.plan.rounds else None
        return (drop or {}).get(launch.side.name if launch.side else "", [])

    def _out(self, launch: Launch) -> str:
        """Why a side is not launched again in this block; empty if it is."""
        failed = next((cause for cause in self._causes(launch) if cause in self.broken), "")
        return f"{records.NOT_NEEDED}: {failed} failed before" if failed else ""

    def _leave_out(self, todo: list[tuple[Launch, list[Point]]], reason: str, status: str = "skipped") -> None:
        """Records of launches that are not needed, or cannot be (`failed`); in the log one line for all of them."""
        for launch, points in todo:
            record = records.not_run(context(self.plan, launch), points, status, reason, now())
            records.write(records.next_attempt(self.folders.records, launch.identity), record)
            self.outcomes += [] if status == "skipped" else [Outcome(launch, status, reason, 0.0)]
        said = reason if status == "skipped" else f"{status}: {reason}"
        self._tell(event="left out", launches=len(todo), reason=said)

    def _failed(self) -> int:
        return sum(outcome.status not in ("ok", "skipped") for outcome in self.outcomes)

    def _todo(self) -> list[tuple[Launch, list[Point]]]:
        """The launches that have points which are neither measured nor known to be impossible here. A setting of a
        search gets no second try: one that gave wrong results once is no good one."""
        folder, todo = self.folders.records, []
        for launch in self.plan.launches:
            if launch.side and launch.side.name in self._causes(launch) and records.failure(folder, launch.identity):
                self.broken.add(launch.side.name)
                continue
            done = records.finished(folder, launch.identity, self.plan.under(launch).reporting)
            done |= records.skipped(folder, launch.identity)
            points = [point for point in self.plan.points_of(launch) if records.key(point) not in done]
            if points:
                todo.append((launch, points))
        return todo

    def _describe_nodes(self) -> None:
        """Provenance once a node of this job; what cannot be had is missing there, and nothing fails for it.

        It is launched as the workload is, so on the same nodes. Not every launcher hands the environment on.
        """
        if self.plan.platform.simulated:
            return  # there are none
        describe = ["env", f"PYTHONPATH={ROOT}", *python("-m", machine.__name__, str(self.folders.nodes))]
        log = self.folders.logs / f"{self.plan.study}.{self.plan.platform.mpi}.nodes.log"
        process.note([*self.plan.platform.launch_command, *describe], log, DESCRIBE_TIMEOUT_S)

    def _read_back(self) -> list[str]:
        """Ask each MPI of the variables that are to be tuned, or that somebody chose for a side, whether it takes them:
        once a session. What was not taken, in words."""
        found = []
        for here, probes in self.plan.probes_by_platform():
            if not probes:
                continue
            read_back.run(probes, self._asker(here), Path(here.progress_run).parent, self.folders.logs, here.mpi)
            found += read_back.doubts(probes, self.folders.logs, here.mpi)
        return found

    def _against(self, launch: Launch) -> str:
        """Why the MPI does not take the variables of a setting of a search, or does not run with them; empty if it
        does. A setting that hangs then costs a short trial, and not the limit of a launch."""
        if not (launch.side and self._drops):
            return ""
        here, logs = self.plan.platform, self.folders.logs
        programs = Path(here.progress_run).parent
        own = [probe for probe in self.plan.probes if launch.side.environment.get(probe.name) == probe.value]
        if untaken := read_back.doubts(own, logs, here.mpi):
            return f"the MPI is not shown to take {untaken[0]}"
        return read_back.against(launch.side.environment, self._asker(here), programs, logs, here.mpi)

    def _asker(self, here: Platform) -> read_back.Run:
        """How a program that asks an MPI is launched."""

        def launch(program: Sequence[str], log: Path, limit_s: float) -> process.Exit:
            on = replace(self.plan, platform=here)
            return execute(on, [*here.launch_command, *program], {}, Watch(log, None, limit_s))

        return launch

    def _launch(self, launch: Launch, points: list[Point], calibration: Calibration | None) -> None:
        name = with_settings(launch.variant, launch.engine)
        plan, side = self.plan.under(launch), launch.side
        own = side.progress_run if side else ""
        how = recipe(name, Path(own or plan.platform.progress_run), plan.platform.async_progress)
        if launch.variant == LIMIT and not launch.own:
            how = NO_LIMIT
        if self.plan.program and not isinstance(how, str) and how.workload_options:
            how = OF_WORKLOADS
        if isinstance(how, str):
            self._record_without_run(launch, points, "skipped", how)
            return
        against = {records.key(point): self.plan.reason_against(point) for point in points}
        possible = [point for point in points if not against[records.key(point)]]
        skipped = [(point, against[records.key(point)]) for point in points if point not in possible]
        if not possible:
            self._record_skipped(launch, skipped)
            return
        worked = possible
        if calibration:
            worked = [calibration.with_work(point, self.plan.reference(point, launch)) for point in possible]
        target = records.next_attempt(self.folders.records, launch.identity)
        how = how.within(plan.variables_of(launch))
        attempt: Attempt | ProgramAttempt
        if self.trial is None or (side and side.workload):  # a gate's check run is a workload, whatever the study runs
            attempt = Attempt(plan, launch, how, worked, self.folders, target, skipped)
        else:
            attempt = ProgramAttempt(self.plan, launch, how, worked, self.folders, target, self.trial)
        began = time.time()
        outcome = attempt.run()
        if outcome.status == "ok" and not plan.platform.simulated:
            self.energy.add(target, began, outcome.seconds, plan.platform.nodes)
        self._done(outcome)
        if outcome.reason.startswith(DIFFERS):
            raise Unusable(outcome.reason)

    def _calibration(self) -> Calibration | None:
        """The session's calibration of this study: another job's, an earlier run's, or measured now."""
        if self.plan.program:
            prepare(self.plan, self.folders)
            self.trial = trial(self.plan, self.folders)
            self._tell(event="tried", seconds=self.trial.seconds)
            return None
        points = [point for point in self.plan.points if not self.plan.reason_against(point)]
        if not Calibration.wanted(points):
            return None
        here = self.plan.platform
        stem = f"{self.plan.study}.{here.system.partition(':')[0]}"
        own = f"{stem}.{here.mpi}"  # one MPI's alone: taken over from an older session, to do its work again
        shared = self.folders.calibration / f"{stem}.json"
        kept = Calibration.load(self.folders.calibration / f"{own}.json") or Calibration.load(shared)
        found = kept or self._calibrate(own, points).publish(shared)
        try:
            for point in points:
                found.with_work(point, self.plan.reference(point))
        except KeyError as error:
            raise CalibrationError(f"{shared.name} is of other points, it lacks {error}: take a new session") from error
        self.plan = replace(self.plan, calibrated_on=found.mpi)
        return found

    def _calibrate(self, stem: str, wanted: list[Point]) -> Calibration:
        self._tell(event="calibrating")
        number = 1 if self.plan.scale == TRIAL or self.plan.platform.simulated else CALIBRATIONS
        names = [f"{stem}.calibration{f'.{turn}' if turn else ''}" for turn in range(number)]
        references = [self.plan.reference(point) for point in wanted]
        return Calibration.middle([self._calibrated(name, references) for name in names])

    def _calibrated(self, name: str, wanted: list[Point]) -> Calibration:
        """What one launch finds; its record is kept."""
        launch = Launch(name, "bare", 0, 0)
        output = self.folders.scratch / f"{launch.identity}.jsonl"
        output.unlink(missing_ok=True)
        note = self.folders.scratch / f"{launch.identity}.context.json"
        note.write_text(json.dumps(context(self.plan, launch)))
        points = self.folders.scratch / f"{launch.identity}.points.json" if self.plan.calibrate_points else None
        options = [*Calibration.options(wanted, points), f"--context={note}", f"--output={output}"]
        if self.plan.scale == TRIAL:
            options += self.plan.sampler.options()
        watch = Watch(self.folders.logs / f"{launch.identity}.log", output, self.plan.patience_s())
        arguments = command(self.plan, Recipe().within(self.plan.mpi_environment), options)
        ended = execute(self.plan, arguments, {}, watch)
        record = records.read(output)
        if ended.status != 0 or record.cut_off:
            how = "did not end in time" if ended.status is None else f"ended with status {ended.status}"
            raise CalibrationError(f"the calibration {how}; last words: {ended.last_line or 'none'}")
        here = self.plan.platform
        turns = cpu_turns(record, here.cpus_shared) if here.cpus_too_few else 1.0
        calibration = Calibration.of_record(record, here.mpi, turns)
        records.write(self.folders.calibration / f"{launch.identity}.jsonl", record)
        for path in filter(None, (output, note, points)):
            path.unlink()
        return calibration

    def _record_skipped(self, launch: Launch, skipped: list[tuple[Point, str]]) -> None:
        """A launch none of whose points can be measured here; each says why."""
        reason = "; ".join(dict.fromkeys(why for _, why in skipped))
        record = records.not_run(context(self.plan, launch), [], "skipped", reason, now())
        record.points = [records.unmeasured(point, "skipped", why) for point, why in skipped]
        records.write(records.next_attempt(self.folders.records, launch.identity), record)
        self._done(Outcome(launch, "skipped", reason, 0.0))

    def _record_without_run(self, launch: Launch, points: list[Point], status: str, reason: str) -> None:
        record = records.not_run(context(self.plan, launch), points, status, reason, now())
        records.write(records.next_attempt(self.folders.records, launch.identity), record)
        self._done(Outcome(launch, status, reason, 0.0))

    def _done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        failed = outcome.status in records.FAILURES and not outcome.reason.startswith(records.NOT_RUN)
        if failed and outcome.launch.side and outcome.launch.side.name in self._causes(outcome.launch):
            self.broken.add(outcome.launch.side.name)
        self._tell(
            event="launch",
            variant=outcome.launch.side.name if outcome.launch.side else outcome.launch.variant,
            order=outcome.launch.order,
            status=outcome.status,
            reason=outcome.reason,
            seconds=outcome.seconds,
            found=outcome.found,
        )

    def _tell(self, **facts: Any) -> None:
        """One line for the job's log, and for whoever watches the session's fifo: never waits, never polls."""
        line = json.dumps({"study": self.plan.study, "mpi": self.plan.platform.mpi} | facts)
        print(line, flush=True)
        with contextlib.suppress(OSError):
            fifo = os.open(self.folders.progress, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(fifo, line.encode() + b"\n")
            finally:
                os.close(fifo)


class CalibrationError(Exception):
    """Nothing can be measured without a calibration; the message says what happened to it."""


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise Interrupted


def main(arguments: list[str]) -> int:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _stop)
    plan_file, session = map(Path, arguments)
    try:
        return Runner(Plan.load(plan_file), session).run()
    except UsageError as error:
        print(f"runner: {error}", file=sys.stderr)
        return WRONG_PLAN
    except OSError as error:
        if not records.trouble(session):
            raise
        print(f"runner: {error}", file=sys.stderr)
        return UNWRITABLE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
