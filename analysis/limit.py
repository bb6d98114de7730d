# SPDX-License-Identifier: BSD-3-Clause
"""How near the engine comes to what a program without MPI reaches (variant `limit`), and whether that is the goal.

    .venv/bin/python -m analysis.limit SESSION...

Ends with status 1 where the goal is missed anywhere, or cannot be told (fewer than six rounds, a disturbed machine), or
nothing was measured; with 2 where there is no such session.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Evidence
from analysis.metrics.evaluate import REFERENCE, at_equal
from analysis.metrics.times import LIMIT, doubts, rounds_words
from analysis.records import frames
from analysis.tables import tell
from analysis.words import point_words

ENGINE = "adaptive"
# The goal: the median share of the limit's efficiency, its lower bound, and the inflation beyond the limit's. It is
# missed where the whole interval is on the other side.
SHARE, LOWEST_SHARE, MORE_INFLATION = 0.98, 0.95, 0.02


def goals(frame: pd.DataFrame) -> Iterator[tuple[str, bool]]:
    """At comp = comm: how near the engine comes to the limit, in words, and whether that is shown to be the goal."""
    equal = at_equal(frame)
    compared = equal[equal["variant"].isin([ENGINE, LIMIT, REFERENCE])]
    for (session, mpi, _), part in frames.groups(equal[equal["variant"] == ENGINE], ["session", "mpi", "point"]):
        rows = {row["metric"]: row for row in frames.rows(part)}
        share, more = rows["overlap_efficiency"], rows["compute_inflation"]
        where = f"{session}, {mpi}, {point_words(share['point'])}"
        if not np.isfinite(share.get("against_limit_value", np.nan)):
            yield f"{where}: not known, no round has {ENGINE}, limit and bare", False
            continue
        place = (compared["session"] == session) & (compared["mpi"] == mpi) & (compared["point"] == share["point"])
        doubted = {name: doubts(row, frames.rows(compared[place])) for name, row in (("share", share), ("more", more))}
        value, low, high = (share[f"against_limit_{name}"] for name in ("value", "low", "high"))
        near = value >= SHARE and low >= LOWEST_SHARE, high < SHARE
        light = more["against_limit_high"] <= MORE_INFLATION, more["against_limit_low"] > MORE_INFLATION
        yield (
            f"{where}: efficiency {share['value']:.3f}, of the limit's {_words(share)} "
            f"({_judged(*near, doubted['share'])}); inflation {more['value']:.3f}, beyond the limit's {_words(more)} "
            f"({_judged(*light, doubted['more'])})",
            near[0] and light[0] and not any(doubted.values()),
        )


def _judged(reached: bool, missed: bool, doubted: Sequence[str]) -> str:
    said = "reached" if reached else "missed" if missed else "cannot tell: the interval reaches over the goal"
    return f"cannot tell, points to {said}: {', '.join(doubted)}" if doubted and (reached or missed) else said


def _words(row: Mapping[str, Any]) -> str:
    value, low, high = (row[f"against_limit_{name}"] for name in ("value", "low", "high"))
    return f"{value:.3f} ({low:.3f} to {high:.3f}; {row['against_limit']}, {rounds_words(row)})"


def table(evidence: Evidence) -> str:
    """The goal, and a line a point that says how near it is."""
    found = [words for words, _ in goals(evidence.metrics)] or ["nothing was measured at comp = comm"]
    aim = f"{ENGINE} at least {SHARE} of the limit's efficiency, lower bound {LOWEST_SHARE}"
    return "\n".join([f"goal: {aim}; inflation at most {MORE_INFLATION} beyond the limit's", *found])


def main(sessions: Sequence[str]) -> int:
    """0 where the goal is shown to be reached at every point, 1 where it is not, or nothing was measured."""
    evidence = tell("limit", sessions, "How near the engine comes to what a program without MPI reaches.", table)
    reached = [near for _, near in goals(evidence.metrics)]
    return 0 if reached and all(reached) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
