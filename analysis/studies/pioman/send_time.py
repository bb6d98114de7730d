# SPDX-License-Identifier: BSD-3-Clause
"""P2: send time against message size, as figure 9 of the paper: a column an MPI, a row a computation time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.chapter import Cause, Chapter, Claim
from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.overlap_map import OverlapMap
from analysis.figures.plot import Plot, plain_words
from analysis.figures.sweep import Sweep
from analysis.figures.toolkit import Drawn
from analysis.measures import MetricAt
from analysis.metrics.formulas import METRICS
from analysis.metrics.limit import LIMIT
from analysis.records import frames
from analysis.studies.pioman.common import PAPER
from analysis.words import MPI_ORDER, in_order, mpi_title, seconds_text

STUDY = "send-time"
TITLE = "Send time against message size"
CLAIMS = (
    Claim(
        statement="With the engine a send with computation takes as long as the longer of the two, from 100 µs on",
        number="total / max(comp, comm), adaptive, worst size and computation from 100 µs on",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="perfect overlap",
        source="section V-B, figure 9",
        measure=MetricAt("slowdown", "adaptive", {"pattern": "both", "comp_s": (">=", 1e-4)}),
        cause=Cause(
            "each side has one core here: each wake of the engine's thread and the kernel's copying take time from the "
            "computation, which counts where computation and message are as short as that",
            "compute inflation with adaptive beside 1 MB and 1 ms",
            MetricAt("compute_inflation", "adaptive", {"pattern": "both", "size_bytes": 1 << 20, "comp_s": 1e-3}),
        ),
        figure="send_time-both",
        since="2026-11-21 09:57",
    ),
)


def send_time(evidence: Evidence, provenance: str) -> list[Drawn]:
    """One figure a system and pattern."""
    frame = evidence.shown
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "send_time")]
    if "comp_s" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _draw(group.sort_values("size_bytes"), str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def _words(value: Any, parameter: str) -> str:
    said = plain_words(value, parameter)
    return f"computation {said}" if parameter == "comp_s" else said


@toolkit.styled
def _draw(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    mpis = in_order(part["mpi"], MPI_ORDER)
    computations = sorted(part["comp_s"].unique())
    figure, axes = toolkit.panels(len(computations), len(mpis), 1.6)
    crossed = False
    for row, comp in enumerate(computations):
        for column, mpi in enumerate(mpis):
            panel = part[(part["comp_s"] == comp) & (part["mpi"] == mpi)]
            crossed |= _panel(axes[row, column], panel)
            axes[row, column].set_title(mpi_title(mpi) if row == 0 else "")
        axes[row, 0].set_ylabel(f"send time\n(comp {seconds_text(comp)})")
    for column in range(len(mpis)):
        axes[-1, column].set_xlabel("message size")
    lines = {"perfect overlap: max(comp, comm)": style.IDEAL, "no overlap: comp + comm": style.SERIAL}
    toolkit.legend(figure, part, lines, crossed)
    metric = METRICS["send_time"]
    caption = (
        f"{TITLE}, pattern {pattern}: {metric.formula} until both sides are complete, less the acknowledgement's "
        f"latency (lower is better; {metric.source}). comm and comp are those of bare in the same session. "
        f"{toolkit.hidden_words(part, ['mpi', 'variant', 'comp_s', 'size_bytes'])}"
        f"{toolkit.work_words(part)}{toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    plot = Plot(
        x="size_bytes", x_label="message size", y_label="send time", x_axis="bytes", log_y=True, row="comp_s",
        say=seconds_text,
        words=_words, order=tuple(style.STYLES),
    )  # fmt: skip
    return Drawn(toolkit.slug("send_time", pattern, system), TITLE, caption, figure, part, plot)


def _panel(axes: Axes, part: pd.DataFrame) -> bool:
    """One MPI and computation time; True if a cross was drawn."""
    bare = part[(part["variant"] == "bare") & part["value"].notna()]
    comm, comp = bare["reference_comm_s"].to_numpy(float), bare["reference_comp_s"].to_numpy(float)
    axes.plot(bare["size_bytes"], np.maximum(comp, comm), **style.IDEAL)
    axes.plot(bare["size_bytes"], comp + comm, **style.SERIAL)
    level = 0
    for variant in in_order(part["variant"], style.STYLES):
        mine = toolkit.one_a_place(part[part["variant"] == variant], "size_bytes")
        if variant == LIMIT:
            toolkit.limit_line(axes, mine["size_bytes"].to_numpy(float), mine)
            continue
        toolkit.series(axes, mine["size_bytes"].to_numpy(float), mine, style.style(variant))
        level += toolkit.gaps(axes, mine["size_bytes"].to_numpy(float), mine, style.style(variant), level)
    toolkit.byte_axis(axes)
    toolkit.log_y(axes, seconds_text, subs=(1, 3))
    return level > 0


CHAPTER = Chapter(
    "P2", (STUDY,), PAPER, "send time against message size", CLAIMS, (send_time, OverlapMap(STUDY), Sweep(STUDY))
)
