# SPDX-License-Identifier: BSD-3-Clause
"""Overlap against computation, where both take as long, and the time of a send against its size: as Denis, pioman, PDP
2015, figures 7 to 9."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.plot import Plot, plain_words
from analysis.figures.style import VariantStyle
from analysis.figures.toolkit import Drawn
from analysis.metrics.evaluate import STUDY, at_equal, measured_ratio
from analysis.metrics.formulas import COMP_EQUALS_COMM, LEAST_EFFICIENCY, METRICS
from analysis.records import frames
from analysis.words import added_text, bytes_text, seconds_text

SEND_TIME = "send-time"
SEND_TIME_TITLE = "Send time against message size"
RATIO = "Overlap ratio against computation"
EFFICIENCY = "Overlap where computation takes as long as communication"
PATTERNS = {"both": "both sides compute", "sender": "sender computes", "receiver": "receiver computes"}
HIGHEST = 8.0  # of a ratio: what lies above is drawn at the edge, as it is off the page in any sense
LOWEST = LEAST_EFFICIENCY  # of an efficiency: further left, the time added stands beside an arrow at the edge
SIZE_COLORS = ["#56B4E9", "#0072B2", "#002f4d", "#E69F00", "#CC79A7", "#009E73"]


def efficiency(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Overlap efficiency where comp = comm, and beside it what that cost the computation: one a system and pattern."""
    part = at_equal(evidence.shown)
    if not len(part) or not part["value"].notna().any():
        return []
    part = _with_added(part, evidence.metrics)
    several = part["system"].nunique() > 1
    return [
        _drawn_efficiency(group, str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def _with_added(part: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`part` with the time added (s) to perfect overlap and its interval, of the same points."""
    by = ["session", "system", "mpi", "study", "variant", "point"]
    added = frame.loc[frame["metric"] == "added_time", [*by, "value", "low", "high"]]
    return part.merge(added.rename(columns={name: f"added_{name}" for name in ("value", "low", "high")}), "left", by)


def _drawn_efficiency(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    caption = _efficiency_caption(part, pattern, provenance)
    plot = Plot(
        x="variant", x_label="", y_label="efficiency, inflation", x_axis="words", series="size_bytes", row="metric",
        look=_size_look, words=_efficiency_words,
        lines={"perfect": 1.0}, order=(*style.STYLES, "overlap_efficiency", "compute_inflation"), lowest=LOWEST,
        hollow=lambda point: abs(point["comp_over_comm_measured"] - 1) > COMP_EQUALS_COMM,
        beyond=lambda point: added_text(*(point[f"added_{name}"] for name in ("value", "low", "high"))),
    )  # fmt: skip
    return Drawn(toolkit.slug("overlap_efficiency", pattern, system), EFFICIENCY, caption, part, plot)


def _efficiency_words(value: Any, name: str) -> str:
    return METRICS[value].title if name == "metric" else plain_words(value, name)


def _size_look(size: float, place: int) -> VariantStyle:
    return VariantStyle(SIZE_COLORS[place % 6], style.SIZE_MARKERS[place % 6], "-", bytes_text(size))


def _efficiency_caption(part: pd.DataFrame, pattern: str, provenance: str) -> str:
    efficiency, inflation = METRICS["overlap_efficiency"], METRICS["compute_inflation"]
    measured = part["comp_over_comm_measured"]
    off = measured.sub(1).abs() > COMP_EQUALS_COMM
    bars = toolkit.interval_words(part).replace("Bands", "Bars")
    hollow = (
        f" Hollow marks: comp was not within {100 * COMP_EQUALS_COMM:g} % of comm when measured "
        f"(comp / comm from {measured.min():.2f} to {measured.max():.2f})."
        if off.any()
        else ""
    )
    low = part.loc[part["metric"] == "overlap_efficiency", "value"].min() < LOWEST
    added = f" Below {LOWEST:g}, the time added to max(comp, comm) stands in its place." if low else ""
    return (
        f"{EFFICIENCY}, pattern {pattern}. Efficiency: {efficiency.formula}; inflation: {inflation.formula}; "
        f"medians, comm and comp of bare in the same session.{added}{hollow} {bars} {provenance}"
    )


def ratio(evidence: Evidence, provenance: str) -> list[Drawn]:
    """As figures 7 and 8 of the paper: total / comp against computation, a column an MPI, a row a pattern."""
    frame = evidence.shown
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "overlap_ratio")]
    if "comp_over_comm" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _drawn_ratio(
            group.assign(x=measured_ratio(group)).sort_values("comp_over_comm"),
            size,
            provenance,
            system if several else None,
        )
        for (system, size), group in frames.groups(part, ["system", "size_bytes"])
        if group["value"].notna().any()
    ]


def _drawn_ratio(part: pd.DataFrame, size: float, provenance: str, system: Any) -> Drawn:
    metric = METRICS["overlap_ratio"]
    caption = (
        f"{RATIO}, {bytes_text(size)} messages: {metric.formula} (lower is better; {metric.source}). "
        "comm and comp are those of bare in the same session, and so is their ratio on the axis; ratios of medians. "
        f"{toolkit.hidden_words(part, ['mpi', 'variant', 'pattern', 'comp_over_comm'])}"
        f"{toolkit.interval_words(part)} {provenance}"
    )
    plot = Plot(
        x="x", place="comp_over_comm", x_label="computation / communication", y_label="total / comp", log_y=True,
        row="pattern",
        guides={"perfect overlap": lambda x: np.maximum(1, 1 / x), "no overlap: 1 + comm / comp": lambda x: 1 + 1 / x},
        words=lambda value, name: PATTERNS.get(str(value), plain_words(value, name)),
        order=(*PATTERNS, *style.STYLES), highest=HIGHEST,
    )  # fmt: skip
    return Drawn(toolkit.slug("overlap_ratio", bytes_text(size), system), RATIO, caption, part, plot)


def send_time(evidence: Evidence, provenance: str) -> list[Drawn]:
    """One figure a system and pattern."""
    frame = evidence.shown
    part = frame[(frame["study"] == SEND_TIME) & (frame["metric"] == "send_time")]
    if "comp_s" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _drawn_send_time(group.sort_values("size_bytes"), str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def _send_time_words(value: Any, parameter: str) -> str:
    said = plain_words(value, parameter)
    return f"computation {said}" if parameter == "comp_s" else said


def _drawn_send_time(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    metric = METRICS["send_time"]
    caption = (
        f"{SEND_TIME_TITLE}, pattern {pattern}: {metric.formula} until both sides are complete, less the "
        f"acknowledgement's latency (lower is better; {metric.source}). comm and comp are those of bare in the same "
        f"session. {toolkit.hidden_words(part, ['mpi', 'variant', 'comp_s', 'size_bytes'])}"
        f"{toolkit.work_words(part)}{toolkit.interval_words(part)} {provenance}"
    )
    plot = Plot(
        x="size_bytes", x_label="message size", y_label="send time", x_axis="bytes", log_y=True, row="comp_s",
        say=seconds_text,
        words=_send_time_words, order=tuple(style.STYLES),
        references={"perfect overlap: max(comp, comm)": "ideal", "no overlap: comp + comm": "serial"},
    )  # fmt: skip
    return Drawn(toolkit.slug("send_time", pattern, system), SEND_TIME_TITLE, caption, part, plot)
