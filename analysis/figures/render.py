# SPDX-License-Identifier: BSD-3-Clause
"""A figure as papers print it, by matplotlib; the page has the same description and points (analysis.report.chart).

A column of panels an MPI, a row a value of the figure's row; of one column alone the rows stand side by side.
Categories stand one below the other, values to the right. Nothing here uses pyplot's global state.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from analysis.figures import toolkit
from analysis.figures.toolkit import Drawn, Plot, VariantStyle
from analysis.metrics.times import LIMIT
from analysis.records import frames
from analysis.words import mpi_title

Array = npt.NDArray[np.float64]
BAD_MARKS = ("failed", "timeout", "skipped", "missing", "damaged")
GUIDES = (toolkit.IDEAL, toolkit.SERIAL)
SIDE_BY_SIDE = 3  # panels of a figure that has one column
LONG = 6  # characters of a place that was asked for
MANY = 8  # places beyond which an axis is marked at round numbers
WIDE = 3.5  # of a logarithmic axis: decades alone are marked
NO_VALUE = "no value: failed, skipped, not measured"
# Orange below serial, white at serial, blue at perfect: told apart by every eye, and dark against light in print.
COLORS = LinearSegmentedColormap.from_list("overlap", ["#D55E00", "#f9e3d3", "#ffffff", "#9ecae1", "#08519c"])


def figure_of(drawn: Drawn) -> Figure:
    """What is drawn, in the project's look, with the caption below so that the picture alone can be judged; where a
    model predicted some of it hatched, with the word: nothing in it was measured."""
    with mpl.rc_context(toolkit.RC):
        figure = drawn.paint() if drawn.paint else _Painter(drawn.points.reset_index(drop=True), drawn.plot).figure()
        if drawn.simulated:
            for axes in figure.axes:
                axes.patch.set(hatch="///", edgecolor=toolkit.HATCH, linewidth=0)
            figure.axes[0].annotate("simulated", (0.02, 0.02), xycoords="axes fraction", fontsize=8, style="italic",
                                    color=toolkit.SIMULATED, zorder=9)  # fmt: skip
        for said in figure.findobj(Text):
            said.set_parse_math(False)  # a `$` is the user's
        below = textwrap.fill(drawn.caption, 150)
        figure.supxlabel(below, fontsize=5.8, color="#555555", x=0.01, ha="left", parse_math=False)
    return figure


def save(drawn: Drawn, folder: Path) -> dict[str, Path]:
    """Writes NAME.png, NAME.svg, NAME.pdf, NAME.csv (the drawn points) into `folder`; returns them by suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{drawn.name}.{suffix}" for suffix in ("png", "svg", "pdf", "csv")}
    figure = figure_of(drawn)
    with mpl.rc_context(toolkit.RC):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once: that is most of the time of a save
        figure.savefig(paths["png"], dpi=200, metadata={"Software": None})
        figure.savefig(paths["svg"], metadata={"Date": None, "Description": drawn.caption, "Creator": None})
        figure.savefig(paths["pdf"], metadata={"CreationDate": None, "Subject": drawn.caption, "Creator": None})
    drawn.points.to_csv(paths["csv"], index=False)
    return paths


def panels(heights: Sequence[float], columns: int, **shared: Any) -> tuple[Figure, npt.NDArray[Any]]:
    """A page-wide grid of axes, a row of each height in inches."""
    figure = Figure(figsize=(toolkit.PAGE_WIDTH, sum(heights) + 0.9), layout="constrained")
    axes = figure.subplots(len(heights), columns, squeeze=False, gridspec_kw={"height_ratios": list(heights)}, **shared)
    return figure, axes


def legend(figure: Figure, looks: Sequence[VariantStyle], lines: Mapping[str, dict[str, Any]], crossed: bool) -> None:
    """The legend above the panels: strong curves first, then lines that no measurement is; none without a label."""
    ordered = sorted((look for look in looks if look.label), key=lambda look: not look.strong)
    handles = [Line2D([], [], **look.plot(), label=look.label) for look in ordered]
    handles += [Line2D([], [], **look, label=label) for label, look in lines.items()]
    if crossed:
        handles.append(Line2D([], [], marker="x", linestyle="none", color="#444444", label=NO_VALUE))
    if handles:
        figure.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=1.4, handlelength=2.8)


@dataclass(frozen=True)
class _Painter:
    points: pd.DataFrame
    plot: Plot

    def figure(self) -> Figure:
        plot, points = self.plot, self.points
        rows = plot.values(points, plot.row) if plot.row else [None]
        columns = plot.values(points, plot.column) if plot.column else [None]
        there = set(points[plot.series].dropna())
        curves = {value: plot.look(value, index) for index, value in enumerate(plot.values(points, plot.series))}
        if plot.series == "variant" and not plot.flat:
            curves.pop(LIMIT, None)  # a line to compare with, no curve of a variant
        places = {row: plot.values(self._part(row, None), plot.x) if plot.flat else [] for row in rows}
        aside = len(columns) == 1 and len(rows) > 1 and not plot.flat
        figure, grid = self._grid(rows, columns, places, len(there), aside)
        panel_of = {(row, column): grid.ravel()[index] if aside else grid[index, place]
                    for index, row in enumerate(rows) for place, column in enumerate(columns)}  # fmt: skip
        crossed = False
        for (row, column), axes in panel_of.items():
            part = self._part(row, column)
            named = [self._named(value, name) for value, name in ((row, plot.row), (column, plot.column)) if name]
            first, last = row == rows[0], row == rows[-1]
            axes.set_title(": ".join(named) if aside and row is not None else named[-1] if named and first else "")
            if not len(part):
                axes.set_axis_off()
                continue
            if plot.cells is not None:
                self._map(axes, part)
            else:
                crossed |= (self._flat if plot.flat else self._curves)(axes, part, curves, places[row])
                self._values(axes, self._part(row, None))
            if last or aside:
                axes.set_xlabel(plot.y_label if plot.flat else plot.x_label)
            if column == columns[0] and not (aside and axes not in grid[:, 0]):
                label = "" if plot.flat else plot.series if plot.cells is not None else plot.y_label
                words = "" if row is None or aside else plot.words(row, plot.row)
                axes.set_ylabel("\n".join(filter(None, [label, f"({words})" if words and label else words])))
        for axes in grid.ravel():
            if axes not in panel_of.values():
                axes.set_visible(False)
        if plot.cells is not None:
            self._bar(figure, list(grid.ravel()))
        else:
            legend(figure, list(curves.values()), self._lines(), crossed)
        return figure

    def _grid(
        self, rows: Sequence[Any], columns: Sequence[Any], places: Mapping[Any, Sequence[Any]], curves: int, aside: bool
    ) -> tuple[Figure, npt.NDArray[Any]]:
        if aside:
            across = min(SIDE_BY_SIDE, len(rows))
            return panels([2.0] * -(-len(rows) // across), across, sharex=not self.plot.cells)
        if self.plot.flat:
            heights = [max(0.5, 0.3 + len(places[row]) * (0.08 * curves + 0.12)) for row in rows]
            return panels(heights, len(columns), sharex="row", sharey="row")
        return panels([1.7 if len(rows) > 1 else 2.2] * len(rows), len(columns), sharex="col", sharey="row")

    def _part(self, row: Any, column: Any) -> pd.DataFrame:
        """The points of one panel, or of a row of them."""
        part = self.points
        for name, value in ((self.plot.row, row), (self.plot.column, column)):
            part = part if value is None else part[part[name] == value]
        return part

    def _lines(self) -> dict[str, dict[str, Any]]:
        """What is no measurement of a variant, for the legend."""
        plot, points = self.plot, self.points
        labels = (*plot.lines, *plot.references) if plot.flat else (*plot.guides, *plot.references, *plot.lines)
        found: dict[str, dict[str, Any]] = {label: GUIDES[index % 2] for index, label in enumerate(labels)}
        found |= dict.fromkeys(plot.upright, toolkit.UPRIGHT)
        limit = "variant" in points and points.loc[points["variant"] == LIMIT, "value"].notna().any()
        return found | ({toolkit.LIMIT_LABEL: toolkit.LIMIT} if limit and not plot.flat else {})

    def _curves(self, axes: Axes, part: pd.DataFrame, curves: Mapping[Any, VariantStyle], _: Sequence[Any]) -> bool:
        """Curves over a numeric axis; True if a cross was drawn, for what has no value."""
        plot, level = self.plot, 0
        self._guides(axes, part)
        if "variant" in part:
            limit = one_a_place(part[part["variant"] == LIMIT], plot.place or plot.x).sort_values(plot.x)
            axes.plot(limit[plot.x].to_numpy(float), limit["value"].to_numpy(float), **toolkit.LIMIT)
        for value, look in curves.items():
            mine = one_a_place(part[part[plot.series] == value], plot.place or plot.x).sort_values(plot.x)
            x = mine[plot.x].to_numpy(float)
            (_series if plot.joined else _dots)(axes, x, mine, look, plot)
            level += _crosses(axes, x, mine, look, level)
        self._x_axis(axes)
        return level > 0

    def _guides(self, axes: Axes, part: pd.DataFrame) -> None:
        """The curves, bare's own lines and the levels that values are held against."""
        plot = self.plot
        every = pd.to_numeric(self.points[plot.x]).dropna()
        low, high = every.min(), every.max()
        fine: Any = np.geomspace(low / 1.1, high * 1.1, 100) if plot.x_axis != "number" and low > 0 else np.linspace(
            max(0, low), max(high, 1.2) * 1.05, 100)  # fmt: skip
        for index, guide in enumerate(plot.guides.values()):
            axes.plot(fine, guide(fine), **GUIDES[index % 2])
        for index, column in enumerate(plot.references.values(), len(plot.guides)):
            bare = part[(part["variant"] == "bare") & part[column].notna()].sort_values(plot.x)
            axes.plot(bare[plot.x].to_numpy(float), bare[column].to_numpy(float), **GUIDES[index % 2])
        for index, height in enumerate(plot.lines.values(), len(plot.guides) + len(plot.references)):
            axes.axhline(height, **GUIDES[index % 2])
        for places in plot.upright.values():
            for place in places:
                axes.axvline(place, **toolkit.UPRIGHT)

    def _x_axis(self, axes: Axes) -> None:
        plot = self.plot
        places = sorted(pd.to_numeric(self.points[plot.x]).dropna().unique())
        if plot.x_axis == "bytes" or (plot.x_axis == "log" and places and places[0] > 0):
            axes.set_xscale("log", base=2)
        elif plot.x_axis == "log":
            axes.set_xscale("symlog", linthresh=min([place for place in places if place > 0], default=1.0))
        say = plot.x_words
        few = len(places) <= MANY and all(len(say(place)) <= LONG for place in places)  # meant, not measured
        if plot.x_axis != "bytes" and few:
            axes.set_xticks(places, list(map(say, places)))
        elif plot.x_axis == "number":
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: say(value)))
        else:
            axes.xaxis.set_major_locator(LogLocator(base=2, numticks=7))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: say(value)))
        if plot.x_axis != "number":
            axes.xaxis.set_minor_locator(NullLocator())

    def _values(self, axes: Axes, row: pd.DataFrame) -> None:
        """The axis of the values, alike in a row: logarithmic where it is to be and all of them are positive."""
        plot = self.plot
        known = row[row["value"].notna()]
        axis, limits = (axes.xaxis, axes.set_xlim) if plot.flat else (axes.yaxis, axes.set_ylim)
        spread = [known[name].to_numpy(float) for name in ("value", "low", "high", *plot.references.values())
                  if name in known]  # fmt: skip
        places = pd.to_numeric(known[plot.x]).to_numpy(float) if plot.guides else np.empty(0)
        every = np.concatenate([*spread, *(guide(places[places > 0]) for guide in plot.guides.values()),
                                [*plot.lines.values()]])  # fmt: skip
        every = np.clip(every[np.isfinite(every)], plot.lowest, plot.highest)
        log = plot.log_y and len(known) > 0 and bool(known["value"].gt(0).all())
        every = np.log(every[every > 0]) if log else every
        if len(every):
            room = 0.06 * (every.max() - every.min()) or (0.4 if log else 0.06 * abs(every.max()) or 1.0)
            ends = np.array([every.min() - room, every.max() + room])
            if log:
                (axes.set_xscale if plot.flat else axes.set_yscale)("log")
                axis.set_major_locator(LogLocator(base=10, subs=(1,) if np.ptp(ends) > WIDE else (1, 2, 5)))
                axis.set_minor_formatter(NullFormatter())
                axis.set_minor_locator(NullLocator())
            limits(*(np.exp(ends) if log else ends))
        axis.set_major_formatter(FuncFormatter(lambda value, _: plot.say(value).replace("-", "−")))

    def _named(self, value: Any, name: str) -> str:
        return mpi_title(str(value)) if name == "mpi" else self.plot.words(value, name)

    def _flat(self, axes: Axes, part: pd.DataFrame, curves: Mapping[Any, VariantStyle], places: Sequence[Any]) -> bool:
        """Categories one below the other, a mark a curve in each; True if a cross was drawn."""
        plot, crossed = self.plot, False
        for index, value in enumerate(plot.lines.values()):
            axes.axvline(value, **GUIDES[index % 2])
        for index, column in enumerate(plot.references.values(), len(plot.lines)):
            for place, value in zip(part[plot.x], part[column], strict=True):
                y = places.index(place)
                axes.plot([value, value], [y - 0.35, y + 0.35], **GUIDES[index % 2])
        present = [value for value in curves if value in set(self.points[plot.series])]
        for index, value in enumerate(present):
            mine = one_a_place(part[part[plot.series] == value], plot.place or plot.x)
            look, shift = curves[value], 0.7 * ((index + 0.5) / len(present) - 0.5)
            for point in frames.rows(mine):
                crossed |= self._mark(axes, point, places.index(point[plot.x]) + shift, look)
        names = [plot.words(place, plot.x).replace("\n", " ") for place in places]
        for tick, place in zip(axes.set_yticks(range(len(places)), names), places, strict=False):
            if plot.x == "variant" and toolkit.style(str(place)).strong:
                tick.label1.set_fontweight("bold")
        axes.set_ylim(len(places) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        return crossed

    def _mark(self, axes: Axes, point: dict[str, Any], y: float, look: VariantStyle) -> bool:
        """A value with its interval, or an arrow at the edge where it lies beyond; True for the cross of no value."""
        plot, value = self.plot, float(point["value"])
        low, high, edge = plot.lowest, plot.highest, axes.get_yaxis_transform()
        if not np.isfinite(value):
            axes.plot([0.02], [y], marker="x", color=look.color, transform=edge, markersize=4.5, zorder=6)
            return True
        if (low is not None and value < low) or (high is not None and value > high):
            left = low is not None and value < low
            words = f"◀ {plot.beyond(point)}" if left else f"{plot.beyond(point)} ▶"
            axes.annotate(words, (0.01 if left else 0.99, y), xycoords=edge, fontsize=6, color=look.color, va="center",
                          ha="left" if left else "right")  # fmt: skip
            return False
        ends = [point.get("low", value), point.get("high", value)]
        axes.plot(ends, [y, y], color=look.color, linewidth=1.6, alpha=0.55, solid_capstyle="butt", zorder=3)
        face = "white" if plot.hollow(point) else look.color
        axes.plot([value], [y], **(look.plot() | {"linestyle": "none", "markersize": 4.2, "markerfacecolor": face}))
        return False

    def _map(self, axes: Axes, part: pd.DataFrame) -> None:
        """A cell each value of x and series, with its number; a cross where there is none."""
        plot, end = self.plot, self.plot.cells or 1.0
        table = part.pivot_table(index=plot.series, columns=plot.x, values="value", aggfunc="median", dropna=False)
        table = table.reindex(plot.values(self.points, plot.series))
        values = table.to_numpy(float)
        axes.imshow(values, aspect="auto", cmap=COLORS, norm=Normalize(-end, end))
        for (row, column), value in np.ndenumerate(values):
            words = plot.say(value) if np.isfinite(value) else "×"
            axes.annotate(words, (column, row), ha="center", va="center", fontsize=6,
                          color="white" if value > 0.7 * end else "black")  # fmt: skip
        axes.set_xticks(range(len(table.columns)), [f"{place:g}" for place in table.columns])
        axes.set_yticks(range(len(table.index)), [plot.words(value, plot.series) for value in table.index])
        axes.set_xlabel(plot.x_label)
        axes.grid(visible=False)

    def _bar(self, figure: Figure, axes: list[Axes]) -> None:
        end = self.plot.cells or 1.0
        bar = figure.colorbar(ScalarMappable(Normalize(-end, end), COLORS), ax=axes, shrink=0.7, extend="both")
        bar.set_ticks([-end, 0, end], labels=[self.plot.say(value) for value in (-end, 0, end)])
        bar.set_label(self.plot.y_label)


def one_a_place(part: pd.DataFrame, place: str) -> pd.DataFrame:
    """The first row of each place that a curve can show, one with a value before one without; the rest is said by
    toolkit.hidden_words."""
    first = part.assign(_lacks=part["value"].isna()).sort_values("_lacks", kind="stable").drop_duplicates(place)
    return part[part.index.isin(first.index)]


def _series(axes: Axes, x: Array, part: pd.DataFrame, look: VariantStyle, plot: Plot) -> None:
    """One curve over `x` with its interval as a band, hollow where it is to be."""
    value = part["value"].to_numpy(float)
    if not np.isfinite(value).any():
        return
    axes.plot(x, value, **look.plot(), clip_on=True)
    if "low" in part:
        low, high = part["low"].to_numpy(float), part["high"].to_numpy(float)
        axes.fill_between(x, low, high, color=look.color, alpha=0.18 if look.strong else 0.10, linewidth=0, zorder=1.5)
    loose = np.array([plot.hollow(point) for point in frames.rows(part)], bool)
    axes.plot(x[loose], value[loose], marker=look.marker, linestyle="none", markersize=5, markerfacecolor="white",
              markeredgecolor=look.color, zorder=5)  # fmt: skip


def _dots(axes: Axes, x: Array, part: pd.DataFrame, look: VariantStyle, _: Plot) -> None:
    """Marks with their intervals as bars, where no line joins the points."""
    if "low" in part:
        axes.vlines(x, part["low"].to_numpy(float), part["high"].to_numpy(float), color=look.color, alpha=0.55,
                    linewidth=1.6, zorder=3)  # fmt: skip
    axes.plot(x, part["value"].to_numpy(float), **(look.plot() | {"linestyle": "none"}))


def _crosses(axes: Axes, x: Array, part: pd.DataFrame, look: VariantStyle, level: int) -> bool:
    """A cross at the foot of the panel for every point without a value that was not measured well; True if any. `level`
    stacks the crosses of several curves above one another."""
    bad = part["value"].isna().to_numpy() & part.get("status", part["value"]).isin(BAD_MARKS).to_numpy()
    if not bad.any():
        return False
    y = np.full(int(bad.sum()), 0.03 + 0.06 * level)
    axes.plot(x[bad], y, marker="x", linestyle="none", markersize=5, markeredgewidth=1.4, color=look.color,
              transform=axes.get_xaxis_transform(), zorder=6)  # fmt: skip
    return True
