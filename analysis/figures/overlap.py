# SPDX-License-Identifier: BSD-3-Clause
"""The figures of studies of overlap: against computation, where both take as long, and the time of a send against its
size, as Denis, pioman, PDP 2015, figures 7 to 9; where overlap works, as a map over message size and computation; and a
sweep of the engine's settings, a curve a value, and a heat map where two were swept.

A setting that was swept is a parameter that points have and those of bare have not (`./bench run --set burst=1,5,20`).
Where variant `limit` was measured at the same points but for the settings, it is a line or stands in the caption.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterator, Sequence
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
from analysis.figures import render, toolkit
from analysis.figures.toolkit import Drawn, Plot, VariantStyle, plain_words
from analysis.metrics.evaluate import REFERENCE, STUDY, at_equal, measured_ratio
from analysis.metrics.formulas import COMP_EQUALS_COMM, LEAST_EFFICIENCY, METRICS
from analysis.metrics.times import LIMIT
from analysis.records import frames
from analysis.records.load import CALIBRATED, identity
from analysis.words import MPI_ORDER, added_text, bytes_text, in_order, mpi_title, plain, seconds_text

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
    part = part[part["study"] == STUDY]
    if not len(part) or not part["value"].notna().any():
        return []
    part = with_added(part, evidence.metrics)
    several = part["system"].nunique() > 1
    return [
        _drawn_efficiency(group, str(pattern), provenance, system if several else None)
        for (system, pattern), group in frames.groups(part, ["system", "pattern"])
    ]


def with_added(part: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """`part` with the time added (s) to perfect overlap and its interval, of the same points."""
    by = ["session", "system", "mpi", "study", "variant", "point"]
    added = frame.loc[frame["metric"] == "added_time", [*by, "value", "low", "high"]]
    return part.merge(added.rename(columns={name: f"added_{name}" for name in ("value", "low", "high")}), "left", by)


def _drawn_efficiency(part: pd.DataFrame, pattern: str, provenance: str, system: Any) -> Drawn:
    caption = _efficiency_caption(part, pattern, provenance)
    plot = Plot(
        x="variant", x_label="", y_label="", x_axis="words", series="size_bytes", row="metric",
        look=_size_look, words=_metric_words,
        lines={"perfect": 1.0}, order=(*toolkit.STYLES, "overlap_efficiency", "compute_inflation"), lowest=LOWEST,
        hollow=lambda point: abs(point["comp_over_comm_measured"] - 1) > COMP_EQUALS_COMM,
        beyond=lambda point: added_text(*(point[f"added_{name}"] for name in ("value", "low", "high"))),
    )  # fmt: skip
    return Drawn(toolkit.slug("overlap_efficiency", pattern, system), EFFICIENCY, caption, part, plot)


def _metric_words(value: Any, parameter: str) -> str:
    return METRICS[value].title if parameter == "metric" else plain_words(value, parameter)


def _size_look(size: float, place: int) -> VariantStyle:
    return VariantStyle(SIZE_COLORS[place % 6], toolkit.SIZE_MARKERS[place % 6], "-", bytes_text(size))


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
        f"{EFFICIENCY}, pattern {pattern}. Efficiency: {efficiency.formula}; slowdown: {inflation.formula}; "
        f"medians, comm and comp of bare in the same session.{added}{hollow} {bars} {provenance}"
    )


def ratio(evidence: Evidence, provenance: str) -> list[Drawn]:
    """As figures 7 and 8 of the paper: total / comp against computation, a column an MPI, a row a pattern. None of a
    size with comp = comm alone, which `efficiency` has."""
    frame = evidence.shown
    part = frame[(frame["study"] == STUDY) & (frame["metric"] == "overlap_ratio")]
    if "comp_over_comm" not in part or not part["value"].notna().any():
        return []
    several = part["system"].nunique() > 1
    equal = at_equal(frame)
    told = set(equal.loc[(equal["study"] == STUDY) & equal["value"].notna(), "size_bytes"])
    return [
        _drawn_ratio(
            group.assign(x=measured_ratio(group)).sort_values("comp_over_comm"),
            size,
            provenance,
            system if several else None,
        )
        for (system, size), group in frames.groups(part, ["system", "size_bytes"])
        if group["value"].notna().any() and (size not in told or group["comp_over_comm"].nunique() > 1)
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
        order=(*PATTERNS, *toolkit.STYLES), highest=HIGHEST,
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
        words=_send_time_words, order=tuple(toolkit.STYLES),
        references={"perfect overlap: max(comp, comm)": "ideal", "no overlap: comp + comm": "serial"},
    )  # fmt: skip
    return Drawn(toolkit.slug("send_time", pattern, system), SEND_TIME_TITLE, caption, part, plot)


NAME = "overlap_map"
TITLE = "Overlap efficiency over message size and computation"
MAPPED = ("bare", "mpi-async", "adaptive", LIMIT)
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
        part = frame[(frame["metric"] == "overlap_efficiency") & frame["variant"].isin(MAPPED)]
        part = part[part["study"] == self.study]
        several = [name for name in ("system", "session") if part[name].nunique() > 1]
        found = []
        for (session, system, pattern), group in (
            frames.groups(part, ["session", "system", "pattern"]) if len(part) else ()
        ):
            column = "comp_s" if "comp_s" in group and group["comp_s"].notna().any() else "comp_over_comm"
            group = group[group[column].astype(float) > 0]  # noqa: PLW2901 - without computation there is no overlap
            if not _fills_a_map(group[group["variant"] == LIMIT], column):
                group = group[group["variant"] != LIMIT]  # noqa: PLW2901 - it is swept in a few places only
            if _fills_a_map(group, column) and group["value"].notna().any():
                named = {"system": system, "session": session}
                names = (self.study, pattern, *(named[name] for name in several))
                found.append(_drawn_map(group, column, names, provenance))
        return found


def _fills_a_map(part: pd.DataFrame, column: str) -> bool:
    return bool(part["size_bytes"].nunique() >= SIZES and part[column].nunique() >= COMPUTATIONS)


def _drawn_map(part: pd.DataFrame, column: str, names: tuple[Any, ...], provenance: str) -> Drawn:
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
        look=lambda value, index: toolkit.curve(index, f"computation {plain_words(value, column)}"),
        lines={"perfect": 1.0, "one after the other": 0.0}, order=MAPPED, lowest=-1.0, highest=1.2,
        caption=caption.replace("Colours end at -1 and 1; the numbers are in the CSV beside this file.",
                                "Below -1 stands an arrow at the edge."),
    )  # fmt: skip
    return Drawn(toolkit.slug(NAME, *names), TITLE, caption, part, plot, paint=functools.partial(_paint, part, column))


def _paint(part: pd.DataFrame, column: str) -> Figure:
    mpis, variants = in_order(part["mpi"], MPI_ORDER), in_order(part["variant"], MAPPED)
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


ALONG = ("size_bytes", "comp_over_comm", "comp_s")  # what curves run along, the first of them that has two values
BOTH = ("overlap_efficiency", "compute_inflation")
TITLES = {"size_bytes": "message size", "comp_over_comm": "computation / communication", "comp_s": "computation (s)"}


@dataclass(frozen=True)
class Sweep:
    """The figures of one study: one a variant, system and point of what was not swept."""

    study: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = evidence.metrics
        if not len(frame):
            return []
        frame = frame[(frame["study"] == self.study) & frame["metric"].isin(BOTH)]
        swept = _swept(frame, evidence.records.parameters)
        if not swept or len(swept) > 2:
            return []
        limits = frame[(frame["variant"] == LIMIT) & frame["value"].notna()]
        frame = frame[frame[list(swept)].notna().all(axis=1) & (frame["variant"] != REFERENCE)]
        drawn: list[Drawn] = []
        for (variant, system), part in frames.groups(frame, ["variant", "system"]):
            name = (self.study, variant, system if frame["system"].nunique() > 1 else None)
            along = next((axis for axis in ALONG if axis in part and part[axis].nunique() > 1), swept[0])
            one = len(swept) == 1
            mine = part if one else part[part["metric"] == BOTH[0]]  # over two settings only one value can be shown
            for where, rows in _points(mine, {along, *swept} if one else swept, evidence.records.parameters):
                if rows["value"].notna().any():
                    limit, named = _limit_of(rows, limits, swept), (*name, where)
                    drawn.append(
                        _drawn_curves(rows, limit, along, swept[0], named, provenance)
                        if one
                        else _drawn_cells(rows, _limit_words(limit), swept, named, provenance)
                    )
        return drawn


def _swept(frame: pd.DataFrame, parameters: Sequence[str]) -> list[str]:
    """The parameters with several values that bare has not: no engine takes them there."""
    measured = frame[frame["value"].notna()]
    bare, others = measured[measured["variant"] == REFERENCE], measured[measured["variant"] != REFERENCE]
    return [
        name for name in parameters if name in frame and not bare[name].notna().any() and others[name].nunique() > 1
    ]


def _points(
    part: pd.DataFrame, besides: Collection[str], parameters: Sequence[str]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """The parts that differ in nothing but `besides`, each with its other parameters in words; a session of its own
    where an MPI has several."""
    follows = CALIBRATED if {"comp_over_comm", "comp_s"} & set(part) else set()  # from the ratio, or the time
    told = {*besides, *follows}
    rest = [name for name in parameters if name in part and name not in told and part[name].nunique() > 1]
    if (part.groupby("mpi")["session"].nunique() > 1).any():
        rest.append("session")
    for values, rows in frames.groups(part, rest) if rest else [((), part)]:
        yield ", ".join(f"{name} {plain_words(value, name)}" for name, value in zip(rest, values, strict=True)), rows


def _limit_of(part: pd.DataFrame, limits: pd.DataFrame, swept: Sequence[str]) -> pd.DataFrame:
    """The rows of variant limit at the points of `part` but for the settings, which it has not."""
    there = {
        identity({name: value for name, value in json.loads(point).items() if name not in swept})
        for point in part["point"].unique()
    }
    same = limits["point"].isin(there)
    for name in ("session", "system", "mpi"):
        same &= limits[name].isin(part[name].unique())
    return limits[same]


def _limit_words(limits: pd.DataFrame) -> str:
    """What the limit reaches where each MPI has one point: nothing where it was not measured."""
    there = limits[limits["metric"] == BOTH[0]].drop_duplicates("mpi")
    said = [f"{mpi_title(str(row['mpi']))} {plain(row['value'])}" for row in frames.rows(there)]
    return f"Efficiency of the limit, the same without MPI: {', '.join(said)}. " if said else ""


def _drawn_curves(
    part: pd.DataFrame, limits: pd.DataFrame, along: str, swept: str, name: tuple[Any, ...], provenance: str
) -> Drawn:
    title = f"{name[1]} with {swept} swept"
    limit_words = _limit_words(limits) if along == swept else ""
    caption = (
        f"{title}, {', '.join(filter(None, map(str, name)))}. {limit_words}{toolkit.interval_words(part)} {provenance}"
    )
    points = pd.concat([part, limits]) if along != swept and len(limits) else part
    x = along
    if along == "comp_over_comm":
        x, points = "measured", points.assign(measured=measured_ratio(points))
    plot = Plot(
        x=x, place=along, x_label=TITLES.get(along, along), y_label="value",
        x_axis="bytes" if along == "size_bytes" else "log",
        series=swept if along != swept else "variant", row="metric", order=BOTH, words=_metric_words,
        look=lambda value, index: toolkit.curve(index, swept if along == swept else f"{swept} {value:g}"),
    )  # fmt: skip
    return Drawn(toolkit.slug("sweep", swept, *name), title, caption, points, plot)


def _drawn_cells(
    part: pd.DataFrame, limit_words: str, swept: Sequence[str], name: tuple[Any, ...], provenance: str
) -> Drawn:
    x, y = swept
    title = f"{name[1]} over {x} and {y}"
    caption = (
        f"{title}, {', '.join(filter(None, map(str, name)))}: {METRICS[BOTH[0]].formula}, medians; a cross is a "
        f"setting without a value. {limit_words}{provenance}"
    )
    plot = Plot(
        x=x, x_label=x, y_label="overlap efficiency", series=y, cells=1.0, say="{:.2f}".format,
        look=lambda value, index: toolkit.curve(index, f"{y} {value:g}"),
    )  # fmt: skip
    return Drawn(toolkit.slug("sweep", *swept, *name), title, caption, part, plot)
