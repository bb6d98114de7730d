# SPDX-License-Identifier: BSD-3-Clause
"""How tests wait: for the event, and so long that only what never happens takes longer, on a busy machine as well."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 120.0


def eventually(condition: Callable[[], bool], within_s: float = PATIENCE_S) -> bool:
    """Does it come true?"""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
