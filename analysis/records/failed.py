# SPDX-License-Identifier: BSD-3-Clause
"""Which launches failed at a point, though others of the same point may be good."""

from __future__ import annotations

import pandas as pd

from analysis.records import frames


def failed(points: pd.DataFrame) -> dict[str, str]:
    """Launch -> "status: reason" of what was not measured on one of its ranks, and was not by a later run of the same
    launch either. `points` are the rows of one variant at one point."""
    bad = points[points["status"] != "ok"]
    found = {}
    for launch in frames.unique(bad["launch"]):
        mine = points[points["launch"] == launch]
        if set(mine["rank"]) - set(mine.loc[mine["status"] == "ok", "rank"]):
            last = bad[bad["launch"] == launch].iloc[-1]
            found[str(launch)] = ": ".join(str(part) for part in (last["status"], last["reason"]) if part)
    return found
