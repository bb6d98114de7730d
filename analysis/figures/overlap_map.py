# SPDX-License-Identifier: BSD-3-Clause
"""Where overlap works: efficiency over message size and computation, with the line on which comp = comm."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.evidence import Evidence
from analysis.figures import render, style, toolkit
from analysis.figures.plot import Plot, plain_words
from analysis.figures.toolkit import Drawn
from analysis.metrics.formulas import METRICS
from analysis.metrics.times import LIMIT
from analysis.records import frames
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title, seconds_text

NAME = "overlap_map"
TITLE = "Overlap efficiency over message size and computation"
SHOWN = ("bare", "mpi-async", "adaptive", LIMIT)
UNSURE = 0.5  # half-width of an interval beyond which a cell's colour says little
BOX = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
SIZES, COMPUTATIONS = 4, 3  # a map of fewer is a table
NORM = Normalize(-1, 1)


@dataclass(frozen=True)
class OverlapMap:
    """The maps of a study that swept both size and computation: one a session, system and pattern, since a cell has
    room for one value. Of points that differ in something else the first is shown, and how many are not."""

    study: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = evidence.shown
        if not len(frame):
            return []
        part = frame[(frame["metric"] == "overlap_efficiency") & frame["variant"].isin(SHOWN)]
        part = part[part["study"] == self.study]
        several = [name for name in ("system", "session") if part[name].nunique() > 1]
        found = []
        for (session, system, pattern), group in (
            frames.groups(part, ["session", "system", "pattern"]) if len(part) else ()
        ):
            column = "comp_s" if "comp_s" in group and group["comp_s"].notna().any() else "comp_over_comm"
            group = group[group[column].astype(float) > 0]  # noqa: PLW2901 - without computation there is no overlap
            if not _swept(group[group["variant"] == LIMIT], column):
                group = group[group["variant"] != LIMIT]  # noqa: PLW2901 - it is swept in a few places only
            if _swept(group, column) and group["value"].notna().any():
                named = {"system": system, "session": session}
                names = (self.study, pattern, *(named[name] for name in several))
                found.append(_drawn(group, column, names, provenance))
        return found


def _swept(part: pd.DataFrame, column: str) -> bool:
    return bool(part["size_bytes"].nunique() >= SIZES and part[column].nunique() >= COMPUTATIONS)


def _drawn(part: pd.DataFrame, column: str, names: tuple[Any, ...], provenance: str) -> Drawn:
    where = ", ".join([str(names[0]), f"pattern {names[1]}", *map(str, names[2:])])
    there = part[part["status"] != "missing"]  # bare has no point of an engine's setting, and hides none
    hidden = toolkit.hidden_words(there, ["mpi", "variant", column, "size_bytes"])
    caption = (
        f"{TITLE}, {where}: {METRICS['overlap_efficiency'].formula}, medians, comm and comp of "
        f"bare in the same session. {hidden}Colours end at -1 and 1; the numbers are in the CSV beside this file. "
        f"{provenance}"
    )
    plot = Plot(
        x="size_bytes", x_label="message size", y_label="overlap efficiency", x_axis="bytes", series=column,
        row="variant",
        look=lambda value, index: style.curve(index, f"computation {plain_words(value, column)}"),
        lines={"perfect": 1.0, "one after the other": 0.0}, order=SHOWN, lowest=-1.0, highest=1.2,
        caption=caption.replace("Colours end at -1 and 1; the numbers are in the CSV beside this file.",
                                "Below -1 stands an arrow at the edge."),
    )  # fmt: skip
    return Drawn(toolkit.slug(NAME, *names), TITLE, caption, part, plot, paint=functools.partial(_paint, part, column))


def _paint(part: pd.DataFrame, column: str) -> Figure:
    mpis, variants = in_order(part["mpi"], MPI_ORDER), in_order(part["variant"], SHOWN)
    sizes = sorted(part["size_bytes"].unique())
    computations = sorted(part[column].astype(float).unique())
    figure, axes = render.panels([1.9] * len(variants), len(mpis), sharex="col", sharey="row")
    for row, variant in enumerate(variants):
        for index, mpi in enumerate(mpis):
            panel = part[(part["variant"] == variant) & (part["mpi"] == mpi)]
            _panel(axes[row, index], panel, column, sizes, computations)
            axes[row, index].set_title(mpi_title(mpi) if row == 0 else "")
        axes[row, 0].set_ylabel(f"{variant}\n{'computation' if column == 'comp_s' else 'comp / comm (meant)'}")
    for index in range(len(mpis)):
        axes[-1, index].set_xlabel("message size")
    cells = ScalarMappable(NORM, render.COLORS)
    bar = figure.colorbar(cells, ax=axes.ravel().tolist(), shrink=0.5, extend="both", aspect=30)
    bar.set_label("overlap efficiency: 1 perfect, 0 serial")
    handles = [
        Line2D([], [], color="black", linewidth=1.4, label="comp = comm"),
        Line2D([], [], marker="$?$", linestyle="none", color="#333333", label=f"known to no better than ±{UNSURE:g}"),
        Patch(facecolor="white", edgecolor="#888888", hatch="xxxx", label="no value: failed, skipped, not measured"),
    ]
    figure.legend(handles=handles, loc="outside upper left", ncols=3)
    return figure


def _panel(axes: Axes, part: pd.DataFrame, column: str, sizes: list[float], computations: list[float]) -> None:
    """One MPI and variant; cells in the order of size and computation, evenly spaced."""
    table = part.pivot_table(index=column, columns="size_bytes", values="value", aggfunc="first", dropna=False)
    table = table.reindex(index=computations, columns=sizes)
    axes.set_facecolor("white")
    axes.patch.set(hatch="xxxx", edgecolor="#bbbbbb")
    axes.imshow(
        table.to_numpy(float), origin="lower", aspect="auto", cmap=render.COLORS, norm=NORM, interpolation="nearest"
    )
    unsure = part[(part["high"] - part["low"]) / 2 > UNSURE]
    for size, value in zip(unsure["size_bytes"], unsure[column].astype(float), strict=True):
        place = (sizes.index(size), computations.index(value))
        axes.annotate("?", place, ha="center", va="center", fontsize=6, color="#333333", bbox=BOX)
    ratio = part.pivot_table(index=column, columns="size_bytes", values="comp_over_comm_measured", aggfunc="first")
    ratio = ratio.reindex(index=computations, columns=sizes)
    logs = np.log(ratio.to_numpy(float))
    if np.nanmin(logs, initial=0.0) < 0 < np.nanmax(logs, initial=0.0):
        axes.contour(logs, levels=[0.0], colors="black", linewidths=1.4)
    step = -(-len(sizes) // 5)
    axes.set_xticks(range(0, len(sizes), step), [bytes_text(size) for size in sizes[::step]])
    words = seconds_text if column == "comp_s" else "{:g}".format
    step = -(-len(computations) // 7)
    axes.set_yticks(range(0, len(computations), step), [words(value) for value in computations[::step]])
    axes.grid(visible=False)
