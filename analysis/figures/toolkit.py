# SPDX-License-Identifier: BSD-3-Clause
"""What every figure has: points, their description, a caption, files; and how things look, in one place.

A figure is called with the evidence and its provenance and returns what there is to draw (subject.Figure). It is drawn
when somebody looks at it. A Plot says which column of its points stands where: matplotlib draws what papers print by
it, and the report the same points again, in the page.

Variants keep colour, marker and line in every figure. Colours are Okabe and Ito's, which colour-blind readers can tell
apart; marker and line say the same again, so a black and white print works too. Three variants carry the message (the
MPI as it is, its own thread, the engine's answer) and are drawn strong; the others stay in the background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.records import frames
from analysis.records.frames import DISTURBED
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title, seconds_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PAGE_WIDTH = 7.0  # inches: the text width of an A4 page


@dataclass(frozen=True)
class VariantStyle:
    """Colour, marker, line of a variant; `strong` ones are in the foreground."""

    color: str
    marker: str
    line: Any
    label: str
    strong: bool = False
    front: float = 0.0  # among the strong ones: a thinner line in front leaves the one behind visible

    def plot(self) -> dict[str, Any]:
        """Keyword arguments of Axes.plot."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.line,
            "linewidth": 2.2 - self.front if self.strong else 0.8,
            "markersize": 5.5 - 2 * self.front if self.strong else 3.2,
            "markerfacecolor": self.color if self.strong else "white",
            "markeredgewidth": 0.8,
            "zorder": 4 + self.front if self.strong else 2,
        }


STYLES = {
    "bare": VariantStyle("#000000", "o", "-", "bare (the MPI as it is)", True, 1.0),
    "mpi-async": VariantStyle("#D55E00", "s", (0, (5, 1.5)), "mpi-async (the MPI's own thread)", True, 0.5),
    "adaptive": VariantStyle("#0072B2", "D", "-", "adaptive (the engine)", True),
    "bare-multiple": VariantStyle("#8c8c8c", "o", (0, (1, 1)), "bare-multiple"),
    "off": VariantStyle("#8c8c8c", "x", (0, (4, 2)), "off (engine loaded, inert)"),
    "explicit": VariantStyle("#7a9e8e", "v", "-", "explicit"),
    "thread": VariantStyle("#c08a5a", "^", "-.", "thread"),
    "timer": VariantStyle("#b08fb5", "<", (0, (2, 1)), "timer"),
    "idle": VariantStyle("#6fa8c9", ">", "--", "idle"),
    "mwait": VariantStyle("#b5a642", "P", "-", "mwait"),
    "offload": VariantStyle("#a06060", "*", "-", "offload"),
}
SPARE = [("#8fae5d", "h"), ("#9a8fc0", "p"), ("#c7777f", "H"), ("#6d8f8f", "X")]

IDEAL: dict[str, Any] = {"color": "#009E73", "linestyle": (0, (6, 2)), "linewidth": 1.0, "zorder": 1}
SERIAL: dict[str, Any] = {"color": "#999999", "linestyle": (0, (1, 1.5)), "linewidth": 1.2, "zorder": 1}
LIMIT: dict[str, Any] = {"color": "#AA3377", "linestyle": (0, (3, 1, 1, 1)), "linewidth": 1.2, "marker": "_",
                         "markersize": 9, "zorder": 5.5}  # fmt: skip
UPRIGHT: dict[str, Any] = {"color": "#D55E00", "linestyle": (0, (4, 2)), "linewidth": 1.2}
LIMIT_LABEL = "limit: the same without MPI"
HATCH, SIMULATED = "#e0e0e0", "#AA3377"  # of what a model predicted
SIZE_MARKERS = ["o", "s", "D", "^", "v", "P"]

RC: dict[str, Any] = {
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "overlap-bench",
    "svg.fonttype": "path",
    "figure.dpi": 150,
}


def style(variant: str) -> VariantStyle:
    """The style of a variant; one that is not in the table gets a spare one, always the same for the same name."""
    if variant in STYLES:
        return STYLES[variant]
    color, marker = SPARE[sum(map(ord, variant)) % len(SPARE)]
    return VariantStyle(color, marker, "-", variant)


CURVES = [("#0072B2", "D"), ("#D55E00", "s"), ("#000000", "o"), ("#009E73", "^"), ("#CC79A7", "v"), ("#E69F00", "P"),
          ("#56B4E9", "<"), ("#8c8c8c", ">"), ("#b5a642", "h"), ("#a06060", "X")]  # fmt: skip


def curve(index: int, label: str) -> VariantStyle:
    """The style of the index-th curve of a figure whose curves are no variants."""
    color, marker = CURVES[index % len(CURVES)]
    return VariantStyle(color, marker, "-" if index < len(CURVES) else "--", label)


Array = npt.NDArray[np.float64]


def plain_words(value: Any, parameter: str) -> str:
    """A value of a column for people."""
    if parameter == "mpi":
        return mpi_title(str(value))
    if parameter == "size_bytes":
        return bytes_text(float(value))
    if parameter == "comp_s":
        return seconds_text(float(value))
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")


def variant_look(value: Any, _index: int) -> VariantStyle:
    """A curve a variant."""
    return style(str(value))


@dataclass(frozen=True)
class Plot:
    """`value` over `x`: a curve a value of `series`, a column of panels a value of `column`, a row a value of `row`.

    `x_axis`: "number", "log", "bytes" or "words" (categories, one below the other). `lines`: label -> where a line of
    one value stands; `guides`: label -> the curve that it is; `references`: label -> the column that it is of bare's
    points, of categories of each; `upright`: label -> places on x. `say_x`: a place on x, where not as usual. `lowest`
    and `highest`: what lies beyond is drawn at the edge, with what `beyond` says of it. `cells`: on paper a map, a cell
    each value of x and series, whose colours end at this value. `order`: of the values of series, row and x.
    """

    x: str
    x_label: str
    y_label: str
    x_axis: str = "log"
    log_y: bool = False
    series: str = "variant"
    column: str = "mpi"
    row: str = ""
    say: Callable[[float], str] = "{:.3g}".format
    words: Callable[[Any, str], str] = plain_words
    look: Callable[[Any, int], VariantStyle] = variant_look
    lines: Mapping[str, float] = field(default_factory=dict)
    guides: Mapping[str, Callable[[Array], Array]] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    upright: Mapping[str, Sequence[float]] = field(default_factory=dict)
    order: tuple[Any, ...] = ()
    hollow: Callable[[Mapping[str, Any]], bool] = lambda point: point.get("converged") is False  # whose mark is hollow
    caption: str = ""  # in place of the figure's own, where what it says is not so here
    joined: bool = True  # whether a line joins the points of a curve
    lowest: float | None = None
    highest: float | None = None
    beyond: Callable[[Mapping[str, Any]], str] = lambda point: f"{point['value']:.3g}".replace("-", "−")
    cells: float | None = None
    place: str = ""  # the column that tells marks of a curve apart, where several have one x; else x itself
    say_x: Callable[[float], str] | None = None

    @property
    def x_words(self) -> Callable[[float], str]:
        """How a place on a numeric x is said."""
        return self.say_x or (bytes_text if self.x_axis == "bytes" else "{:g}".format)

    @property
    def flat(self) -> bool:
        """Whether categories stand one below the other, and values run to the right."""
        return self.x_axis == "words"

    def values(self, points: pd.DataFrame, name: str) -> list[Any]:
        """The values of a column in the order in which they are drawn."""
        found = sorted(points[name].dropna().unique(), key=lambda value: (str(type(value)), value))
        return in_order(found, MPI_ORDER if name == "mpi" else self.order)


@dataclass
class Drawn:
    """A figure: `points` are exactly what is drawn, `caption` names formula, intervals and provenance."""

    name: str
    title: str
    caption: str
    points: pd.DataFrame
    plot: Plot
    found: str = ""  # what it shows, in a sentence with numbers
    subject: str = ""  # under whose heading in the report it stands, see subject.draw_all
    simulated: bool = False  # some of it was predicted by a model
    paint: Callable[[], Figure] | None = None  # draws for paper what no `plot` can describe


def mark_simulated(drawn: Drawn) -> Drawn:
    """The figure as one of which nothing was measured."""
    return replace(drawn, title=f"{drawn.title} (simulated)", simulated=True)


def hidden_words(part: pd.DataFrame, by: Sequence[str]) -> str:
    """How many points are not drawn because another of the same place is: nothing where every one is."""
    hidden = int(part.duplicated(list(by)).sum())
    return f"{hidden} points of other sessions or settings are in the table alone. " if hidden else ""


def provenance(records: Any) -> str:
    """Where the data came from, in a sentence: sessions, machine, network. Predictions of one model are many sessions,
    a number of ranks each, and share these words."""
    alike: dict[tuple[str, str], list[str]] = {}
    for session in records.sessions:
        name, simulated = str(session["session"]), records.simulated(session["session"])
        said = ["predicted by a model, not measured"] if simulated else []
        known = said + [str(x) for x in (*frames.machine_values(session, "cpu_model"), session.get("network")) if x]
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
