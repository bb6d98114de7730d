# SPDX-License-Identifier: BSD-3-Clause
"""P1, as figures 7 and 8 of the pioman paper: total / comp against computation, a column an MPI, a row a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis import frames
from analysis.figures import style, toolkit
from analysis.figures.toolkit import Drawn
from analysis.metrics import METRICS
from harness.variants import LIMIT

NAME = "overlap_ratio"
STUDY = "overlap-ratio"
TITLE = "Overlap ratio against computation"
PATTERNS = {"both": "both sides compute", "sender": "sender computes", "receiver": "receiver computes"}
HIGHEST = 8.0  # what lies above is drawn at the edge: it is off the page in any sense


def draw(frame: pd.DataFrame, provenance: str) -> list[Drawn]:
    """One figure a system and message size; `frame` as evaluate() makes it."""
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "overlap_ratio")]
    if "comp_over_comm" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _draw(group.sort_values("comp_over_comm"), size, provenance, system if several else None)
        for (system, size), group in frames.groups(part, ["system", "size_bytes"])
        if group["value"].notna().any()
    ]


@toolkit.styled
def _draw(part: pd.DataFrame, size: float, provenance: str, system: Any) -> Drawn:
    mpis = style.in_order(part["mpi"], style.MPI_ORDER)
    patterns = style.in_order(part["pattern"], PATTERNS)
    figure, axes = toolkit.panels(len(patterns), len(mpis), 1.75)
    crossed = False
    for row, pattern in enumerate(patterns):
        for column, mpi in enumerate(mpis):
            panel = part[(part["pattern"] == pattern) & (part["mpi"] == mpi)]
            crossed |= _panel(axes[row, column], panel)
            axes[row, column].set_title(style.mpi_title(mpi) if row == 0 else "")
            if row == len(patterns) - 1:
                axes[row, column].set_xlabel("computation / communication")
        axes[row, 0].set_ylabel(f"total / comp\n({PATTERNS.get(pattern, pattern)})")
    lines = {"perfect overlap: max(1, comm / comp)": style.IDEAL, "no overlap: 1 + comm / comp": style.SERIAL}
    toolkit.legend(figure, part, lines, crossed)
    metric = METRICS["overlap_ratio"]
    caption = (
        f"{TITLE}, {style.bytes_text(size)} messages: {metric.formula} (lower is better; {metric.source}). "
        "comm and comp are those of bare in the same session, and so is their ratio on the axis; ratios of medians. "
        f"{toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    return Drawn(toolkit.slug(NAME, style.bytes_text(size), system), TITLE, caption, figure, part, STUDY)


def places(part: pd.DataFrame) -> pd.Series[float]:
    """comp / comm of each point as it was measured on this MPI; as it was meant where bare has no value."""
    measured = part.groupby(["system", "mpi", "point"])["comp_over_comm_measured"].transform("median")
    return measured.fillna(part["comp_over_comm"].astype(float))


def _panel(axes: Axes, part: pd.DataFrame) -> bool:
    """One MPI and pattern; True if a cross was drawn."""
    part = part.assign(x=places(part)).sort_values("x")
    x = np.array(sorted(part["x"].unique()), dtype=float)
    fine = np.geomspace(x.min() / 1.1, x.max() * 1.1, 100)
    metric = METRICS["overlap_ratio"]
    axes.plot(fine, metric.ideal(fine, np.ones_like(fine)), **style.IDEAL)
    if metric.serial:
        axes.plot(fine, metric.serial(fine, np.ones_like(fine)), **style.SERIAL)
    axes.axvline(1, color="#cccccc", linewidth=0.6, zorder=0)
    level = 0
    for variant in style.in_order(part["variant"], style.STYLES):
        mine = part[part["variant"] == variant].drop_duplicates("comp_over_comm")
        if variant == LIMIT:
            toolkit.limit_line(axes, mine["x"].to_numpy(float), mine)
            continue
        toolkit.series(axes, mine["x"].to_numpy(float), mine, style.style(variant))
        level += toolkit.gaps(axes, mine["x"].to_numpy(float), mine, style.style(variant), level)
    toolkit.ratio_axis(axes)
    toolkit.log_y(axes, subs=(1, 1.5, 2, 3, 5))
    axes.set_ylim(0.85, min(HIGHEST, max(3.0, float(np.nanmax([*part["value"], 1 + 1 / x.min()])) * 1.1)))
    return level > 0
