# SPDX-License-Identifier: BSD-3-Clause
"""How tests wait: for the event, and so long that only what never happens takes longer, on a busy machine as well."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 120.0


def eventually(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    """Does it come true?"""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def lives(pid: int | str) -> bool:
    """Where no init collects orphans, as in many a container, a dead one stays in /proc as a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
