# SPDX-License-Identifier: BSD-3-Clause
"""P1: overlap ratio against computation, and the efficiency where computation takes as long as communication."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from analysis.chapter import Cause, Chapter, Claim
from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.overlap_map import OverlapMap
from analysis.figures.plot import Plot, plain_words
from analysis.figures.style import VariantStyle
from analysis.figures.sweep import Sweep
from analysis.figures.toolkit import Drawn
from analysis.measures import MetricAt
from analysis.metrics.formulas import COMP_EQUALS_COMM, LEAST_EFFICIENCY, METRICS
from analysis.metrics.limit import LIMIT
from analysis.metrics.places import STUDY, at_equal, measured_ratio
from analysis.records import frames
from analysis.studies.pioman.common import PAPER
from analysis.words import MPI_ORDER, added_text, bytes_text, in_order, mpi_title

MB4 = 4 << 20
EQUAL_BOTH = {"pattern": "both", "size_bytes": MB4, "comp_over_comm": 1.0}

CLAIMS = (
    Claim(
        statement="With the engine the overlap ratio reaches 1 where computation takes as long as communication",
        number="total / comp, adaptive, 4 MB, both sides compute, comp = comm",
        operator="<=",
        threshold=1.0,
        margin=0.10,
        comparator="perfect overlap",
        source="section V-B, figure 7",
        measure=MetricAt("overlap_ratio", "adaptive", EQUAL_BOTH),
        figure="overlap_ratio-4mb",
        cause=Cause(
            "the kernel and the MPI copy the message on the core that computes; the paper's InfiniBand needs none",
            "compute inflation with adaptive at the same point",
            MetricAt("compute_inflation", "adaptive", EQUAL_BOTH),
        ),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="The MPIs as they are do not overlap when both sides compute",
        number="overlap efficiency, bare, 4 MB, both sides compute, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 7",
        measure=MetricAt("overlap_efficiency", "bare", EQUAL_BOTH),
        figure="overlap_efficiency-both",
        cause=Cause(
            "this MPI gives the kernel the whole message as long as it fits into the sockets' buffers, and the kernel "
            "moves it while the program computes; a message beyond the buffers has to wait",
            "bare efficiency at 32 MB",
            MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "size_bytes": 32 << 20}),
        ),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Open MPI overlaps when only the sender computes",
        number="overlap efficiency, bare, 4 MB, sender computes, comp = comm",
        operator=">=",
        threshold=1.0,
        margin=0.15,
        comparator="perfect overlap",
        source="section V-B, figure 8 left",
        measure=MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "pattern": "sender"}),
        figure="overlap_efficiency-sender",
        cause=Cause(
            "over TCP the sender's own calls must fill the socket, which nobody does while it computes; the paper's "
            "InfiniBand reads the memory by itself",
            "efficiency of adaptive, which makes these calls meanwhile, at the same point",
            MetricAt("overlap_efficiency", "adaptive", {**EQUAL_BOTH, "pattern": "sender"}),
        ),
        mpis=("openmpi",),
        since="2026-11-21 09:57",
    ),
    Claim(
        statement="Open MPI does not overlap when only the receiver computes",
        number="overlap efficiency, bare, 4 MB, receiver computes, comp = comm",
        operator="<=",
        threshold=0.0,
        margin=0.30,
        comparator="serial execution",
        source="section V-B, figure 8 right",
        measure=MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "pattern": "receiver"}),
        figure="overlap_efficiency-receiver",
        cause=Cause(
            "the sockets' buffers take in what the receiver has not read yet; a message beyond them has to wait",
            "bare efficiency at 32 MB, both sides",
            MetricAt("overlap_efficiency", "bare", {**EQUAL_BOTH, "size_bytes": 32 << 20}),
        ),
        mpis=("openmpi",),
        since="2026-11-21 09:57",
    ),
)

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
        _draw_efficiency(group, str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def _with_added(part: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`part` with the time added (s) to perfect overlap and its interval, of the same points."""
    by = ["session", "system", "mpi", "study", "variant", "point"]
    added = frame.loc[frame["metric"] == "added_time", [*by, "value", "low", "high"]]
    return part.merge(added.rename(columns={name: f"added_{name}" for name in ("value", "low", "high")}), "left", by)


@toolkit.styled
def _draw_efficiency(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    mpis = in_order(part["mpi"], MPI_ORDER)
    variants = in_order(part.loc[part["variant"] != LIMIT, "variant"], style.STYLES)[::-1]
    sizes = sorted(part["size_bytes"].unique())
    figure, axes = toolkit.panels(len(mpis), 2, 0.24 * len(variants) + 0.45, share_y="none")
    for row, mpi in enumerate(mpis):
        mine = part[part["mpi"] == mpi]
        present = [variant for variant in variants if variant in set(mine["variant"])]
        _efficiency_panel(axes[row, 0], mine[mine["metric"] == "overlap_efficiency"], present, sizes, LOWEST)
        _efficiency_panel(axes[row, 1], mine[mine["metric"] == "compute_inflation"], present, sizes, 0.0)
        axes[row, 0].set_title(mpi_title(mpi), loc="left")
        axes[row, 1].set_yticklabels([])
        for place, look in ((1, style.IDEAL), (0, style.SERIAL)):
            axes[row, 0].axvline(place, **look)
        axes[row, 1].axvline(1, **style.IDEAL)
    axes[-1, 0].set_xlabel("overlap efficiency (below 0: slower than serial)")
    axes[-1, 1].set_xlabel("compute inflation (computation × so much)")
    axes[-1, 0].set_xlim(
        max(LOWEST, min(-0.1, float(part.loc[part["metric"] == "overlap_efficiency", "value"].min()) - 0.1)), 1.12
    )
    _efficiency_legend(figure, sizes, part)
    caption = _efficiency_caption(part, pattern, provenance)
    toolkit.footer(figure, caption)
    plot = Plot(
        x="variant", x_label="", y_label="efficiency, inflation", x_axis="words", series="size_bytes", row="metric",
        look=_size_look,
        lines={"perfect": 1.0}, order=(*style.STYLES, "overlap_efficiency", "compute_inflation"), lowest=LOWEST,
        hollow=lambda point: abs(point["comp_over_comm_measured"] - 1) > COMP_EQUALS_COMM,
    )  # fmt: skip
    return Drawn(toolkit.slug("overlap_efficiency", pattern, system), EFFICIENCY, caption, figure, part, plot)


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


def _efficiency_panel(axes: Axes, part: pd.DataFrame, variants: list[str], sizes: list[float], lowest: float) -> None:
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
        words = added_text(point["added_value"], point["added_low"], point["added_high"])
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


def _efficiency_legend(figure: Any, sizes: list[float], part: pd.DataFrame) -> None:
    handles = [
        Line2D(
            [],
            [],
            marker=style.SIZE_MARKERS[i % 6],
            color=SIZE_COLORS[i % 6],
            linestyle="none",
            label=bytes_text(size),
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


def ratio(evidence: Evidence, provenance: str) -> list[Drawn]:
    """As figures 7 and 8 of the paper: total / comp against computation, a column an MPI, a row a pattern."""
    frame = evidence.shown
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "overlap_ratio")]
    if "comp_over_comm" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    return [
        _draw_ratio(group.sort_values("comp_over_comm"), size, provenance, system if several else None)
        for (system, size), group in frames.groups(part, ["system", "size_bytes"])
        if group["value"].notna().any()
    ]


@toolkit.styled
def _draw_ratio(part: pd.DataFrame, size: float, provenance: str, system: Any) -> Drawn:
    mpis = in_order(part["mpi"], MPI_ORDER)
    patterns = in_order(part["pattern"], PATTERNS)
    figure, axes = toolkit.panels(len(patterns), len(mpis), 1.75)
    crossed = False
    for row, pattern in enumerate(patterns):
        for column, mpi in enumerate(mpis):
            panel = part[(part["pattern"] == pattern) & (part["mpi"] == mpi)]
            crossed |= _ratio_panel(axes[row, column], panel)
            axes[row, column].set_title(mpi_title(mpi) if row == 0 else "")
            if row == len(patterns) - 1:
                axes[row, column].set_xlabel("computation / communication")
        axes[row, 0].set_ylabel(f"total / comp\n({PATTERNS.get(pattern, pattern)})")
    lines = {"perfect overlap: max(1, comm / comp)": style.IDEAL, "no overlap: 1 + comm / comp": style.SERIAL}
    toolkit.legend(figure, part, lines, crossed)
    metric = METRICS["overlap_ratio"]
    caption = (
        f"{RATIO}, {bytes_text(size)} messages: {metric.formula} (lower is better; {metric.source}). "
        "comm and comp are those of bare in the same session, and so is their ratio on the axis; ratios of medians. "
        f"{toolkit.hidden_words(part, ['mpi', 'variant', 'pattern', 'comp_over_comm'])}"
        f"{toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    plot = Plot(
        x="comp_over_comm_measured", x_label="computation / communication", y_label="total / comp", log_y=True,
        row="pattern",
        guides={"perfect overlap": lambda x: np.maximum(1, 1 / x), "no overlap: 1 + comm / comp": lambda x: 1 + 1 / x},
        words=lambda value, name: PATTERNS.get(str(value), plain_words(value, name)),
        order=(*PATTERNS, *style.STYLES), highest=HIGHEST,
    )  # fmt: skip
    return Drawn(toolkit.slug("overlap_ratio", bytes_text(size), system), RATIO, caption, figure, part, plot)


def _ratio_panel(axes: Axes, part: pd.DataFrame) -> bool:
    """One MPI and pattern; True if a cross was drawn. Empty where none of several sessions has this pattern of it."""
    if not len(part):
        axes.set_axis_off()
        return False
    part = part.assign(x=measured_ratio(part)).sort_values("x")
    x = np.array(sorted(part["x"].unique()), dtype=float)
    fine = np.geomspace(x.min() / 1.1, x.max() * 1.1, 100)
    metric = METRICS["overlap_ratio"]
    axes.plot(fine, metric.ideal(fine, np.ones_like(fine)), **style.IDEAL)
    if metric.serial:
        axes.plot(fine, metric.serial(fine, np.ones_like(fine)), **style.SERIAL)
    axes.axvline(1, color="#cccccc", linewidth=0.6, zorder=0)
    level = 0
    for variant in in_order(part["variant"], style.STYLES):
        mine = toolkit.one_a_place(part[part["variant"] == variant], "comp_over_comm")
        if variant == LIMIT:
            toolkit.limit_line(axes, mine["x"].to_numpy(float), mine)
            continue
        toolkit.series(axes, mine["x"].to_numpy(float), mine, style.style(variant))
        level += toolkit.gaps(axes, mine["x"].to_numpy(float), mine, style.style(variant), level)
    toolkit.ratio_axis(axes)
    toolkit.log_y(axes, subs=(1, 1.5, 2, 3, 5))
    axes.set_ylim(0.85, min(HIGHEST, max(3.0, float(np.nanmax([*part["value"], 1 + 1 / x.min()])) * 1.1)))
    return level > 0


CHAPTER = Chapter(
    "P1",
    (STUDY,),
    PAPER,
    "overlap ratio against computation",
    CLAIMS,
    (efficiency, ratio, OverlapMap(STUDY), Sweep(STUDY)),
)
