# SPDX-License-Identifier: BSD-3-Clause
"""What every figure is made with: panels, series with bands, gaps with marks, legends, captions, files.

A figure is called with the evidence and its provenance and returns what it drew (chapter.Figure); it never saves and
never uses pyplot's global state.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from analysis.figures import style
from analysis.figures.plot import Plot
from analysis.figures.style import VariantStyle
from analysis.metrics.limit import LIMIT
from analysis.records import nodes
from analysis.statistics.noise import DISTURBED
from analysis.words import bytes_text, in_order

Places = npt.NDArray[np.float64]  # where on the x axis
BAD_MARKS = {
    "failed": "failed",
    "timeout": "timed out",
    "skipped": "skipped",
    "missing": "not measured",
    "damaged": "damaged",
}


@dataclass
class Drawn:
    """A finished figure: `points` are exactly what is drawn, `caption` names formula, intervals and provenance."""

    name: str
    title: str
    caption: str
    figure: Figure
    points: pd.DataFrame
    plot: Plot
    found: str = ""  # what it shows, in a sentence with numbers
    chapter: str = ""  # under whose heading in the report it stands, see catalogue.draw_all
    simulated: bool = False  # some of it was predicted by a model


def save(drawn: Drawn, folder: Path) -> dict[str, Path]:
    """Writes NAME.png, NAME.svg, NAME.pdf, NAME.csv (the drawn points) into `folder`; returns them by suffix."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{drawn.name}.{suffix}" for suffix in ("png", "svg", "pdf", "csv")}
    with mpl.rc_context(style.RC):
        drawn.figure.draw_without_rendering()
        drawn.figure.set_layout_engine("none")  # laid out once: that is most of the time of a save
        drawn.figure.savefig(paths["png"], dpi=200, metadata={"Software": None})
        drawn.figure.savefig(paths["svg"], metadata={"Date": None, "Description": drawn.caption, "Creator": None})
        drawn.figure.savefig(paths["pdf"], metadata={"CreationDate": None, "Subject": drawn.caption, "Creator": None})
    drawn.points.to_csv(paths["csv"], index=False)
    return paths


def mark_simulated(drawn: Drawn) -> Drawn:
    """The figure with hatched panels and the word: nothing in it was measured."""
    for axes in drawn.figure.axes:
        axes.patch.set(hatch="///", edgecolor=style.HATCH, linewidth=0)
    drawn.figure.axes[0].annotate("simulated", (0.02, 0.02), xycoords="axes fraction", fontsize=8, style="italic",
                                  color=style.SIMULATED, zorder=9)  # fmt: skip
    return replace(drawn, title=f"{drawn.title} (simulated)", simulated=True)


def panels(
    rows: int, columns: int, height: float, share_y: Literal["row", "none"] = "row"
) -> tuple[Figure, npt.NDArray[Any]]:
    """A page-wide grid of axes, `height` inches a row; call inside `styled`."""
    figure = Figure(figsize=(style.PAGE_WIDTH, rows * height + 0.9), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex="col", sharey=share_y)
    return figure, axes


def styled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: draws with the project's settings and leaves matplotlib's as they were."""

    def inner(*args: Any, **kwargs: Any) -> Any:
        with mpl.rc_context(style.RC):
            return function(*args, **kwargs)

    inner.__doc__ = function.__doc__
    return inner


def series(axes: Axes, x: Places, part: pd.DataFrame, look: VariantStyle) -> None:
    """One curve over `x` with its interval as a band; not converged points are drawn hollow."""
    value = part["value"].to_numpy(float)
    if not np.isfinite(value).any():
        return
    axes.plot(x, value, **look.plot(), clip_on=True)
    low, high = part["low"].to_numpy(float), part["high"].to_numpy(float)
    axes.fill_between(x, low, high, color=look.color, alpha=0.18 if look.strong else 0.10, linewidth=0, zorder=1.5)
    loose = (part["converged"] == False).to_numpy() if "converged" in part else np.zeros(len(part), bool)  # noqa: E712
    if loose.any():
        axes.plot(np.asarray(x)[loose], value[loose], marker=look.marker, linestyle="none", markersize=5,
                  markerfacecolor="white", markeredgecolor=look.color, zorder=5)  # fmt: skip


def limit_line(axes: Axes, x: Places, part: pd.DataFrame) -> None:
    """What a program without MPI reaches: a line to compare with, no curve of a variant."""
    axes.plot(x, part["value"].to_numpy(float), **style.LIMIT)


def measured_limit(part: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The limit's line for a legend, where it was measured."""
    there = part.loc[part["variant"] == LIMIT, "value"].notna().any()
    return {style.LIMIT_LABEL: style.LIMIT} if there else {}


def dots(axes: Axes, x: Places, part: pd.DataFrame, look: VariantStyle) -> None:
    """Marks with their intervals as bars, where the places on the x axis are no numbers that a line could join."""
    value = part["value"].to_numpy(float)
    axes.vlines(x, part["low"].to_numpy(float), part["high"].to_numpy(float), color=look.color, alpha=0.55,
                linewidth=1.6, zorder=3)  # fmt: skip
    axes.plot(x, value, **(look.plot() | {"linestyle": "none"}))


def gaps(axes: Axes, x: Places, part: pd.DataFrame, look: VariantStyle, level: int = 0) -> bool:
    """A cross at the foot of the panel for every point without a value that was not measured well; True if any.

    `level` stacks the crosses of several curves above one another.
    """
    bad = part["value"].isna().to_numpy() & part["status"].isin(BAD_MARKS).to_numpy()
    if not bad.any():
        return False
    y = np.full(int(bad.sum()), 0.03 + 0.06 * level)
    axes.plot(np.asarray(x)[bad], y, marker="x", linestyle="none", markersize=5, markeredgewidth=1.4,
              color=look.color, transform=axes.get_xaxis_transform(), zorder=6)  # fmt: skip
    return True


def one_a_place(part: pd.DataFrame, place: str) -> pd.DataFrame:
    """The first row of each place that a curve can show, one with a value before one without; the rest is said by
    hidden_words."""
    first = part.assign(_lacks=part["value"].isna()).sort_values("_lacks", kind="stable").drop_duplicates(place)
    return part[part.index.isin(first.index)]


def hidden_words(part: pd.DataFrame, by: Sequence[str]) -> str:
    """How many points are not drawn because another of the same place is: nothing where every one is."""
    hidden = int(part.duplicated(list(by)).sum())
    return f"{hidden} points of other sessions or settings are in the table alone. " if hidden else ""


def _marks(formatter: Callable[[float], str]) -> FuncFormatter:
    return FuncFormatter(lambda value, _: formatter(value))


def byte_axis(axes: Axes) -> None:
    """Sizes in powers of two, said as 64 KB, 4 MB."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(_marks(bytes_text))
    axes.xaxis.set_minor_locator(NullLocator())


def ratio_axis(axes: Axes) -> None:
    """A ratio on a base-2 x axis, ticks at powers of two as plain numbers."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=7))
    axes.xaxis.set_major_formatter(_marks("{:g}".format))
    axes.xaxis.set_minor_locator(NullLocator())


def log_y(axes: Axes, formatter: Callable[[float], str] = "{:g}".format, subs: Sequence[float] = (1, 2, 5)) -> None:
    """A logarithmic y axis whose labels are plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=subs))
    axes.yaxis.set_major_formatter(_marks(formatter))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())


def legend(figure: Figure, part: pd.DataFrame, lines: dict[str, dict[str, Any]], crossed: bool) -> None:
    """The legend above the panels: strong variants and reference lines first, then the muted ones."""
    lines = lines | measured_limit(part)
    variants = part.loc[part["variant"] != LIMIT, "variant"]
    ordered = sorted(in_order(variants, style.STYLES), key=lambda variant: not style.style(variant).strong)
    legend_of(figure, [style.style(variant) for variant in ordered], lines, crossed)


def legend_of(figure: Figure, looks: list[VariantStyle], lines: dict[str, dict[str, Any]], crossed: bool) -> None:
    """The same of curves that are no variants."""
    handles = [Line2D([], [], **look.plot(), label=look.label) for look in looks]
    handles += [Line2D([], [], **look, label=label) for label, look in lines.items()]
    if crossed:
        handles.append(
            Line2D(
                [], [], marker="x", linestyle="none", color="#444444", label="no value: failed, skipped, not measured"
            )
        )
    figure.legend(handles=handles, loc="outside upper left", ncols=3, columnspacing=1.4, handlelength=2.8)


def footer(figure: Figure, text: str) -> None:
    """Formula and provenance under the panels, so that the picture alone can be judged. A `$` in them is the user's."""
    below = textwrap.fill(text, 150)
    figure.supxlabel(below, fontsize=5.8, color="#555555", x=0.01, ha="left", parse_math=False)


def provenance(records: Any) -> str:
    """Where the data came from, in a sentence: sessions, machine, network. Predictions of one model are many sessions,
    a number of ranks each, and share these words."""
    alike: dict[tuple[str, str], list[str]] = {}
    for session in records.sessions:
        name, simulated = str(session["session"]), records.simulated(session["session"])
        said = ["predicted by a model, not measured"] if simulated else []
        known = said + [str(x) for x in (*nodes.values(session, "cpu_model"), session.get("network")) if x]
        words = f" ({'; '.join(known)})" if known else ""
        alike.setdefault((words, "" if simulated else name), []).append(name)
    parts = [f"session{'s' if len(names) > 1 else ''} {', '.join(names)}{words}" for (words, _), names in alike.items()]
    return "Data: " + ", ".join(parts) + "."


def interval_words(frame: pd.DataFrame) -> str:
    """What the bands are, from the points that are drawn."""
    kinds = frame.loc[frame["value"].notna(), "interval"].unique()
    return "Bands: " + "; ".join(sorted(map(str, kinds))) + "." if len(kinds) else ""


def doubt_words(frame: pd.DataFrame) -> str:
    """How many of the drawn values show nothing yet, behind a sentence that names some of them; empty where all do."""
    valued = frame[frame["value"].notna()]
    few = int(valued["defensible"].eq(False).sum()) if "defensible" in valued else 0
    stolen = int((valued["disturbance"].astype(float) > DISTURBED).sum()) if "disturbance" in valued else 0
    said = [f"{few} have no 95 % interval"] if few else []
    said += [f"{stolen} were disturbed"] if stolen else []
    return f" Of {len(valued)} values {' and '.join(said)}." if said else ""


def work_words(frame: pd.DataFrame) -> str:
    """A warning where MPIs did different work at the same point, so that their times cannot be compared."""
    if "work_units" not in frame or not frame["work_units"].notna().any():
        return ""
    done = frame.groupby(["session", "system", "point"])["work_units"].nunique()
    if not (done > 1).any():
        return ""
    return "The MPIs did different work (each its own calibration): times compare within one MPI, not between them. "


def slug(*parts: Any) -> str:
    """A file name of lower-case words."""
    text = "-".join(str(part) for part in parts if part not in (None, ""))
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text.lower().replace(" ", ""))
