# SPDX-License-Identifier: BSD-3-Clause
"""What the papers claim, decided from intervals; history.json says when each claim was written and last changed.

from analysis.claims import table
print(table([Path("results/latest")]).text())
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.claims.decided import ClaimTable


def table(sessions: Sequence[Path]) -> ClaimTable:
    """All claims of the 26 studies against the records of `sessions` (none: all are `not measured`).

    Raises UsageError where a session does not exist.
    """
    from analysis.claims.decided import build  # noqa: PLC0415
    from analysis.load import load  # noqa: PLC0415

    return build(load(sessions))
