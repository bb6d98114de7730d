# SPDX-License-Identifier: BSD-3-Clause
"""One line a thing that was measured, a mark with its interval a variant, a column an MPI: what is held against a
budget rather than followed along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.words import MPI_ORDER, in_order, mpi_title

HEIGHT = 0.22  # inches a line


def wanted(evidence: Evidence, found: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows that are to be drawn; empty where none of them has a value. Where they do not say of which session,
    system and study they are, it is those of all records."""
    frame = pd.DataFrame(found)
    for name in ("session", "system", "study"):
        if name not in frame and len(frame):
            frame[name] = ", ".join(map(str, frames.unique(evidence.records.launches[name])))
    frame = evidence.choice.of(frame)
    return frame if len(frame) and frame["value"].notna().any() else frame.iloc[:0]


@toolkit.styled
def draw(name: str, title: str, formula: str, x_label: str, lines: dict[str, float], frame: pd.DataFrame,
         provenance: str) -> Drawn:  # fmt: skip
    """`frame`: rows of label, mpi, variant, value, low, high, interval, status, reason; `lines`: name -> where."""
    frame = _told_apart(frame)
    mpis = in_order(frame["mpi"], MPI_ORDER)
    labels = list(dict.fromkeys(frame["label"]))
    variants = in_order(frame["variant"], style.STYLES)
    figure, axes = toolkit.panels(1, len(mpis), 0.6 + HEIGHT * len(labels))
    crossed = False
    for column, mpi in enumerate(mpis):
        panel = axes[0, column]
        crossed |= _panel(panel, frame[frame["mpi"] == mpi], labels, variants)
        for where in lines.values():
            panel.axvline(where, **style.SERIAL)
        panel.set_title(mpi_title(mpi))
        panel.set_xlabel(x_label)
    axes[0, 0].set_yticks(range(len(labels)), labels)
    axes[0, 0].invert_yaxis()
    toolkit.legend(figure, frame, {name: style.SERIAL for name in lines}, crossed)
    hidden = toolkit.hidden_words(frame, ["mpi", "variant", "label"])
    caption = f"{title}: {formula}. {hidden}{toolkit.interval_words(frame)} {provenance}"
    toolkit.footer(figure, caption)
    plot = Plot("label", "", x_label, x_axis="words", lines=lines, order=(*style.STYLES, *labels))
    return Drawn(name, title, caption, figure, frame, plot)


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


def _panel(axes: Axes, part: pd.DataFrame, labels: Sequence[str], variants: Sequence[str]) -> bool:
    """One MPI; True if a cross was drawn, for what has no value."""
    crossed = False
    for index, variant in enumerate(variants):
        look = style.style(variant)
        mine = toolkit.one_a_place(part[part["variant"] == variant], "label")
        shift = 0.6 * ((index + 0.5) / len(variants) - 0.5)
        y = np.array([labels.index(label) for label in mine["label"]]) + shift
        value = mine["value"].to_numpy(float)
        axes.hlines(y, mine["low"].to_numpy(float), mine["high"].to_numpy(float), color=look.color, alpha=0.55,
                    linewidth=1.6, zorder=3)  # fmt: skip
        axes.plot(value, y, **(look.plot() | {"linestyle": "none"}))
        bad = np.isnan(value)
        if bad.any():
            crossed = True
            foot = np.full(int(bad.sum()), 0.02)
            axes.plot(foot, y[bad], marker="x", linestyle="none", markersize=5, markeredgewidth=1.4, color=look.color,
                      transform=axes.get_yaxis_transform(), zorder=6)  # fmt: skip
    return crossed
