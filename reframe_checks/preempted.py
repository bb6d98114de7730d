# SPDX-License-Identifier: BSD-3-Clause
"""The end of a batch job that Slurm preempts.

ReFrame takes PREEMPTED for the state of a job that waits, since the site may put it back into the queue. One that is
not put back stays PREEMPTED, and accounting may say so of one that was requeued and has ended: ReFrame would wait for
ever. The queue tells the difference: what has not been in it for GONE_S comes back no more.
"""

from __future__ import annotations

import time
from typing import Any

from harness.base import process

SCHEDULERS = ("slurm", "squeue")  # of ReFrame: those that ask Slurm
STATE = "PREEMPTED"
GONE_S = 60.0
ANSWER_LIMIT_S = 30.0
NO_SUCH_JOB = "Invalid job id"  # squeue, of a job that the controller has forgotten
WATCHED = "_overlap_bench_ends_preempted"


def ends(scheduler: Any) -> None:
    """Have this scheduler of ReFrame's say of such a job that it has finished."""
    if getattr(scheduler, WATCHED, False):
        return
    finished = scheduler.finished
    gone: dict[str, float] = {}

    def told(job: Any) -> bool:
        return bool(finished(job)) or _gone(job, gone)

    setattr(scheduler, WATCHED, True)
    scheduler.finished = told


def _gone(job: Any, since: dict[str, float]) -> bool:
    """Whether it is preempted, and for how long its number is not in the queue says that it stays so."""
    number = str(job.jobid)
    if job.state != STATE or in_queue(number):
        since.pop(number, None)
        return False
    return time.monotonic() - since.setdefault(number, time.monotonic()) >= GONE_S


def in_queue(number: str) -> bool:
    """Whether the job waits or runs; also where Slurm does not answer, since nothing is known then."""
    asked = process.answer(["squeue", "--noheader", f"--jobs={number}"], ANSWER_LIMIT_S)
    if asked.status == 0:
        return bool(asked.out.strip())
    return NO_SUCH_JOB not in asked.err
