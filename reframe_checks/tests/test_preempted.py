# SPDX-License-Identifier: BSD-3-Clause
"""Of a job that Slurm has preempted the queue says whether it comes back."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from reframe.core.schedulers.slurm import slurm_state_completed, slurm_state_pending

from reframe_checks import preempted

ABSENT = "slurm_load_jobs error: Invalid job id specified"


class Scheduler:
    """ReFrame's, as far as it says what has finished."""

    def finished(self, job: SimpleNamespace) -> bool:
        return bool(slurm_state_completed(job.state))


@pytest.fixture
def scheduler() -> Scheduler:
    made = Scheduler()
    preempted.ends(made)
    preempted.ends(made)  # each check of a partition asks for it
    return made


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the queue says: the file's lines are a script's."""
    program = tmp_path / "squeue"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def says(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")


def test_reframe_alone_would_wait_for_it() -> None:
    """Where this fails, ReFrame has learned to tell, and this module can go."""
    assert slurm_state_pending(preempted.STATE) and not slurm_state_completed(preempted.STATE)


@pytest.mark.parametrize("said", ["exit 0", f"echo '{ABSENT}' >&2; exit 1"])
def test_a_job_that_left_the_queue_for_good_has_finished(
    said: str, scheduler: Scheduler, squeue: Path, clock: list[float]
) -> None:
    job = SimpleNamespace(jobid="7", state="PREEMPTED")
    says(squeue, said)
    assert not scheduler.finished(job), "it may be on its way back"
    clock[0] += preempted.GONE_S - 1
    assert not scheduler.finished(job)
    clock[0] += 1
    assert scheduler.finished(job)


@pytest.mark.parametrize(
    "said", ["echo '7 main gate me PD 0:00 4 (BeginTime)'", "echo 'Unable to contact' >&2; exit 1"]
)
def test_a_job_that_waits_or_of_which_nothing_is_known_has_not(
    said: str, scheduler: Scheduler, squeue: Path, clock: list[float]
) -> None:
    job = SimpleNamespace(jobid="7", state="PREEMPTED")
    says(squeue, "exit 0")
    assert not scheduler.finished(job)
    says(squeue, said)
    clock[0] += 10 * preempted.GONE_S
    assert not scheduler.finished(job)
    says(squeue, "exit 0")
    assert not scheduler.finished(job), "the time in which it is gone begins anew"


@pytest.mark.parametrize(
    ("state", "ended"), [("COMPLETED", True), ("TIMEOUT", True), ("RUNNING", False), (None, False)]
)
def test_of_every_other_state_reframe_is_right(state: str | None, ended: bool, scheduler: Scheduler) -> None:
    """Without a word of the queue: there is no program squeue."""
    assert scheduler.finished(SimpleNamespace(jobid="7", state=state)) is ended
