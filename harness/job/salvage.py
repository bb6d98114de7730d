# SPDX-License-Identifier: BSD-3-Clause
"""What a killed job left: finished points whose launch never got to its end.

A launch writes into scratch/<record's name>/ and is moved to records/ when it ends. Whatever is still in scratch when
nothing runs any more belongs to a launch that was cut off; its finished points are good if it was what it said it was.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.base.errors import UsageError
from harness.job import records, verify
from harness.job.folders import Folders
from harness.job.plan import Plan

PLAN = "plan.json"
REASON = "the job was killed during this launch"


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
