# SPDX-License-Identifier: BSD-3-Clause
"""Records of launches that their batch job never came to: a dead node, a time limit, a cancelled job.

Nothing is dropped (metrics.md): a planned point is measured, or there is a record that says why it is not. How the job
ended is in ReFrame's report (reframe_checks.base_check writes the scheduler's word there).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.job import records
from harness.job.launch import now
from harness.job.plan import Launch
from harness.job.session import Session
from reframe_checks.jobs import Job

STATES = {
    "BOOT_FAIL": "a node of the batch job did not boot",
    "CANCELLED": "the batch job was cancelled",
    "DEADLINE": "the batch job reached its deadline",
    "NODE_FAIL": "a node of the batch job died",
    "OUT_OF_MEMORY": "the batch job ran out of memory",
    "PREEMPTED": "the batch job was preempted",
    "TIMEOUT": "the batch job reached its time limit",
}
EXITS = {records.STOPPED: "the batch job was told to stop", records.UNWRITABLE: "the results could not be written"}


def record(job: Job, session: Session, report: Path) -> tuple[int, str]:
    """Write a record of each launch of `job` that has points without any; how many, and why. Raises OSError."""
    case = _test_case(report, job.mpi)
    why = _how_it_ended(case, report)
    reason = f"{records.NOT_RUN}{why}"
    written = 0
    for launch in job.launches:
        known = {
            records.key(line["point"])
            for path in records.attempts(session.folders.records, launch.identity)
            for line in records.read(path).points
        }
        lacking = [point for point in job.points_of(launch) if records.key(point) not in known]
        if lacking:
            left = records.not_run(_context(job, launch, session, case), lacking, "failed", reason, now())
            records.write(records.next_attempt(session.folders.records, launch.identity), left)
            written += 1
    return written, why


def _test_case(report: Path, mpi: str) -> dict[str, Any]:
    """What ReFrame says of the job, or of the build that it waited for in vain; empty if it says nothing."""
    try:
        cases = [case for run in json.loads(report.read_text())["runs"] for case in run["testcases"]]
        ours = [case for case in cases if case["environ"] == mpi]
        broken = [case for case in ours if case["fixture"] and case["result"] == "fail"]
        return dict((broken or [case for case in ours if not case["fixture"]])[-1])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return {}


def _how_it_ended(case: dict[str, Any], report: Path) -> str:
    """In words, with the scheduler's own word where there is one."""
    state = case.get("job_state") or ""
    complaint = " ".join(str(case.get("fail_reason") or "").split())
    if "blocked" in complaint:  # by a drained node or a limit: ReFrame has cancelled it for that
        return (
            f"{complaint}; with sched_options in the site's file, as ./bench site new writes them, a job waits for that"
        )
    if state in STATES:
        return f"{STATES[state]} ({state})"
    if case.get("job_exitcode") in EXITS:
        return EXITS[case["job_exitcode"]]
    if state:
        return f"the batch job ended as {state} before this launch"
    return complaint or f"ReFrame ended without a word on this job, see {report.with_suffix('.log').name}"


def _context(job: Job, launch: Launch, session: Session, case: dict[str, Any]) -> dict[str, Any]:
    """The header's context, as the runner would have written it (harness.job.launch.context)."""
    system = f"{case['system']}:{case['partition']}" if case else session.facts.system
    return {
        "session": session.name,
        "launch": launch.identity,
        "study": job.study.name,
        "system": system,
        "mpi": job.mpi,
        "variant": launch.variant,
        "repetition": launch.repetition,
        "order": launch.order,
        "scale": session.facts.scale,
        "test_case": "",
        "network": session.facts.network,
        **({"side": launch.side.name} if launch.side else {}),
    }
