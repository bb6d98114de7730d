# SPDX-License-Identifier: BSD-3-Clause
"""P2, as figure 9 of the pioman paper: send time against message size, a column an MPI, a row a computation time."""

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

NAME = "send_time"
STUDY = "send-time"
TITLE = "Send time against message size"


def draw(frame: pd.DataFrame, provenance: str) -> list[Drawn]:
    """One figure a system and pattern; `frame` as evaluate() makes it."""
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "send_time")]
    if "comp_s" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _draw(group.sort_values("size_bytes"), str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


@toolkit.styled
def _draw(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    mpis = style.in_order(part["mpi"], style.MPI_ORDER)
    computations = sorted(part["comp_s"].unique())
    figure, axes = toolkit.panels(len(computations), len(mpis), 1.6)
    crossed = False
    for row, comp in enumerate(computations):
        for column, mpi in enumerate(mpis):
            panel = part[(part["comp_s"] == comp) & (part["mpi"] == mpi)]
            crossed |= _panel(axes[row, column], panel)
            axes[row, column].set_title(style.mpi_title(mpi) if row == 0 else "")
        axes[row, 0].set_ylabel(f"send time\n(comp {style.seconds_text(comp)})")
    for column in range(len(mpis)):
        axes[-1, column].set_xlabel("message size")
    lines = {"perfect overlap: max(comp, comm)": style.IDEAL, "no overlap: comp + comm": style.SERIAL}
    toolkit.legend(figure, part, lines, crossed)
    metric = METRICS["send_time"]
    caption = (
        f"{TITLE}, pattern {pattern}: {metric.formula} until both sides are complete, less the acknowledgement's "
        f"latency (lower is better; {metric.source}). comm and comp are those of bare in the same session. "
        f"{toolkit.work_words(part)}{toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    return Drawn(toolkit.slug(NAME, pattern, system), TITLE, caption, figure, part, STUDY)


def _panel(axes: Axes, part: pd.DataFrame) -> bool:
    """One MPI and computation time; True if a cross was drawn."""
    bare = part[(part["variant"] == "bare") & part["value"].notna()]
    comm, comp = bare["reference_comm_s"].to_numpy(float), bare["reference_comp_s"].to_numpy(float)
    axes.plot(bare["size_bytes"], np.maximum(comp, comm), **style.IDEAL)
    axes.plot(bare["size_bytes"], comp + comm, **style.SERIAL)
    level = 0
    for variant in style.in_order(part["variant"], style.STYLES):
        mine = part[part["variant"] == variant].drop_duplicates("size_bytes")
        if variant == LIMIT:
            toolkit.limit_line(axes, mine["size_bytes"].to_numpy(float), mine)
            continue
        toolkit.series(axes, mine["size_bytes"].to_numpy(float), mine, style.style(variant))
        level += toolkit.gaps(axes, mine["size_bytes"].to_numpy(float), mine, style.style(variant), level)
    toolkit.byte_axis(axes)
    toolkit.log_y(axes, style.seconds_text, subs=(1, 3))
    return level > 0
