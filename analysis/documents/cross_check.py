# SPDX-License-Identifier: BSD-3-Clause
"""Do other tools see what ours see? Their numbers beside ours of the same session, and beside their own formula on our
samples.

A difference of definition goes away in the second comparison; what is left is one of measurement. Agreement is a whole
interval within 5 % (of an overlap: 5 percentage points).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.documents.sources import source
from analysis.evidence import SETTING, Array, Evidence
from analysis.records import frames
from analysis.statistics.bootstrap import of_medians, ratio_of_medians
from analysis.statistics.interval import Interval
from analysis.text_table import markdown
from analysis.words import bytes_text, mpi_title, seconds_text

PREFIX = "cross-check-"
LATENCY, COLLECTIVES = f"{PREFIX}latency", f"{PREFIX}collectives"
IMB, OSU = f"{PREFIX}imb-", f"{PREFIX}osu-"
WITHIN, POINTS = 0.05, 5.0
AGREES, DIFFERS, UNKNOWN = "agrees", "differs", "cannot tell"


@dataclass(frozen=True)
class Comparison:
    """One number of theirs beside ours. `same`: their formula on our samples; `of_same`: theirs over that, of an
    overlap theirs less that, in percentage points."""

    session: str
    system: str
    mpi: str
    variant: str
    study: str
    what: str
    ours: Interval
    same: Interval
    theirs: Interval
    of_same: Interval
    remark: str = ""

    @property
    def overlap(self) -> bool:
        return self.what.startswith("overlap")

    @property
    def verdict(self) -> str:
        """Whether they agree once both mean the same; too few launches decide nothing."""
        if not self.of_same.defensible:
            return UNKNOWN
        low, high = (-POINTS, POINTS) if self.overlap else (1 - WITHIN, 1 + WITHIN)
        if self.of_same.low > high or self.of_same.high < low:
            return DIFFERS
        return AGREES if low <= self.of_same.low and self.of_same.high <= high else UNKNOWN


def comparisons(evidence: Evidence) -> list[Comparison]:
    """All that a session has both sides of."""
    points = evidence.records.points
    if not len(points):
        return []
    good = points[(points["status"] == "ok") & points["study"].astype(str).str.startswith(PREFIX)]
    found: list[Comparison] = []
    for keys, part in frames.groups(good, [*SETTING, "variant"]):
        setting = dict(zip([*SETTING, "variant"], map(str, keys), strict=True))
        studies = {str(name): rows for (name,), rows in frames.groups(part, ["study"])}
        for study, rows in studies.items():
            if study.startswith((IMB, OSU)):
                found += _of_study(evidence, setting, study, rows, studies)
    return found


def _of_study(
    evidence: Evidence, setting: dict[str, str], study: str, rows: pd.DataFrame, studies: dict[str, pd.DataFrame]
) -> Iterator[Comparison]:
    for (point,), theirs in frames.groups(rows, ["point"]):
        said = json.loads(point)
        size = said["size_bytes"]
        name = str(said.get("benchmark", study.removeprefix(OSU))).lower()
        where = {**setting, "study": study}
        if name in ("pingpong", "latency", "bw"):
            ours = _at(studies.get(LATENCY), size_bytes=size)
            if ours is not None:
                yield from _point_to_point(evidence, where, theirs, ours, size)
            continue
        ours = _at(studies.get(COLLECTIVES), collective=name, size_bytes=size)
        if ours is not None:
            yield from _collective(evidence, where, theirs, ours, f"{name}, {bytes_text(size)}")


def _at(rows: pd.DataFrame | None, **point: Any) -> pd.DataFrame | None:
    """Our rows of a point; None where it was not measured."""
    if rows is None:
        return None
    wanted = np.logical_and.reduce([rows[name] == value for name, value in point.items()])
    return rows[wanted] if wanted.any() else None


def _point_to_point(
    evidence: Evidence, where: dict[str, str], theirs: pd.DataFrame, ours: pd.DataFrame, size: int
) -> Iterator[Comparison]:
    median = evidence.launches(ours, "latency_s", "median")
    mean = evidence.launches(ours, "latency_s", "mean")
    if times := evidence.launches(theirs, "latency_s", "median"):
        yield _compared(where, f"latency, {bytes_text(size)}", median, mean, times)
    if rates := evidence.launches(theirs, "bytes_per_s", "median"):
        mine, as_theirs = ([size / launch for launch in launches] for launches in (median, mean))
        found = _compared(where, f"bandwidth, {bytes_text(size)}", mine, as_theirs, rates)
        many = "theirs has a window of messages under way, ours one" if where["study"].startswith(OSU) else ""
        yield replace(found, remark=many)


def _compared(
    where: dict[str, str], what: str, ours: Sequence[Array], same: Sequence[Array], theirs: Sequence[Array]
) -> Comparison:
    return Comparison(**where, what=what, ours=_middle(ours), same=_middle(same), theirs=_middle(theirs),
                      of_same=ratio_of_medians(theirs, same))  # fmt: skip


def _middle(launches: Sequence[Array]) -> Interval:
    return of_medians(lambda value: value, {"value": launches})


def _collective(
    evidence: Evidence, where: dict[str, str], theirs: pd.DataFrame, ours: pd.DataFrame, what: str
) -> Iterator[Comparison]:
    alone = list(_over_ranks(evidence, ours))
    if (pure := evidence.launches(theirs, "pure_s", "median")) and alone:
        slowest, mean = ([launch[index] for launch in alone] for index in (0, 1))
        yield _compared(where, f"alone: {what}", slowest, mean, pure)
    shares = evidence.launches(theirs, "overlap", "median")
    metrics = _metrics(evidence, where, ours)
    formula = "osu_overlap" if where["study"].startswith(OSU) else "imb_overlap"
    if shares and formula in metrics and "overlap_efficiency" in metrics:
        printed = _middle([100 * launch for launch in shares])
        same = metrics[formula]
        gap = replace(
            printed,
            value=printed.value - same.value,
            low=printed.low - same.high,
            high=printed.high - same.low,
            defensible=printed.defensible and same.defensible,
        )
        stolen = metrics.get("compute_inflation")
        remark = f"the computation takes {_number(stolen)} times as long beside it" if stolen else ""
        hidden = metrics["overlap_efficiency"]
        yield Comparison(**where, what=f"overlap: {what}", ours=hidden, same=same, theirs=printed, of_same=gap,
                         remark=remark)  # fmt: skip


def _over_ranks(evidence: Evidence, rows: pd.DataFrame) -> Iterator[tuple[Array, Array]]:
    """Of each launch the collective alone: the slowest rank's median, and as the tools have it the mean over ranks."""
    for _, ranks in frames.groups(rows, ["launch"]):
        medians, means = [], []
        for row in ranks.index:
            one = ranks.loc[[row]]
            for whole in evidence.launches(one, "comm_s", "median"):
                closing = evidence.launches(one, "ack_s", "median")
                less = closing[0] if closing else np.zeros(1)
                medians.append(float(np.median(whole) - np.median(less)))
                means.append(float(np.mean(whole) - np.mean(less)))
        if medians:
            yield np.array([max(medians)]), np.array([float(np.mean(means))])


def _metrics(evidence: Evidence, where: dict[str, str], ours: pd.DataFrame) -> dict[str, Interval]:
    """Our metrics of a point, by name."""
    frame = evidence.metrics
    if not len(frame):
        return {}
    same = [frame[name] == where[name] for name in (*SETTING, "variant")]
    mine = frame[np.logical_and.reduce([*same, frame["study"] == COLLECTIVES, frame["point"] == ours["point"].iloc[0]])]
    return {
        row["metric"]: Interval(row["value"], row["low"], row["high"], row["interval"], row["defensible"])
        for row in frames.rows(mine)
        if np.isfinite(row["value"])
    }


def _number(interval: Interval) -> str:
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def text_of(comparison: Comparison, interval: Interval, ours: bool = False) -> str:
    """A number with its interval as it stands in the table."""
    if comparison.overlap:
        return f"efficiency {_number(interval)}" if ours else f"{interval.value:.0f} %"
    if comparison.what.startswith("bandwidth"):
        return f"{interval.value / 1e6:.4g} MB/s"
    return seconds_text(interval.value)


def document(evidence: Evidence) -> str:
    """The whole table as Markdown, a row a number, with what is said of it."""
    columns = ["session", "system", "study", "MPI", "variant", "what", "ours", "their formula on our samples", "theirs",
               "theirs / that", "verdict"]  # fmt: skip
    lines = [
        [one.session, one.system, one.study, mpi_title(one.mpi), one.variant, one.what,
         text_of(one, one.ours, ours=True), text_of(one, one.same), text_of(one, one.theirs),
         _number(one.of_same) + (" points" if one.overlap else ""),
         ", ".join(filter(None, [one.verdict, "" if one.of_same.defensible else "too few launches", one.remark]))]
        for one in comparisons(evidence)
    ]  # fmt: skip
    if not lines:
        return "No session has both our numbers and another tool's: ./bench run cross-check measures them.\n"
    said = [source(session) for session in evidence.records.sessions]
    return "\n".join([*markdown(columns, lines), "", *said, *evidence.records.cautions(), ""])
