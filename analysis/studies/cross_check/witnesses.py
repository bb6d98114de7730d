# SPDX-License-Identifier: BSD-3-Clause
"""Our numbers beside those of IMB and OSU, of one session: agreement, or by how much they differ."""

from __future__ import annotations

import pandas as pd

from analysis.chapter import Chapter
from analysis.documents.cross_check import (
    AGREES,
    DIFFERS,
    POINTS,
    PREFIX,
    UNKNOWN,
    UNLIKE,
    WITHIN,
    Beside,
    Comparison,
    compare,
    text_of,
)
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn

BOUNDS = {"5 % less": 1 - WITHIN, "5 % more": 1 + WITHIN}


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each of their times and rates over what their formula gives on our samples: one figure, all MPIs."""
    found = compare(evidence)
    times = [one for one in found if isinstance(one, Comparison) and not one.overlap]
    if not times:
        return []
    title = "Other tools' numbers beside ours of the same session"
    formula = "their number over that of their own formula on our samples (1: the same)"
    drawn = intervals.draw("cross_check", title, formula, "theirs / ours", BOUNDS, _frame(times), provenance)
    drawn.found = _found(found)
    return [drawn]


def _frame(times: list[Comparison]) -> pd.DataFrame:
    return pd.DataFrame(
        {"session": one.session, "system": one.system, "study": one.study}
        | {"label": _label(one)}
        | {"mpi": one.mpi, "variant": one.variant, "value": one.of_same.value, "low": one.of_same.low}
        | {"high": one.of_same.high, "interval": one.of_same.kind, "status": "ok", "reason": one.unsure}
        | {"verdict": one.verdict}
        for one in times
    )


def _label(one: Comparison) -> str:
    tool = one.study.removeprefix(PREFIX).partition("-")[0].upper()
    return f"{tool}: {one.what}" + (f" ({UNLIKE})" if one.unlike else "")


def _found(beside: list[Beside]) -> str:
    """How many agree, how many have no second side, and the overlaps that look better than they are."""
    found = [one for one in beside if isinstance(one, Comparison)]
    counts = {word: sum(one.verdict == word for one in found) for word in (AGREES, DIFFERS, UNKNOWN, UNLIKE)}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    lines = [f"Of {len(found)} numbers, within {100 * WITHIN:g} % or {POINTS:g} percentage points: {said}."]
    if alone := len(beside) - len(found):
        lines.append(f"{alone} more could not be compared: `python -m analysis.cross_check` says which, and why.")
    for one in found:
        if one.overlap and one.theirs.value - 100 * one.ours.value > 100 * WITHIN:
            lines.append(
                f"{one.what} on {one.mpi}, {one.variant}: they say {text_of(one, one.theirs)}, our efficiency is "
                f"{text_of(one, one.ours, ours=True).removeprefix('efficiency ')}; {one.remark}."
            )
    return " ".join(lines)


CHAPTER = Chapter(
    "cross-check",
    (f"{PREFIX}*",),
    "",
    "other tools beside ours",
    figures=(draw,),
    note="nothing is claimed of it: other tools are witnesses of our numbers",
)
