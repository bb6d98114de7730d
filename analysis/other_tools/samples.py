# SPDX-License-Identifier: BSD-3-Clause
"""Our samples as other tools would print them: which of our rows mean what theirs do, and the times that go into their
formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Array, Evidence
from analysis.metrics.formulas import Times
from analysis.records import frames


def at(rows: pd.DataFrame | None, **point: Any) -> pd.DataFrame | None:
    """Our rows of a point; None where it was not asked for."""
    if rows is None or not set(point) <= set(rows.columns):
        return None
    wanted = np.logical_and.reduce([rows[name] == value for name, value in point.items()])
    return rows[wanted] if wanted.any() else None


def standing_alone(rows: pd.DataFrame) -> pd.DataFrame:
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


def until_all_are_done(evidence: Evidence, rows: pd.DataFrame) -> list[Array]:
    """Of each launch the collective alone, by medians: the slowest rank's, less the closing barrier's."""
    found = []
    for _, ranks in frames.groups(rows, ["launch"]):
        each = [
            _middle_of(evidence, row, "comm_s", "median") - _middle_of(evidence, row, "ack_s", "median", missing=0)
            for row in ranks.index
        ]
        if known := [time for time in each if not np.isnan(time)]:
            found.append(np.array([max(known)]))
    return found


def of_tool(evidence: Evidence, rows: pd.DataFrame, of_osu: bool) -> list[Times]:
    """Of each launch the times that the tool's program would print, all of the variant itself.

    To both tools a collective ends for a rank with that rank's own part, and both take means over iterations. OSU
    prints their means over ranks (print_stats_nbc in util/osu_util_mpi.c), IMB those of the rank whose collective with
    computation takes longest (IMB_display_times in src_c/IMB_output.c): as each computes for the time of its own part,
    the rank whose own part is longest, which is told here also where all compute alike.
    """
    found = []
    for _, ranks in frames.groups(rows, ["launch"]):
        each = [times for times in (_of_rank(evidence, row) for row in ranks.index) if not np.isnan(times).any()]
        if each:
            total, comm, comp, inside = np.mean(each, axis=0) if of_osu else max(each, key=lambda times: times[1])
            found.append(Times(comm, comp, total, inside, wait=np.nan, own_comm=comm, own_comp=comp))
    return found


def _of_rank(evidence: Evidence, row: int) -> tuple[float, float, float, float]:
    """total, comm, comp and comp_in. Sessions that lack the times of a rank's own part have in their place those until
    all ranks are done."""
    mean = {
        name: _middle_of(evidence, row, f"{name}_s", "mean")
        for name in ("total", "comm", "own_comm", "comp", "comp_in", "post", "wait")
    }
    receives = evidence.records.points.at[row, "role"] == "receiver"  # done before its acknowledgement is sent
    closing = 0.0 if receives else _middle_of(evidence, row, "ack_s", "mean", missing=0)
    total = mean["post"] + mean["comp_in"] + mean["wait"]
    return (
        mean["total"] - closing if np.isnan(total) else total,
        mean["comm"] - closing if np.isnan(mean["own_comm"]) else mean["own_comm"],
        mean["comp"],
        mean["comp_in"],
    )


def _middle_of(evidence: Evidence, row: int, quantity: str, statistic: str, missing: float = np.nan) -> float:
    found = evidence.of_rank(row, quantity, statistic)
    return float(np.median(found[0])) if found else missing
