# SPDX-License-Identifier: BSD-3-Clause
"""How long a job takes: as the newest session says that has run the same study on the same system and MPI at the same
scale, else as the plan reckons."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.paths import results_dir
from harness.job import session as sessions
from harness.sessions.request import Request
from reframe_checks.jobs import Job

LOOKED_AT = 20  # sessions, the newest: each is a file to read


def of(job: Job, request: Request) -> tuple[float, str]:
    """Seconds, and the name of the session that they are learnt from; empty where they are reckoned."""
    for name in reversed(sessions.names()[-LOOKED_AT:]):
        folder = results_dir() / name
        try:
            facts = sessions.facts_of(folder)
        except (UsageError, OSError):
            continue
        if (facts.system, facts.scale) != (request.system.name, request.scale) or facts.request is None:
            continue
        pattern = f"{job.study.name}.{request.system.name}.{job.mpi}.*.jsonl"
        took = list(_seconds_a_point(sorted((folder / "records").glob(pattern))))
        if took:
            return statistics.median(took) * sum(len(job.points_of(launch)) for launch in job.launches), name
    return job.estimate_s(), ""


def _seconds_a_point(files: list[Path]) -> Iterator[float]:
    """Of each launch that ended well: its launcher, MPI_Init and end count, too."""
    for path in files:
        try:
            _, *points, last = map(json.loads, path.read_text(errors="replace").splitlines())
            if last["end"]["status"] == "ok":
                yield last["end"]["launch_s"] / len({json.dumps(line["point"], sort_keys=True) for line in points})
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            continue
