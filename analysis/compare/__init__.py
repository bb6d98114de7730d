# SPDX-License-Identifier: BSD-3-Clause
"""Is NEW slower than BASE? A verdict for every point and one for the session that can be trusted in CI.

comparison = compare(Path("results/base"), Path("results/new"))
print(comparison.markdown()); raise SystemExit(comparison.status)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.compare.comparison import Comparison

MARGIN = 0.02  # differences below 2 % are of no interest, however certain
FALSE_ALARMS = 0.01  # probability of any false alarm in a session, over all its points


def compare(
    base: Path, new: Path, force: bool = False, margin: float = MARGIN, false_alarms: float = FALSE_ALARMS
) -> Comparison:
    """Compares two sessions. UsageError where one does not exist, or where they are of different machines or networks
    (the message says which; `force` compares all the same and keeps the reasons as notes)."""
    from analysis.compare.judge import judge  # noqa: PLC0415

    return judge(base, new, force, margin, false_alarms)
