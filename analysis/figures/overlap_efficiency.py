# SPDX-License-Identifier: BSD-3-Clause
"""P1 in one look: overlap efficiency where comp = comm, and beside it what that cost the computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis import frames
from analysis.figures import style, toolkit
from analysis.figures.toolkit import Drawn
from analysis.metrics import COMP_EQUALS_COMM, LEAST_EFFICIENCY, METRICS
from harness.variants import LIMIT

NAME = "overlap_efficiency"
STUDY = "overlap-ratio"
TITLE = "Overlap where computation takes as long as communication"
LOWEST = LEAST_EFFICIENCY  # further left, the time added stands beside an arrow at the edge
SIZE_COLORS = ["#56B4E9", "#0072B2", "#002f4d", "#E69F00", "#CC79A7", "#009E73"]


def draw(frame: pd.DataFrame, provenance: str) -> list[Drawn]:
    """One figure a system and pattern; `frame` as evaluate() makes it."""
    part = at_equal(frame)
    if not len(part) or not part["value"].notna().any():
        return []
    part = _with_added(part, frame)
    several = part["system"].nunique() > 1
    return [
        _draw(group, str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def at_equal(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the study's points that were meant to have comp = comm, of the two metrics drawn here."""
    if "comp_over_comm" not in frame:
        return frame.iloc[:0]
    wanted = frame["metric"].isin(["overlap_efficiency", "compute_inflation"])
    return frame[(frame["study"] == STUDY) & wanted & np.isclose(frame["comp_over_comm"].astype(float), 1.0)]


def _with_added(part: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`part` with the time added (s) to perfect overlap and its interval, of the same points."""
    by = ["session", "system", "mpi", "study", "variant", "point"]
    added = frame.loc[frame["metric"] == "added_time", [*by, "value", "low", "high"]]
    return part.merge(added.rename(columns={name: f"added_{name}" for name in ("value", "low", "high")}), "left", by)


@toolkit.styled
def _draw(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    mpis = style.in_order(part["mpi"], style.MPI_ORDER)
    variants = style.in_order(part.loc[part["variant"] != LIMIT, "variant"], style.STYLES)[::-1]
    sizes = sorted(part["size_bytes"].unique())
    figure, axes = toolkit.panels(len(mpis), 2, 0.24 * len(variants) + 0.45, share_y="none")
    for row, mpi in enumerate(mpis):
        mine = part[part["mpi"] == mpi]
        present = [variant for variant in variants if variant in set(mine["variant"])]
        _panel(axes[row, 0], mine[mine["metric"] == "overlap_efficiency"], present, sizes, LOWEST)
        _panel(axes[row, 1], mine[mine["metric"] == "compute_inflation"], present, sizes, 0.0)
        axes[row, 0].set_title(style.mpi_title(mpi), loc="left")
        axes[row, 1].set_yticklabels([])
        for place, look in ((1, style.IDEAL), (0, style.SERIAL)):
            axes[row, 0].axvline(place, **look)
        axes[row, 1].axvline(1, **style.IDEAL)
    axes[-1, 0].set_xlabel("overlap efficiency (below 0: slower than serial)")
    axes[-1, 1].set_xlabel("compute inflation (computation × so much)")
    axes[-1, 0].set_xlim(
        max(LOWEST, min(-0.1, float(part.loc[part["metric"] == "overlap_efficiency", "value"].min()) - 0.1)), 1.12
    )
    _legend(figure, sizes, part)
    caption = _caption(part, pattern, provenance)
    toolkit.footer(figure, caption)
    return Drawn(toolkit.slug(NAME, pattern, system), TITLE, caption, figure, part, STUDY)


def _caption(part: pd.DataFrame, pattern: str, provenance: str) -> str:
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
        f"{TITLE}, pattern {pattern}. Efficiency: {efficiency.formula}; inflation: {inflation.formula}; "
        f"medians, comm and comp of bare in the same session.{added}{hollow} {bars} {provenance}"
    )


def _panel(axes: Axes, part: pd.DataFrame, variants: list[str], sizes: list[float], lowest: float) -> None:
    """Variants down, one mark a size, side by side within the variant's line."""
    for index, size in enumerate(sizes):
        for value in part.loc[(part["variant"] == LIMIT) & (part["size_bytes"] == size), "value"].dropna():
            axes.axvline(max(value, lowest), **(style.LIMIT | {"color": SIZE_COLORS[index % 6], "marker": ""}))
    step = 0.62 / max(1, len(sizes) - 1) if len(sizes) > 1 else 0.0
    for position, variant in enumerate(variants):
        strong = style.style(variant).strong
        axes.axhspan(position - 0.5, position + 0.5, color="#f3f6fa" if strong else "white", zorder=0, linewidth=0)
        for index, size in enumerate(sizes):
            y = position + (0.31 if len(sizes) > 1 else 0.0) - index * step
            for _, point in part[(part["variant"] == variant) & (part["size_bytes"] == size)].iterrows():
                _mark(axes, point, y, index, lowest)
    axes.set_yticks(range(len(variants)), variants)
    for label, variant in zip(axes.get_yticklabels(), variants, strict=True):
        label.set_fontweight("bold" if style.style(variant).strong else "normal")
    axes.set_ylim(-0.5, len(variants) - 0.5)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _mark(axes: Axes, point: Any, y: float, index: int, lowest: float) -> None:
    color, marker = SIZE_COLORS[index % 6], style.SIZE_MARKERS[index % 6]
    value = point["value"]
    if not np.isfinite(value):
        axes.plot([0.02], [y], marker="x", color=color, transform=axes.get_yaxis_transform(), markersize=4.5)
    elif value < lowest:
        words = style.added_text(point["added_value"], point["added_low"], point["added_high"])
        axes.annotate(
            f"◀ {words}", (0.01, y), xycoords=axes.get_yaxis_transform(), fontsize=6, color=color, va="center"
        )
    else:
        equal = abs(point["comp_over_comm_measured"] - 1) <= COMP_EQUALS_COMM
        axes.plot(
            [point["low"], point["high"]],
            [y, y],
            color=color,
            linewidth=1.6,
            alpha=0.55,
            solid_capstyle="butt",
            zorder=3,
        )
        axes.plot([value], [y], marker=marker, color=color, markersize=4.2, markerfacecolor=color if equal else "white",
                  markeredgewidth=0.9, zorder=4)  # fmt: skip


def _legend(figure: Any, sizes: list[float], part: pd.DataFrame) -> None:
    handles = [
        Line2D(
            [],
            [],
            marker=style.SIZE_MARKERS[i % 6],
            color=SIZE_COLORS[i % 6],
            linestyle="none",
            label=style.bytes_text(size),
        )
        for i, size in enumerate(sizes)
    ]
    handles += [
        Line2D([], [], **style.IDEAL, label="perfect"),
        Line2D([], [], **style.SERIAL, label="serial: no overlap at all"),
    ]
    limits = toolkit.measured_limit(part)
    handles += [Line2D([], [], **(look | {"marker": ""}), label=label) for label, look in limits.items()]
    if part["value"].isna().any():
        handles.append(Line2D([], [], marker="x", linestyle="none", color="#444444", label="no value: see the tables"))
    ncols = -(-len(handles) // (2 if limits else 1))
    figure.legend(handles=handles, loc="outside upper left", ncols=ncols, columnspacing=1.4, handlelength=2.4)
