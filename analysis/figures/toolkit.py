# SPDX-License-Identifier: BSD-3-Clause
"""What every figure has: points, their description, a caption, files; and the words of captions that several share.

A figure is called with the evidence and its provenance and returns what there is to draw (chapter.Figure). It is drawn
when somebody looks at it. Its Plot says which column of the points stands where: matplotlib draws what papers print by
it, and the report the same points again, in the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.figures import style
from analysis.figures.style import VariantStyle
from analysis.records import nodes
from analysis.statistics.bootstrap import DISTURBED
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title, seconds_text

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
    return style.style(str(value))


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
    place: str = ""  # the column that tells places apart where x was measured; else x itself
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


if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Drawn:
    """A figure: `points` are exactly what is drawn, `caption` names formula, intervals and provenance."""

    name: str
    title: str
    caption: str
    points: pd.DataFrame
    plot: Plot
    found: str = ""  # what it shows, in a sentence with numbers
    chapter: str = ""  # under whose heading in the report it stands, see catalogue.draw_all
    simulated: bool = False  # some of it was predicted by a model
    paint: Callable[[], Figure] | None = None  # draws for paper what no `plot` can describe

    @cached_property
    def figure(self) -> Figure:
        """As papers print it."""
        from analysis.figures import render  # noqa: PLC0415 - matplotlib, which only those need who look

        if self.paint:
            return render.finished(self.paint, self.caption, self.simulated)
        return render.draw(self.points, self.plot, self.caption, self.simulated)


def save(drawn: Drawn, folder: Path) -> dict[str, Path]:
    """Writes NAME.png, NAME.svg, NAME.pdf, NAME.csv (the drawn points) into `folder`; returns them by suffix."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, which only those wait who look

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
