# SPDX-License-Identifier: BSD-3-Clause
"""One line a thing that was measured, a mark with its interval a variant, a column an MPI: what is held against a
budget rather than followed along an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.toolkit import Drawn, Plot
from analysis.records import frames


def wanted(evidence: Evidence, found: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows that are to be drawn; empty where none of them has a value. Where they do not say of which session,
    system and study they are, it is those of all records."""
    frame = pd.DataFrame(found)
    for name in ("session", "system", "study"):
        if name not in frame and len(frame):
            frame[name] = ", ".join(map(str, frames.unique(evidence.records.launches[name])))
    frame = evidence.choice.of(frame)
    return frame if len(frame) and frame["value"].notna().any() else frame.iloc[:0]


def draw(
    evidence: Evidence,
    provenance: str,
    points: Sequence[Mapping[str, Any]],
    name: str,
    title: str,
    formula: str,
    x_label: str,
    lines: Mapping[str, float],
    found: Callable[[pd.DataFrame], str] = lambda _: "",
) -> list[Drawn]:
    """`points`: label, mpi, variant, value, low, high, interval, status, reason; `lines`: name -> where. Nothing where
    none of them that is to be drawn has a value; `found` says of those that are what they show."""
    frame = wanted(evidence, points)
    if not len(frame):
        return []
    said = found(frame)
    frame = _told_apart(frame)
    hidden = toolkit.hidden_words(frame, ["mpi", "variant", "label"])
    caption = f"{title}: {formula}. {hidden}{toolkit.interval_words(frame)} {provenance}"
    order = (*toolkit.STYLES, *dict.fromkeys(frame["label"]))
    plot = Plot("label", "", x_label, x_axis="words", lines=lines, order=order)
    return [Drawn(name, title, caption, frame, plot, said)]


def _told_apart(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with sessions, and then systems and studies, in the labels that several of them have."""
    for column in ("session", "system", "study"):
        twice = frame.loc[frame.duplicated(["mpi", "variant", "label"], keep=False)]
        if column in frame and len(twice):
            of_label = twice.groupby("label")[column].nunique()
            several = frame["label"].isin(of_label.index[of_label > 1])
            names = frame["label"] + ", " + frame[column].astype(str)
            frame = frame.assign(label=frame["label"].mask(several, names))
    return frame
