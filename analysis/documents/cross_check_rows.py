# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of a session the cross-check takes: of a point, of collectives alone or one after the other, of whole
launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Array
from analysis.records import frames


def at(rows: pd.DataFrame | None, **point: Any) -> pd.DataFrame | None:
    """Our rows of a point; None where it was not asked for."""
    if rows is None or not set(point) <= set(rows.columns):
        return None
    wanted = np.logical_and.reduce([rows[name] == value for name, value in point.items()])
    return rows[wanted] if wanted.any() else None


def usual(rows: pd.DataFrame) -> pd.DataFrame:
    """Our rows of a point whose collectives stand alone, as in all our studies."""
    before = _before(rows)
    kept: pd.DataFrame = rows[before == before.min()]
    return kept


def as_theirs(rows: pd.DataFrame) -> pd.DataFrame:
    """Our rows of a point whose collectives follow one another; where none does, the usual ones."""
    before = _before(rows)
    kept: pd.DataFrame = rows[before == before.max()]
    return kept


def _before(rows: pd.DataFrame) -> Array:
    """How many went right before each measured one: none where it is not said."""
    said = rows["back_to_back"] if "back_to_back" in rows.columns else pd.Series(0, rows.index)
    return np.asarray(said.fillna(0), dtype=float)


def whole(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of the launches that were measured well on every rank, and how many others there were and why."""
    kept, lost = [], []
    for _, launch in frames.groups(rows, ["launch"]):
        good = launch["status"] == "ok"
        if set(launch["rank"]) - set(launch.loc[good, "rank"]):
            lost.append(launch[~good].iloc[-1])
        else:
            kept.append(launch[good])
    if not lost:
        return pd.concat(kept), ""
    why = f"{lost[-1]['status']}: {lost[-1]['reason']}"
    if not kept:
        return rows.iloc[:0], why
    return pd.concat(kept), f"{len(lost)} of {len(lost) + len(kept)} launches left out, {why}"
