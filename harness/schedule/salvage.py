# SPDX-License-Identifier: BSD-3-Clause
"""What a killed job left: finished points whose launch never got to its end.

A launch writes into scratch/<record's name>/ and is moved to records/ when it ends. Whatever is still in scratch when
nothing runs any more belongs to a launch that was cut off; its finished points are good.
"""

from __future__ import annotations

import shutil

from harness.schedule import records
from harness.schedule.folders import Folders

REASON = "the job was killed during this launch"


def salvage(folders: Folders) -> int:
    """Turn leftovers into record files; return how many. Call it only while no job of this session runs."""
    saved = 0
    for scratch in sorted(folders.scratch.glob("*")):
        if not scratch.is_dir():
            continue
        target = folders.records / f"{scratch.name}.jsonl"
        left = records.read(scratch / "record.jsonl")
        if left.points and left.header is not None and not target.exists():
            left.end = (left.end or {"ranks": [], "elapsed_s": 0.0}) | {"status": "interrupted", "reason": REASON}
            records.write(target, left)
            saved += 1
        shutil.rmtree(scratch, ignore_errors=True)
    return saved
