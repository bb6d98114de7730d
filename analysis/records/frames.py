# SPDX-License-Identifier: BSD-3-Clause
"""The few pandas idioms used everywhere, with types that say what comes out; and which launches failed at a point,
though others of the same point may be good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """(values of `by`, rows) in order of first appearance; missing values make a group of their own."""
    for keys, part in frame.groupby(list(by), sort=False, dropna=False):
        yield (keys if isinstance(keys, tuple) else (keys,)), part


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def unique(column: pd.Series[Any]) -> list[Any]:
    """The values without repetition, in order of first appearance, missing ones left out."""
    return list(column.dropna().unique())


NOT_NEEDED = "not needed"  # with which the reason of a launch begins that was left out, as enough was known
KNOWN = ("expected failure", "unexpected success")  # the same, of what is known to fail on an MPI
NOT_RUN = "not run: "  # with which the reason of a launch begins that a job never came to


def failed(points: pd.DataFrame) -> dict[str, str]:
    """Launch -> "status: reason" of what was not measured on one of its ranks, and was not by a later run of the same
    launch either. `points` are the rows of one variant at one point."""
    bad = points[points["status"] != "ok"]
    found = {}
    for launch in unique(bad["launch"]):
        mine = points[points["launch"] == launch]
        if set(mine["rank"]) - set(mine.loc[mine["status"] == "ok", "rank"]):
            found[str(launch)] = _words(bad[bad["launch"] == launch].iloc[-1])
    return found


def unmeasured(points: pd.DataFrame) -> str:
    """ "status: reason" where no launch has measured these rows; empty where one has, or none was to."""
    return "" if not len(points) or points["status"].eq("ok").any() else _words(points.iloc[0])


def partly(points: pd.DataFrame, whose: str = "") -> str:
    """What must be said beside the value of those launches that did not fail; empty where all are good. What cannot be
    measured here at all is no failure."""
    bad = failed(points[points["status"] != "skipped"])
    if not bad:
        return ""
    of, why = f"of {whose} " if whose else "", next(iter(bad.values()))
    return f"{len(bad)} of {points['launch'].nunique()} launches {of}failed ({why}): the value is of the others"


def _words(row: pd.Series[Any]) -> str:
    return ": ".join(str(part) for part in (row["status"], row["reason"]) if part)
